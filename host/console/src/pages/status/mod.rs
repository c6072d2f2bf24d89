//! Whether apps can be reached: the marks on tiles (`/status/tiles` renews them), and `/status`, which says it of all
//! apps, and to everyone who asks.

mod allowed;
mod words;

use std::collections::HashMap;

use askama::Template;
use axum::{Router, http::StatusCode, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use self::{allowed::AllowedHosts, words::Words};
use super::{
    PageResult,
    boards::StoredBoard,
    found_apps::{PAGE, apps},
    paging::Pages,
    segment,
    tiles::{App, in_parts},
};
use crate::{
    api::{Api, ApiError},
    texts::{self, Texts},
    visit::{Query, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/status", get(list).post(allowed::save))
        .route("/status/tiles", get(marks))
}

/// What the API says of an app.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AppStatus {
    id: String,
    status: String,
    milliseconds: Option<u32>,
    since: Option<String>,
    checked_at: Option<String>,
    reason: Option<String>,
}

#[derive(Template)]
#[template(path = "status/mark.html")]
struct Mark<'a> {
    id: &'a str,
    words: Words,
}

/// The mark of an app, as HTML.
fn mark(t: &Texts, status: &AppStatus) -> String {
    let id = &status.id;
    let words = Words::of(t, status);
    Mark { id, words }.render().unwrap_or_default()
}

/// The statuses of apps with these ids, or of all; none if they cannot be had: a page is worth more than its marks.
async fn statuses(api: &Api, ids: Option<Vec<&str>>) -> Vec<AppStatus> {
    let found: Result<_, ApiError> = match ids {
        Some(ids) => in_parts(api, "app.status", ids).await,
        None => api.query("app.status", Value::Null).await,
    };
    found.unwrap_or_default()
}

/// Gives apps their marks. Returns whether there are any.
pub(super) async fn add_marks<'a>(api: &Api, t: &Texts, apps: impl Iterator<Item = &'a mut App>) -> bool {
    let mut apps: Vec<_> = apps.filter(|app| app.ping_url.is_some()).collect();
    let ids = apps.iter().map(|app| app.id.clone()).collect::<Vec<_>>();
    if ids.is_empty() {
        return false;
    }
    let found = statuses(api, Some(ids.iter().map(String::as_str).collect())).await;
    let found: HashMap<_, _> = found.iter().map(|status| (&*status.id, status)).collect();
    for app in &mut apps {
        app.status = found
            .get(&*app.id)
            .map_or_else(String::new, |status| mark(t, status));
    }
    !found.is_empty()
}

/// Where the marks of these boards' apps are renewed.
pub(super) fn marks_of_boards<'a>(boards: impl Iterator<Item = &'a str>) -> String {
    let boards: Vec<_> = boards.map(|id| format!("board={}", segment(id))).collect();
    format!("/status/tiles?{}", boards.join("&"))
}

/// Where the marks of the apps are renewed that fit a text, on the page with this number.
pub(super) fn marks_of_apps(text: &str, number: u32) -> String {
    let text = utf8_percent_encode(text, NON_ALPHANUMERIC);
    format!("/status/tiles?q={text}&page={number}")
}

async fn marks(visit: Visitor, query: Query) -> PageResult {
    let boards: Vec<&str> = query.all("board").take(2).collect();
    let mut ids = Vec::new();
    for id in &boards {
        // One that is gone has no apps.
        if let Ok(board) = StoredBoard::read(&visit.api, id).await {
            ids.extend(board.app_ids().into_iter().map(str::to_owned));
        }
    }
    if boards.is_empty() {
        visit.user()?;
        let (found, _) = apps(&visit.api, query.text("q").trim(), query.page()).await?;
        let pinged = found.items.into_iter().filter(|app| app.ping_url.is_some());
        ids.extend(pinged.map(|app| app.id));
    }
    let found = statuses(&visit.api, Some(ids.iter().map(String::as_str).collect())).await;
    let t = visit.t;
    let write = move || Ok(found.iter().map(|status| mark(t, status)).collect());
    visit.long_page(StatusCode::OK, write).await
}

/// An app in the list.
struct Line {
    app: App,
    words: Words,
    /// When it was checked last.
    checked_at: String,
    /// What is wrong comes first.
    order: u8,
}

#[derive(Template)]
#[template(path = "status/list.html")]
struct ListPage {
    v: Visitor,
    lines: Vec<Line>,
    /// Which page of the list it is.
    number: u32,
    pages: Pages,
    /// For administrators.
    allowed: Option<AllowedHosts>,
}

impl ListPage {
    /// How all of them are, in a word and in a sentence: of the first kind that there is. `None` if they are not on one page.
    /// (A script renews the sentence, so it is there from the beginning.)
    fn summary(&self) -> Option<(&'static str, String)> {
        let t = &self.v.t.status;
        let kinds = [
            ("down", t.some_down),
            ("unknown", t.some_unknown),
            ("not-allowed", t.some_not_allowed),
            ("up", t.all_up),
        ];
        let count = |kind: &str| self.lines.iter().filter(|line| line.words.kind == kind).count();
        let mut counted = kinds.into_iter().map(|(kind, text)| (kind, text, count(kind)));
        let (kind, text, number) = counted.find(|(.., number)| *number > 0)?;
        (self.pages.last < 2).then(|| (kind, texts::count(text, number)))
    }
}

#[derive(Template)]
#[template(path = "status/about.html")]
struct AboutPage {
    v: Visitor,
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    if visit.user.is_none() {
        let shown = AboutPage { v: visit.clone() };
        return visit.long_page(StatusCode::OK, move || shown.render()).await;
    }
    let allowed = AllowedHosts::of(&visit);
    show(visit, query.page(), StatusCode::OK, allowed).await
}

/// The page of the list with this number.
async fn show(visit: Visitor, number: u32, code: StatusCode, allowed: Option<AllowedHosts>) -> PageResult {
    let (apps, is_whole) = apps(&visit.api, "", number).await?;
    let ids: Vec<_> = apps.items.iter().map(|app| &*app.id).collect();
    let found = statuses(&visit.api, (!is_whole).then_some(ids)).await;
    let mut found: HashMap<_, _> = found
        .into_iter()
        .map(|status| (status.id.clone(), status))
        .collect();
    let pages = match is_whole {
        true => Pages::default(),
        false => Pages::new("/status?", number, PAGE, apps.total),
    };
    let lines = apps.items.into_iter().filter_map(|app| {
        let status = found.remove(&app.id)?;
        let order = match &*status.status {
            "down" => 0,
            "not-allowed" => 1,
            "unknown" => 2,
            _ => 3,
        };
        Some(Line {
            app,
            words: Words::of(visit.t, &status),
            checked_at: status.checked_at.unwrap_or_default(),
            order,
        })
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort_by_key(|line| line.order);
    let shown = ListPage {
        v: visit.clone(),
        lines,
        number,
        pages,
        allowed,
    };
    visit.long_page(code, move || shown.render()).await
}
