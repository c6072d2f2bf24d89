//! What a link that was typed becomes, shown before it is saved. With JavaScript people see it while they type; otherwise
//! the form is shown again once.

use askama::Template;
use axum::{Router, routing::get};

use super::super::PageResult;
use crate::{
    edits::fingerprint,
    fields::WITH_ICON,
    form::{Form, Problems},
    links::Advice,
    respond::page,
    texts::fill,
    visit::{Query, Visit, Visitor},
};

/// The fields with links.
const LINKS: [&str; 2] = ["href", "pingUrl"];

pub(super) fn routes() -> Router {
    Router::new().route("/link-advice", get(show))
}

#[derive(Template)]
#[template(path = "apps/advice.html")]
struct AdvicePage {
    field: &'static str,
    /// A fingerprint of the link that is shown.
    shown: String,
    text: String,
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let field = LINKS.into_iter().find(|field| !query.text(field).is_empty());
    let field = field.unwrap_or(LINKS[0]);
    let typed = query.text(field);
    let advice = advice(field, typed);
    Ok(page(&AdvicePage {
        field,
        shown: advice
            .as_ref()
            .map_or_else(String::new, |advice| fingerprint(&saved(advice, typed))),
        text: advice.map_or_else(String::new, |advice| words(&visit, &advice)),
    }))
}

/// Completes the links of a form. What its sender has not seen yet is among the problems.
pub(super) fn complete(visit: &Visit, form: &mut Form) -> Problems {
    let mut problems = Problems::default();
    for field in LINKS {
        let Some(advice) = advice(field, form.text(field)) else {
            continue;
        };
        let link = saved(&advice, form.text(field));
        let print = fingerprint(&link);
        if form.text(&format!("{field}-shown")) != print {
            problems.add(field, words(visit, &advice));
        }
        form.set(field, link);
        form.set(&format!("{field}-shown"), print);
    }
    problems
}

/// What the form says of a link that is stored.
pub(super) fn of_stored(visit: &Visit, href: &str) -> String {
    let advice = Advice::of(href).filter(|advice| *advice == Advice::NotOpened);
    advice.map_or_else(String::new, |advice| words(visit, &advice))
}

/// The fingerprint of a stored link about which the form says something.
pub(super) fn shown(href: &str) -> String {
    advice("href", href).map_or_else(String::new, |advice| fingerprint(&saved(&advice, href)))
}

/// Tiles lead only to links.
fn advice(field: &str, text: &str) -> Option<Advice> {
    // A text that is too long is refused, and not shown again.
    let is_short = !WITH_ICON.are_exceeded(field, text);
    Advice::of(text)
        .filter(|_| is_short)
        .filter(|advice| field == "href" || *advice != Advice::NotOpened)
}

/// The link as it is saved.
fn saved(advice: &Advice, typed: &str) -> String {
    match advice {
        Advice::Completed(link) => link.clone(),
        Advice::NotOpened => typed.trim().to_owned(),
    }
}

fn words(visit: &Visit, advice: &Advice) -> String {
    let t = &visit.t.apps;
    match advice {
        Advice::Completed(link) => fill(t.link_completed, &[link]),
        Advice::NotOpened => t.link_not_opened.into(),
    }
}
