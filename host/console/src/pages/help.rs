//! `/help`: what people do with the console, in short. Everyone may read it.

use askama::Template;
use axum::{Router, routing::get};

use super::PageResult;
use crate::{
    respond::page,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/help", get(show))
}

/// A question and its answer.
struct Topic {
    question: &'static str,
    answer: &'static str,
    /// Where it is done, for those who may do it.
    path: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage<'a> {
    v: &'a Visit,
    /// For everyone, and for administrators.
    parts: Vec<(&'static str, Vec<Topic>)>,
}

async fn show(visit: Visitor) -> PageResult {
    let t = &visit.t.help;
    let is_user = visit.user.is_some();
    let topic = |question, answer, path, may_open: bool| Topic {
        question,
        answer,
        path: Some(path).filter(|_| may_open),
    };
    let mut parts = vec![(
        t.everyone,
        vec![
            topic(t.home, t.home_text, "/", is_user),
            topic(t.search, t.search_text, "/", is_user),
            topic(t.boards, t.boards_text, "/manage/boards", visit.manages_boards()),
            topic(t.apps, t.apps_text, "/apps", visit.manages_apps()),
            topic(t.profile, t.profile_text, "/profile", is_user),
            topic(t.password, t.password_text, "/sign-in", !is_user),
            topic(
                t.second_factor,
                t.second_factor_text,
                "/profile/second-factor",
                visit.may_have_second_factor(),
            ),
            topic(t.missing, t.missing_text, "/", false),
            topic(t.keys, t.keys_text, "/profile/keys", is_user),
        ],
    )];
    if visit.is_admin() {
        parts.push((
            t.administrators,
            vec![
                topic(t.people, t.people_text, "/invites", true),
                topic(t.rights, t.rights_text, "/groups", true),
                topic(t.forgotten, t.forgotten_text, "/users", true),
                topic(t.audit, t.audit_text, "/audit", true),
                topic(t.state, t.state_text, "/state", true),
                topic(t.backup, t.backup_text, "/", false),
            ],
        ));
    }
    Ok(page(&HelpPage { v: &visit, parts }))
}
