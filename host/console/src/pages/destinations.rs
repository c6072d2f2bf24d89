//! `/destinations`: the boards, pages and search engines that the search box finds besides apps. A page asks for them when
//! people begin to type.

use askama::Template;
use axum::{Router, http::StatusCode, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{PageResult, search_engine::Engine, tiles::BoardLink};
use crate::visit::{Query, Visit, Visitor};

/// With more boards, only those that fit what is typed are sent.
const MOST_BOARDS: usize = 200;
/// The most search engines that are sent.
const MOST_ENGINES: usize = 200;

pub(super) fn routes() -> Router {
    Router::new().route("/destinations", get(show))
}

/// A board, a page, or the site of a search engine.
pub(super) struct Destination {
    pub name: String,
    pub path: String,
    pub glyph: &'static str,
    /// The short name of the search engine; empty for others.
    pub engine: String,
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
    pub fn of(visit: &Visitor, boards: &[BoardLink], engines: &[Engine], text: &str) -> Self {
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
            engine: String::new(),
        });
        let engines = engines.iter().filter(|engine| fits(&engine.name));
        let engines = engines.take(MOST_ENGINES).filter_map(|engine| {
            Some(Destination {
                name: engine.name.clone(),
                path: engine.site()?,
                glyph: "search",
                engine: engine.short.clone(),
            })
        });
        let pages = pages(visit).into_iter().filter(|page| fits(&page.name));
        Self {
            v: visit.clone(),
            found: boards.chain(pages).chain(engines).collect(),
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
            ("/manage/visibility", t.visibility.title, "eye"),
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
        engine: String::new(),
    });
    // Administrators have a page of everyone's keys, too.
    let own_keys = Destination {
        name: format!("{} · {}", t.common.profile, t.keys.title),
        path: "/profile/keys".into(),
        glyph: "key",
        engine: String::new(),
    };
    pages.chain([own_keys]).collect()
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let (boards, engines) = tokio::join!(
        visit.api.query::<Vec<BoardLink>>("board.getVisible", Value::Null),
        visit
            .api
            .query::<Vec<Engine>>("searchEngine.getSelectable", Value::Null),
    );
    let (boards, engines) = (boards?, engines?);
    // Fewer are filtered where they are shown.
    let text = if boards.len() > MOST_BOARDS {
        query.text("q").trim()
    } else {
        ""
    };
    let shown = Destinations {
        is_shown: false,
        ..Destinations::of(&visit, &boards, &engines, text)
    };
    visit.long_page(StatusCode::OK, move || shown.render()).await
}

/// The first page, with what was searched for.
pub(super) fn home_with(text: &str) -> String {
    format!("/?q={}", utf8_percent_encode(text, NON_ALPHANUMERIC))
}
