//! `/manage/boards/{id}`: a board's name and items.
//!
//! Every button except "Save" changes the items of the form and shows the form again. Nothing is stored until "Save",
//! which replaces the board. The form contains a fingerprint of the board as it was read, so that it does not replace
//! what another tab has stored meanwhile, unless its sender was told.

use std::collections::HashMap;

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use serde_json::json;

use super::{
    super::{PageResult, presses_search, segment, tiles},
    Right, StoredBoard,
    draft::{Content, Draft, DraftItem},
    path, problems,
};
use crate::{
    api::{Api, ApiError},
    fields::BOARD,
    form::Problems,
    respond::{page, see},
    visit::{Query, Visit, Visitor},
};
use tiles::App;

/// The most apps and groups of a board that is edited on a page, well below the most fields of a form. The API has no
/// such bound for apps in groups.
const MOST_ENTRIES: usize = 4_000;

/// The most apps that a search shows.
const MOST_FOUND: usize = 20;

/// The most apps that are named if two states of a board differ.
const MOST_NAMED: usize = 20;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/manage/boards/{id}", get(show).post(change))
        .route("/manage/boards/{id}/apps", get(search))
}

/// An item as the page shows it.
struct Row<'a> {
    key: usize,
    /// `app`, `bookmarks`, or `in` for an app of a group.
    kind: &'static str,
    app: Option<&'a App>,
    /// Whether one of its buttons gets the focus.
    focuses_up: bool,
    focuses_down: bool,
    /// The number of a group among the groups.
    number: usize,
    apps: Vec<Row<'a>>,
}

impl Row<'_> {
    fn id(&self) -> &str {
        self.app.map_or("", |app| &app.id)
    }

    fn name(&self, v: &Visit) -> String {
        match self.app {
            Some(app) => app.name.clone(),
            None => v.fill(v.t.boards.bookmarks, self.number),
        }
    }
}

/// The content of a form that is shown.
struct Shown {
    id: String,
    /// What the reader may do with the board.
    right: Right,
    name: String,
    is_public: bool,
    draft: Draft,
    /// The fingerprint of the board as it was read.
    read: String,
    problems: Problems,
    /// Whether the board was changed after the form was made.
    is_outdated: bool,
    /// Apps that are on the board then, but not in the form.
    missing: Vec<String>,
    /// What was searched for, and the group to which apps are added.
    query: String,
    into: Option<usize>,
    /// The button that gets the focus: `up`, `down` or `remove`, and the key of its item; otherwise the search.
    focus: (&'static str, Option<usize>),
}

impl Shown {
    fn may_share(&self) -> bool {
        self.right == Right::Full
    }
}

#[derive(Template)]
#[template(path = "boards/edit.html")]
struct EditPage<'a> {
    v: &'a Visit,
    path: String,
    shown_at: String,
    shown: &'a Shown,
    rows: Vec<Row<'a>>,
    found: Option<Vec<App>>,
}

impl EditPage<'_> {
    fn focuses_search(&self) -> bool {
        self.shown.focus.0 == "search"
    }

    fn adds_to(&self, group: &Row) -> bool {
        self.shown.into == Some(group.key)
    }

    fn groups(&self) -> impl Iterator<Item = &Row<'_>> {
        self.rows.iter().filter(|row| row.app.is_none())
    }
}

/// A board with more entries than a page holds.
#[derive(Template)]
#[template(path = "boards/too_large.html")]
struct TooLargePage<'a> {
    v: &'a Visit,
    name: &'a str,
    path: String,
    may_share: bool,
    entries: usize,
    is_list: bool,
}

#[derive(Template)]
#[template(path = "boards/apps_found.html")]
struct FoundApps<'a> {
    v: &'a Visit,
    path: String,
    query: &'a str,
    found: Option<Vec<App>>,
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    let right = Right::to_change(&visit, &id).await?;
    let board = StoredBoard::read(&visit.api, &id).await?;
    let draft = Draft::of(&board.items);
    let entries = draft.all().count();
    if entries > MOST_ENTRIES || !board.is_list() {
        return Ok(page(&TooLargePage {
            v: &visit,
            name: &board.name,
            path: path(&id),
            may_share: right == Right::Full,
            entries,
            is_list: board.is_list(),
        }));
    }
    let shown = Shown {
        right,
        name: board.name.clone(),
        is_public: board.is_public,
        draft,
        read: board.fingerprint(),
        id,
        problems: Problems::default(),
        is_outdated: false,
        missing: Vec::new(),
        query: String::new(),
        into: None,
        focus: ("", None),
    };
    show_form(&visit, StatusCode::OK, shown).await
}

async fn search(visit: Visitor, Path(id): Path<String>, query: Query) -> PageResult {
    visit.user()?;
    let text = query.text("app-query").trim();
    Ok(page(&FoundApps {
        v: &visit,
        path: path(&id),
        query: text,
        found: find(&visit.api, text).await?,
    }))
}

async fn change(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    let right = Right::to_change(&visit, &id).await?;
    let form = visit.form_with(&BOARD, request).await?;
    let mut shown = Shown {
        id,
        right,
        name: form.shown("name").into(),
        is_public: form.is_ticked("isPublic"),
        draft: Draft::read(&form),
        read: form.shown("read").into(),
        problems: Problems::default(),
        is_outdated: false,
        missing: Vec::new(),
        query: form.shown("app-query").trim().into(),
        into: form.text("into").parse().ok(),
        focus: ("search", None),
    };
    let step = form.text("do");
    if step == "save" || (step.is_empty() && !presses_search(&form, "app-query", "find")) {
        return save(&visit, form.text("name"), shown).await;
    }
    take_step(&mut shown, step);
    if shown.draft.all().count() > MOST_ENTRIES {
        shown.draft = Draft::read(&form);
        shown.problems.add_to_whole(visit.t.boards.full);
    }
    show_form(&visit, StatusCode::OK, shown).await
}

/// What a button does with the items.
fn take_step(shown: &mut Shown, step: &str) {
    let (verb, object) = step.split_once(' ').unwrap_or((step, ""));
    let key = object.parse().ok();
    match (verb, key) {
        ("add", _) => shown.draft.add_app(object, shown.into),
        ("bookmarks", _) => shown.draft.add_bookmarks(),
        ("up" | "down", Some(key)) => {
            let is_down = verb == "down";
            shown.draft.shift(key, is_down);
            shown.focus = (if is_down { "down" } else { "up" }, Some(key));
        }
        ("remove", Some(key)) => shown.draft.remove(key),
        _ => {}
    }
}

async fn save(visit: &Visitor, name: &str, mut shown: Shown) -> PageResult {
    let stored = StoredBoard::read(&visit.api, &shown.id).await?;
    shown.focus = ("", None);
    if stored.fingerprint() != shown.read {
        shown.read = stored.fingerprint();
        shown.is_outdated = true;
        shown.missing = missing(&visit.api, &stored, &shown.draft).await?;
        return show_form(visit, StatusCode::CONFLICT, shown).await;
    }
    if !visit.may("board-full-all") {
        shown.is_public = stored.is_public;
    }
    let input = json!({
        "id": shown.id,
        "name": name,
        "isPublic": shown.is_public,
        "items": shown.draft.items(),
    });
    match visit.api.change("board.update", input).await {
        Ok(()) => Ok(see(&format!("{}?note=saved", path(&shown.id)))),
        Err(error) if error.is_of_input() => {
            shown.problems = problems(visit, &error);
            show_form(visit, StatusCode::UNPROCESSABLE_ENTITY, shown).await
        }
        // The board was there a moment ago, so an app is gone. The page says which apps are no longer on it.
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            show_form(visit, StatusCode::UNPROCESSABLE_ENTITY, shown).await
        }
        Err(error) => Err(error),
    }
}

/// The names of apps that are on a board, but not in a draft.
async fn missing(api: &Api, stored: &StoredBoard, draft: &Draft) -> Result<Vec<String>, ApiError> {
    let items = draft.items();
    let drafted: std::collections::HashSet<&str> = items
        .iter()
        .flat_map(|item| item.app_ids())
        .map(String::as_str)
        .collect();
    let ids = stored.app_ids().into_iter().filter(|id| !drafted.contains(id));
    let found = tiles::by_ids(api, ids.take(MOST_NAMED).collect()).await?;
    let mut names: Vec<String> = found.into_values().map(|app| app.name).collect();
    names.sort();
    Ok(names)
}

/// The form with the names of its apps. Deleted apps are left out.
async fn show_form(visit: &Visitor, status: StatusCode, mut shown: Shown) -> PageResult {
    let ids: Vec<&str> = shown
        .draft
        .all()
        .filter_map(|entry| match &entry.content {
            Content::App(id) => Some(id.as_str()),
            Content::Bookmarks(_) => None,
        })
        .collect();
    let (apps, found) = tokio::join!(tiles::by_ids(&visit.api, ids), find(&visit.api, &shown.query));
    let (apps, found) = (apps?, found?);
    let before = shown.draft.all().count();
    shown.draft.keep_apps(|id| apps.contains_key(id));
    if shown.draft.all().count() < before {
        shown.problems.add_to_whole(visit.t.boards.apps_gone);
    }
    let focus = shown
        .draft
        .all()
        .position(|entry| Some(entry.key) == shown.focus.1);
    let into = shown.draft.all().position(|entry| Some(entry.key) == shown.into);
    shown.draft.renumber(None);
    (shown.focus.1, shown.into) = (focus, into);
    let v = visit.clone();
    let write = move || {
        let page = EditPage {
            v: &v,
            path: path(&shown.id),
            shown_at: format!("/boards/{}", segment(&shown.id)),
            rows: rows(&shown.draft.entries, &apps, shown.focus),
            shown: &shown,
            found,
        };
        page.render()
    };
    visit.long_page(status, write).await
}

fn rows<'a>(
    entries: &[DraftItem],
    apps: &'a HashMap<String, App>,
    focus: (&str, Option<usize>),
) -> Vec<Row<'a>> {
    let mut groups = 0;
    let row = |entry: &DraftItem, kind| Row {
        key: entry.key,
        kind,
        app: match &entry.content {
            Content::App(id) => apps.get(id),
            Content::Bookmarks(_) => None,
        },
        focuses_up: focus == ("up", Some(entry.key)),
        focuses_down: focus == ("down", Some(entry.key)),
        number: 0,
        apps: Vec::new(),
    };
    let rows = entries.iter().map(|entry| match &entry.content {
        Content::App(_) => row(entry, "app"),
        Content::Bookmarks(inner) => {
            groups += 1;
            Row {
                number: groups,
                apps: inner.iter().map(|entry| row(entry, "in")).collect(),
                ..row(entry, "bookmarks")
            }
        }
    });
    rows.collect()
}

/// The apps with a text in their names; no apps without a text.
async fn find(api: &Api, text: &str) -> Result<Option<Vec<App>>, ApiError> {
    if text.is_empty() {
        return Ok(None);
    }
    let input = json!({ "query": text, "limit": MOST_FOUND });
    api.query("app.search", input).await.map(Some)
}
