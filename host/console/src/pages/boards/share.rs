//! `/manage/boards/{id}/share`: with whom a board is shared. Each button adds or removes one user or group, or changes what
//! they may do.
//!
//! Invariant: a change starts from the list that is stored at that moment, so that what another tab or person has
//! shared meanwhile stays. What they have changed of the same share is shown, and not changed. (The API sets the whole
//! list, so a change within the milliseconds between reading and writing is lost.)

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{PageResult, paging::Pages},
    StoredBoard, path,
};
use crate::{
    api::{Api, ApiError},
    form::Problems,
    respond::{page_with, see},
    visit::{Query, Visit, Visitor},
};

/// The most users and the most groups that a search shows.
const MOST_FOUND: usize = 20;

/// Users and groups on a page of those with whom the board is shared.
const PAGE: usize = 50;

pub(super) fn routes() -> Router {
    Router::new().route("/manage/boards/{id}/share", get(show).post(change))
}

/// Users and groups, as the API returns them: those with whom the board is shared, or others.
#[derive(Deserialize)]
struct Shares {
    users: Vec<Named>,
    groups: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    id: String,
    name: String,
    #[serde(default)]
    may_change: bool,
}

/// A user or a group on the page.
struct Party {
    /// `user` or `group`.
    kind: &'static str,
    id: String,
    name: String,
    may_change: bool,
}

impl Shares {
    async fn read(api: &Api, board: &str) -> Result<Self, ApiError> {
        api.query("board.getShares", json!({ "boardId": board })).await
    }

    /// The groups, and then the users.
    fn into_parties(self) -> Vec<Party> {
        let of = |kind| {
            move |named: Named| Party {
                kind,
                id: named.id,
                name: named.name,
                may_change: named.may_change,
            }
        };
        let groups = self.groups.into_iter().map(of("group"));
        groups.chain(self.users.into_iter().map(of("user"))).collect()
    }

    /// Those that are not in the other list.
    fn without(mut self, others: &Self) -> Self {
        let is_new = |named: &Named, others: &[Named]| others.iter().all(|other| other.id != named.id);
        self.users.retain(|user| is_new(user, &others.users));
        self.groups.retain(|group| is_new(group, &others.groups));
        self
    }
}

#[derive(Template)]
#[template(path = "boards/share.html")]
struct SharePage<'a> {
    v: &'a Visit,
    path: String,
    board: StoredBoard,
    total: usize,
    parties: Vec<Party>,
    pages: Pages,
    query: &'a str,
    found: Option<Vec<Party>>,
    problems: Problems,
}

impl SharePage<'_> {
    fn kind(&self, party: &Party) -> &'static str {
        let t = &self.v.t.boards;
        if party.kind == "group" { t.group } else { t.user }
    }

    fn has_found_none(&self) -> bool {
        self.found.as_ref().is_some_and(Vec::is_empty)
    }
}

/// What a share permits: `change`, `view`, or `none` if there is none.
fn right_of(share: Option<&Named>) -> &'static str {
    match share {
        Some(share) if share.may_change => "change",
        Some(_) => "view",
        None => "none",
    }
}

async fn show(visit: Visitor, Path(id): Path<String>, query: Query) -> PageResult {
    visit.user()?;
    let (status, text) = (StatusCode::OK, query.text("q").trim());
    show_page(&visit, &id, query.page(), text, status, Problems::default()).await
}

async fn change(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let text = form.shown("q").trim();
    let number = form
        .text("page")
        .parse()
        .map_or(1, |page: u32| page.clamp(1, 1_000_000));
    let (verb, kind) = form.text("do").split_once('-').unwrap_or_default();
    let chosen = form.text("id");
    let Shares { users, groups } = Shares::read(&visit.api, &id).await?;
    let parties = if kind == "user" { &users } else { &groups };
    let stored = right_of(parties.iter().find(|party| party.id == chosen));
    let wanted = match verb {
        "drop" => "none",
        "change" => "change",
        _ => "view",
    };
    // What the button was pressed for is no longer what is stored, and not what it would store either.
    let was = form.text("was");
    if !was.is_empty() && was != stored && wanted != stored && verb != "add" {
        let t = &visit.t.boards;
        let now = match stored {
            "change" => t.may_change,
            "view" => t.may_view,
            _ => t.not_shared,
        };
        let mut problems = Problems::default();
        problems.add_to_whole(visit.fill(visit.t.errors.changed_meanwhile, now));
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return show_page(&visit, &id, number, text, status, problems).await;
    }
    let changed = |parties: Vec<Named>, is_meant: bool| {
        let share = |id: &str, may_change: bool| json!({ "id": id, "mayChange": may_change });
        let (meant, others): (Vec<_>, Vec<_>) =
            parties.iter().partition(|party| is_meant && party.id == chosen);
        let mut shares: Vec<_> = others
            .iter()
            .map(|party| share(&party.id, party.may_change))
            .collect();
        let may_change = meant.iter().any(|party| party.may_change);
        match verb {
            "drop" => {}
            _ if !is_meant => {}
            // Someone may have been added in another tab.
            "add" => shares.push(share(chosen, may_change)),
            _ => shares.push(share(chosen, verb == "change")),
        }
        shares
    };
    let input = json!({
        "boardId": id, "users": changed(users, kind == "user"), "groups": changed(groups, kind == "group"),
    });
    match visit.api.change("board.share", input).await {
        Ok(()) => {
            let query = utf8_percent_encode(text, NON_ALPHANUMERIC);
            let page = if number > 1 {
                format!("&page={number}")
            } else {
                String::new()
            };
            Ok(see(&format!("{}/share?q={query}{page}&note=saved", path(&id))))
        }
        // The user or the group may be gone.
        Err(error) if error.is_of_input() || error.status == StatusCode::NOT_FOUND => {
            let problems = Problems::of(&error, &[], |text| visit.say(text));
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            show_page(&visit, &id, number, text, status, problems).await
        }
        Err(error) => Err(error),
    }
}

async fn show_page(
    visit: &Visit,
    id: &str,
    number: u32,
    query: &str,
    status: StatusCode,
    problems: Problems,
) -> PageResult {
    let board = StoredBoard::read(&visit.api, id).await?;
    let shares = Shares::read(&visit.api, id).await?;
    let found = match query {
        "" => None,
        text => Some(find(&visit.api, id, text).await?.without(&shares).into_parties()),
    };
    let parties = shares.into_parties();
    let total = parties.len();
    let (parties, pages) = Pages::cut(&format!("{}/share?", path(id)), number, PAGE, parties);
    let shown = SharePage {
        v: visit,
        path: path(id),
        board,
        total,
        parties,
        pages,
        query,
        found,
        problems,
    };
    Ok(page_with(status, &shown))
}

/// Users and groups with a text in their names.
async fn find(api: &Api, board: &str, text: &str) -> Result<Shares, ApiError> {
    let input = json!({ "boardId": board, "query": text, "limit": MOST_FOUND });
    api.query("board.getShareable", input).await
}
