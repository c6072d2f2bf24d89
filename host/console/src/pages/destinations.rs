//! `/destinations`: the boards and pages that the search box finds besides apps. A page asks for them when people begin
//! to type.

use askama::Template;
use axum::{Router, http::StatusCode, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{PageResult, tiles::BoardLink};
use crate::visit::{Query, Visit, Visitor};

/// With more boards, only those that fit what is typed are sent.
const MOST_BOARDS: usize = 200;

pub(super) fn routes() -> Router {
    Router::new().route("/destinations", get(show))
}

/// A board or a page.
pub(super) struct Destination {
    pub name: String,
    pub path: String,
    pub glyph: &'static str,
}

/// What the search box finds besides apps.
#[derive(Template)]
#[template(path = "destinations.html")]
pub(super) struct Destinations {
    v: Visitor,
    found: Vec<Destination>,
    /// Where to search for others, if these are not all.
    address: Option<String>,
    /// Whether it is shown without a script.
    is_shown: bool,
}

impl Destinations {
    /// Those that fit a text; with an empty text, all of them but those of too many boards.
    pub fn of(visit: &Visitor, boards: &[BoardLink], text: &str) -> Self {
        let text = text.to_lowercase();
        let fits = |name: &str| name.to_lowercase().contains(&text);
        let are_many = boards.len() > MOST_BOARDS;
        let boards = boards.iter().filter(|board| fits(&board.name));
        let boards = boards.take(if are_many && text.is_empty() {
            0
        } else {
            MOST_BOARDS
        });
        let boards = boards.map(|board| Destination {
            name: board.name.clone(),
            path: board.path(),
            glyph: "board",
        });
        let pages = pages(visit).into_iter().filter(|page| fits(&page.name));
        Self {
            v: visit.clone(),
            found: boards.chain(pages).collect(),
            address: are_many.then(|| "/destinations".into()),
            is_shown: !text.is_empty(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// As a part of a page; empty if there are none.
    pub fn shown(&self) -> String {
        match self.is_empty() {
            true => String::new(),
            false => self.render().unwrap_or_default(),
        }
    }
}

/// The pages that the reader may open from anywhere.
fn pages(visit: &Visit) -> Vec<Destination> {
    let t = visit.t;
    let mut pages = vec![
        ("/", t.common.home, "door"),
        ("/boards", t.home.all_boards, "board"),
        ("/status", t.status.title, "globe"),
        ("/profile", t.common.profile, "user"),
        ("/profile/sessions", t.profile.sessions, "lock"),
        ("/apps", t.common.apps, "apps"),
        ("/manage/boards", t.common.boards, "edit"),
        ("/help", t.common.help, "open"),
    ];
    if visit.may_have_second_factor() {
        pages.push(("/profile/second-factor", t.second_factor.title, "lock"));
    }
    if visit.may("app-create") {
        pages.extend([
            ("/apps/new", t.apps.new, "plus"),
            ("/apps/many", t.apps.many_title, "list"),
            ("/apps/catalogue", t.apps.catalogue, "apps"),
        ]);
    }
    if visit.may("board-create") {
        pages.push(("/manage/boards/new", t.boards.new, "plus"));
    }
    if visit.is_admin() {
        pages.extend([
            ("/manage/looks", t.looks.title, "brush"),
            ("/engines", t.common.engines, "search"),
            ("/users", t.common.users, "user"),
            ("/invites", t.common.invites, "mail"),
            ("/groups", t.common.groups, "group"),
            ("/keys", t.common.keys, "key"),
            ("/audit", t.common.audit, "list"),
            ("/state", t.common.state, "document"),
        ]);
    }
    let pages = pages.into_iter().map(|(path, name, glyph)| Destination {
        name: name.into(),
        path: path.into(),
        glyph,
    });
    // Administrators have a page of everyone's keys, too.
    let own_keys = Destination {
        name: format!("{} · {}", t.common.profile, t.keys.title),
        path: "/profile/keys".into(),
        glyph: "key",
    };
    pages.chain([own_keys]).collect()
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let boards: Vec<BoardLink> = visit.api.query("board.getVisible", Value::Null).await?;
    // Fewer are filtered where they are shown.
    let text = if boards.len() > MOST_BOARDS {
        query.text("q").trim()
    } else {
        ""
    };
    let shown = Destinations {
        is_shown: false,
        ..Destinations::of(&visit, &boards, text)
    };
    visit.long_page(StatusCode::OK, move || shown.render()).await
}

/// The first page, with what was searched for.
pub(super) fn home_with(text: &str) -> String {
    format!("/?q={}", utf8_percent_encode(text, NON_ALPHANUMERIC))
}
