//! `/boards/{id}/edit`: the page of a board, as one form.
//!
//! Every button except "Save" changes the form and shows it again. Nothing is stored until "Save", which replaces the
//! board. The form contains a fingerprint of the board as it was read, so that it does not replace what another tab has
//! stored meanwhile, unless its sender was told.
//!
//! Invariant: whatever is refused, and whatever fails, the form is shown with everything that it held. Only apps that
//! are known to be gone leave it, and the page says so. Without a session, and of a board that is gone, there is no form.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    response::Response,
    routing::get,
};
use serde_json::{Value, json};

use super::{
    super::{PageResult, presses_search, segment, tiles},
    Right, StoredBoard,
    choice::Choice,
    draft::{Content, Draft},
    path, problems,
    rows::{Names, SectionRow, rows},
    shown_at,
};
use crate::{
    api::{Api, ApiError, Issue},
    fields::BOARD,
    form::{Form, Problems},
    respond::{page, see},
    visit::{Visit, Visitor},
};

/// The most parts of a board that is edited on a page, well below the most fields of a form. The API has no such bound
/// for apps in groups.
const MOST_PARTS: usize = 3_000;

/// The most apps that are named if two states of a board differ.
const MOST_NAMED: usize = 20;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/boards/{id}/edit", get(show).post(change))
        .route("/manage/boards/{id}", get(move_here))
}

/// The content of a form that is shown.
struct Shown {
    id: String,
    /// What the reader may do with the board.
    right: Right,
    name: String,
    slug: String,
    is_public: bool,
    draft: Draft,
    /// The fingerprint of the board as it was read.
    read: String,
    problems: Problems,
    /// Whether the form may hold something else than what is stored.
    is_changed: bool,
    /// Whether the board was changed after the form was made.
    is_outdated: bool,
    /// Apps that are on the board then, but not in the form.
    missing: Vec<String>,
    /// Which apps to choose from: those with this text in their names, on this page.
    query: String,
    page: u32,
    /// The apps that are ticked there, also on other pages.
    picked: Vec<String>,
    /// The section or the group to which things are added.
    into: Option<usize>,
    /// The button that gets the focus, and the key of its part.
    focus: (&'static str, Option<usize>),
}

impl Shown {
    fn may_share(&self) -> bool {
        self.right == Right::Full
    }

    /// Adds the apps that are ticked.
    fn add_picked(&mut self) {
        for id in std::mem::take(&mut self.picked) {
            self.draft.add(Content::App(id), self.into);
        }
    }

    fn of(form: &Form, id: String) -> Self {
        Self {
            id,
            right: Right::Change,
            name: form.text("name").into(),
            slug: form.text("slug").into(),
            is_public: form.is_ticked("isPublic"),
            draft: Draft::read(form),
            read: form.shown("read").into(),
            problems: Problems::default(),
            is_changed: true,
            is_outdated: false,
            missing: Vec::new(),
            query: form.shown("app-query").trim().into(),
            page: form.text("app-page").parse().unwrap_or(1).max(1),
            picked: form
                .all("pick")
                .take(tiles::MOST_PICKED)
                .map(str::to_owned)
                .collect(),
            into: form.text("into").parse().ok(),
            focus: ("", None),
        }
    }
}

#[derive(Template)]
#[template(path = "boards/edit.html")]
struct EditPage<'a> {
    v: &'a Visit,
    path: String,
    manage: String,
    shown_at: String,
    shown: &'a Shown,
    sections: Vec<SectionRow<'a>>,
    choice: &'a Choice,
}

impl EditPage<'_> {
    fn adds_to(&self, key: &usize) -> bool {
        self.shown.into == Some(*key)
    }

    fn focuses(&self, verb: &str) -> bool {
        self.shown.focus == (verb, None)
    }

    fn opens_settings(&self) -> bool {
        ["name", "slug", "isPublic"]
            .iter()
            .any(|field| !self.shown.problems.at(field).is_empty())
    }
}

/// A board with more parts than a page holds.
#[derive(Template)]
#[template(path = "boards/too_large.html")]
struct TooLargePage<'a> {
    v: &'a Visit,
    name: &'a str,
    path: String,
    may_share: bool,
    entries: usize,
}

/// Where the editor was.
async fn move_here(Path(id): Path<String>) -> Response {
    see(&format!("/boards/{}/edit", segment(&id)))
}

async fn show(visit: Visitor, Path(id): Path<String>) -> PageResult {
    let right = Right::to_change(&visit, &id).await?;
    let board = StoredBoard::read(&visit.api, &id).await?;
    let draft = Draft::of(&board.sections);
    let entries = draft.count();
    if entries > MOST_PARTS {
        return Ok(page(&TooLargePage {
            v: &visit,
            name: &board.name,
            path: path(&id),
            may_share: right == Right::Full,
            entries,
        }));
    }
    let shown = Shown {
        right,
        name: board.name.clone(),
        slug: board.slug.clone().unwrap_or_default(),
        is_public: board.is_public,
        draft,
        read: board.fingerprint(),
        is_changed: false,
        ..Shown::of(&Form::default(), id)
    };
    show_form(&visit, StatusCode::OK, shown).await
}

async fn change(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form_with(&BOARD, request).await?;
    let mut shown = Shown::of(&form, id);
    match Right::to_change(&visit, &shown.id).await {
        Ok(right) => shown.right = right,
        Err(error) => return show_failure(&visit, error, shown).await,
    }
    let step = form.text("do");
    let is_saved = step == "save" || (step.is_empty() && !presses_search(&form, "app-query", "find"));
    if is_saved {
        // What was ticked last may not have been added.
        shown.add_picked();
        let renumbered = shown.draft.number(&[shown.into]);
        shown.into = renumbered[0];
    } else {
        take_step(&mut shown, step);
    }
    if shown.draft.count() > MOST_PARTS {
        shown = Shown {
            right: shown.right,
            ..Shown::of(&form, shown.id)
        };
        shown.problems.add_to_whole(visit.t.boards.full);
    } else if is_saved {
        return save(&visit, shown).await;
    }
    let status = match is_saved {
        true => StatusCode::UNPROCESSABLE_ENTITY,
        false => StatusCode::OK,
    };
    show_form(&visit, status, shown).await
}

/// What a button does with the form.
fn take_step(shown: &mut Shown, step: &str) {
    let (verb, object) = step.split_once(' ').unwrap_or((step, ""));
    let key: Option<usize> = object.parse().ok();
    let draft = &mut shown.draft;
    let verb = match (verb, key) {
        ("add", _) => {
            shown.add_picked();
            "find"
        }
        ("bookmarks", _) => {
            draft.add(Content::Bookmarks(Vec::new()), shown.into);
            "bookmarks"
        }
        ("note", _) => {
            draft.add(Content::Note(String::new()), shown.into);
            "note"
        }
        ("clock", _) => {
            draft.add(Content::Clock(String::new()), shown.into);
            "clock"
        }
        ("section", _) => {
            draft.add_section();
            "section"
        }
        ("earlier", Some(key)) => {
            draft.shift(key, false);
            "earlier"
        }
        ("later", Some(key)) => {
            draft.shift(key, true);
            "later"
        }
        ("next", Some(key)) => {
            draft.move_to_next_section(key);
            "next"
        }
        ("size", Some(key)) => {
            draft.resize(key);
            "size"
        }
        ("remove", Some(key)) => {
            draft.remove(key);
            "find"
        }
        ("page", Some(number)) => {
            shown.page = u32::try_from(number).unwrap_or(1).max(1);
            "find"
        }
        _ => {
            shown.page = 1;
            "find"
        }
    };
    let is_of_part = ["earlier", "later", "next", "size"].contains(&verb);
    shown.focus = (verb, key.filter(|_| is_of_part));
}

async fn save(visit: &Visitor, mut shown: Shown) -> PageResult {
    let stored = match StoredBoard::read(&visit.api, &shown.id).await {
        Ok(stored) => stored,
        Err(error) => return show_failure(visit, error, shown).await,
    };
    if stored.fingerprint() != shown.read {
        shown.read = stored.fingerprint();
        shown.is_outdated = true;
        shown.missing = missing(&visit.api, &stored, &shown.draft)
            .await
            .unwrap_or_default();
        return show_form(visit, StatusCode::CONFLICT, shown).await;
    }
    if !visit.may("board-full-all") {
        shown.is_public = stored.is_public;
    }
    let slug = Some(shown.slug.trim()).filter(|slug| !slug.is_empty());
    let input = json!({
        "id": shown.id,
        "name": shown.name,
        "slug": slug,
        "isPublic": shown.is_public,
        "sections": shown.draft.sections(),
    });
    match visit.api.change("board.update", input).await {
        Ok(()) => Ok(see(&format!("{}?note=saved", shown_at(&shown.id)))),
        Err(error) if error.is_of_input() => {
            shown.problems = problems_of_parts(visit, &error, &shown.draft);
            show_form(visit, StatusCode::UNPROCESSABLE_ENTITY, shown).await
        }
        // The board was there a moment ago, so an app is gone, or may not be shown to all who see the board.
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            shown.problems.add_to_whole(visit.t.boards.app_refused);
            show_form(visit, StatusCode::UNPROCESSABLE_ENTITY, shown).await
        }
        Err(error) => show_failure(visit, error, shown).await,
    }
}

/// The form after something else than what was typed is in the way.
async fn show_failure(visit: &Visitor, error: ApiError, mut shown: Shown) -> PageResult {
    if matches!(error.status, StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED) {
        return Err(error);
    }
    shown.problems.add_to_whole(visit.say(&error.message));
    show_form(visit, error.status, shown).await
}

/// What the API found wrong, by the field of the form. What is wrong with a part is said there, and only there.
fn problems_of_parts(visit: &Visit, error: &ApiError, draft: &Draft) -> Problems {
    let mut rest = ApiError {
        issues: Vec::new(),
        ..error.clone()
    };
    let mut of_parts = Vec::new();
    for issue in &error.issues {
        match field_of(issue, draft) {
            Some(field) => of_parts.push((field, visit.say(&issue.message))),
            None => rest.issues.push(issue.clone()),
        }
    }
    let mut found = match rest.issues.is_empty() && !of_parts.is_empty() {
        true => Problems::default(),
        false => problems(visit, &rest),
    };
    for (field, message) in of_parts {
        found.add(&field, message);
    }
    found
}

/// The field of the part of which an issue is.
fn field_of(issue: &Issue, draft: &Draft) -> Option<String> {
    let text = |at: usize| issue.path.get(at).and_then(Value::as_str);
    let number = |at: usize| {
        let number = issue.path.get(at).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    };
    if text(0) != Some("sections") {
        return None;
    }
    let section = draft.sections.get(number(1)?)?;
    match text(2)? {
        "name" => Some(format!("section-{}", section.key)),
        "items" => {
            let item = section.items.get(number(3)?)?;
            Some(match text(4) {
                Some("timeZone") => format!("zone-{}", item.key),
                _ => format!("text-{}", item.key),
            })
        }
        _ => None,
    }
}

/// The names of apps that are on a board, but not in a draft.
async fn missing(api: &Api, stored: &StoredBoard, draft: &Draft) -> Result<Vec<String>, ApiError> {
    let drafted: std::collections::HashSet<&str> = draft.app_ids().collect();
    let ids = stored.app_ids().into_iter().filter(|id| !drafted.contains(id));
    let found = tiles::by_ids(api, ids.take(MOST_NAMED).collect()).await?;
    let mut names: Vec<String> = found.into_values().map(|app| app.name).collect();
    names.sort();
    Ok(names)
}

/// The form with the names of its apps. Deleted apps are left out; if it is not known which these are, none is.
async fn show_form(visit: &Visitor, status: StatusCode, mut shown: Shown) -> PageResult {
    let (apps, choice) = tokio::join!(
        tiles::by_ids(&visit.api, shown.draft.app_ids().collect()),
        Choice::read(&visit.api, &shown.query, shown.page),
    );
    let apps = match apps {
        Ok(apps) => {
            let before = shown.draft.count();
            shown.draft.keep_apps(|id| apps.contains_key(id));
            if shown.draft.count() < before {
                shown.problems.add_to_whole(visit.t.boards.apps_gone);
            }
            Names::Known(apps)
        }
        Err(_) => Names::Unknown,
    };
    let choice = choice.unwrap_or_default();
    let choice = choice.with(&shown.draft, &shown.picked);
    // Problems of fields have the keys that the draft has now.
    if !shown.problems.has_field() {
        let renumbered = shown.draft.number(&[shown.focus.1, shown.into]);
        (shown.focus.1, shown.into) = (renumbered[0], renumbered[1]);
    }
    let v = visit.clone();
    let write = move || {
        let page = EditPage {
            v: &v,
            path: format!("/boards/{}/edit", segment(&shown.id)),
            manage: path(&shown.id),
            shown_at: shown_at(&shown.id),
            sections: rows(&v, &shown.draft, &apps, &shown.problems, shown.focus),
            shown: &shown,
            choice: &choice,
        };
        page.render()
    };
    visit.long_page(status, write).await
}
