//! `/profile/sessions`: where the user is signed in.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::PageResult;
use crate::{
    respond::{page, see},
    texts::fill,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/profile/sessions", get(show).post(end))
}

/// The most sessions on the page: the ones that were used last.
const MOST_SHOWN: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::pages) struct Session {
    pub id: String,
    created_at: String,
    last_used_at: String,
    expires_at: String,
    browser: Option<String>,
    address: Option<String>,
    current: bool,
}

impl Session {
    /// Where it began, in the reader's language.
    pub fn place(&self, visit: &Visit) -> String {
        place(visit, self.browser.as_deref(), self.current)
    }
}

/// Where a session began, in the reader's language.
pub(in crate::pages) fn place(visit: &Visit, browser: Option<&str>, is_current: bool) -> String {
    let words = &visit.t.profile;
    match browser.map(|name| (name, name.split_once(" on "))) {
        Some((_, Some((browser, system)))) => fill(words.browser_on, &[&browser, &system]),
        Some((name, None)) => name.to_owned(),
        None if is_current => words.this_session.to_owned(),
        None => words.other_session.to_owned(),
    }
}

#[derive(Template)]
#[template(path = "profile/sessions.html")]
struct SessionsPage<'a> {
    v: &'a Visit,
    sessions: Vec<Session>,
    total: usize,
}

async fn show(visit: Visitor) -> PageResult {
    visit.user()?;
    let mut sessions: Vec<Session> = visit.api.query("session.getAll", Value::Null).await?;
    // The times have one form, so the order of their texts is the order of the times.
    sessions.sort_by(|one, other| {
        let key = |session: &Session| (session.current, session.last_used_at.clone());
        key(other).cmp(&key(one))
    });
    let total = sessions.len();
    sessions.truncate(MOST_SHOWN);
    Ok(page(&SessionsPage {
        v: &visit,
        sessions,
        total,
    }))
}

async fn end(visit: Visitor, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let ended = match form.optional("id") {
        Some(id) => visit.api.change("session.delete", json!({ "id": id })).await,
        None => visit.api.change("session.deleteOthers", Value::Null).await,
    };
    match ended {
        // A missing session has already ended.
        Err(error) if error.status != StatusCode::NOT_FOUND => Err(error),
        _ => Ok(see("/profile/sessions?note=session-ended-here")),
    }
}
