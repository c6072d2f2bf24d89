//! `/`: the user's home board, or all apps that they see. `/boards/{id}`: one board.

use askama::Template;
use axum::{Router, extract::Path, http::StatusCode, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    board_list::BoardLinks,
    boards::{Piece, ShownBoard, ShownKind},
    destinations::Destinations,
    found_apps::{PAGE, apps},
    onboarding, others,
    paging::Pages,
    search_engine::Engine,
    segment, status,
    tiles::{App, BoardLink},
};
use crate::{
    api::ApiError,
    respond::see,
    texts::fill,
    visit::{Query, Visit, Visitor},
};

/// Up to this number of apps, the page offers to add more.
const FEW: usize = 6;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/", get(home))
        .route("/boards/{id}", get(board))
}

impl BoardLink {
    /// Where the board is shown.
    pub fn path(&self) -> String {
        format!("/boards/{}", segment(&self.id))
    }
}

/// The preferences of the signed-in user that this page follows.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Preferences {
    open_search_in_new_tab: bool,
    /// Whether to show if apps can be reached.
    ping_icons_enabled: bool,
    default_search_engine_id: Option<String>,
}

/// The boards that the reader sees first.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Home {
    home_board_id: Option<String>,
    mobile_home_board_id: Option<String>,
}

/// What is under the search box.
enum Content {
    /// Boards, and for which screens each is: `both`, `wide` or `narrow`.
    Boards(Vec<(&'static str, ShownBoard)>),
    Apps(Vec<App>),
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    v: Visitor,
    title: String,
    links: BoardLinks,
    engines: Vec<Engine>,
    /// `_blank` if links open in a new tab.
    target: &'static str,
    /// The reader's own search engine.
    web: Option<Engine>,
    /// Where the apps are that are not on the boards of this page; empty if all are on it.
    others: String,
    content: Content,
    /// What the apps were searched for.
    query: String,
    /// How many apps there are; `None` for boards.
    total: Option<usize>,
    /// Whether all of them are on this page, so that it can be filtered in the browser.
    is_whole: bool,
    pages: Pages,
    /// Where the marks are renewed that say whether apps can be reached; empty if the page has none.
    marks: String,
    /// The boards and pages that fit what was searched for; `None`: a script asks for them.
    destinations: Option<String>,
}

impl HomePage {
    /// The reader's search engine: its name and template, and the words and the address of a search for the text with
    /// which the page was opened.
    fn web_search(&self) -> Option<(&str, &str, String, String)> {
        let engine = self.web.as_ref()?;
        let words = fill(self.v.t.home.search_web, &[&engine.name, &self.query]);
        let address = engine.address(&self.query);
        Some((&engine.name, &engine.url_template, words, address))
    }

    /// Whether there is something above the tiles: boards to go to, or what can be done with the one that is shown.
    fn has_bar(&self) -> bool {
        let shows_board = matches!(&self.content, Content::Boards(boards) if !boards.is_empty());
        !self.links.boards.is_empty() || (self.v.user.is_some() && shows_board)
    }

    /// Whether this page shows the board, also as the reader's home.
    fn is_shown(&self, link: &BoardLink) -> bool {
        match &self.content {
            Content::Apps(_) => false,
            Content::Boards(boards) => boards.iter().any(|(_, board)| board.id == link.id),
        }
    }

    /// Whether the reader has only begun to add apps.
    fn has_few(&self) -> bool {
        self.query.is_empty() && self.v.may("app-create") && matches!(self.total, Some(1..=FEW))
    }

    fn is_empty(&self) -> bool {
        match &self.content {
            Content::Apps(apps) => apps.is_empty(),
            Content::Boards(boards) => boards.iter().all(|(_, board)| board.is_empty()),
        }
    }
}

async fn home(visit: Visitor, query: Query) -> PageResult {
    let Some(user) = &visit.user else {
        return start(visit).await;
    };
    let (preferences, boards, engines, own) = tokio::join!(
        visit
            .api
            .query::<Preferences>("user.getById", json!({ "userId": user.id })),
        visit.api.query::<Vec<BoardLink>>("board.getVisible", Value::Null),
        visit
            .api
            .query::<Vec<Engine>>("searchEngine.getSelectable", Value::Null),
        visit.api.query::<Home>("board.getHome", Value::Null),
    );
    let (preferences, boards, shown_engines, own) = (preferences?, boards?, engines?, own?);
    let text = query.text("q").trim();
    let destinations = (!text.is_empty()).then(|| Destinations::of(&visit, &boards, &shown_engines, text));
    let links = BoardLinks::of(boards, None);
    let wants_apps = !text.is_empty() || query.text("all") == "1" || !query.text("page").is_empty();
    let content = match (wants_apps, own.boards()) {
        (false, boards) if !boards.is_empty() => home_boards(&visit, boards).await?,
        _ => Vec::new(),
    };
    let mut shown = HomePage {
        v: visit.clone(),
        title: visit.t.home.title.into(),
        links,
        target: preferences.target(),
        web: preferences.engine(&shown_engines),
        engines: shown_engines,
        others: String::new(),
        content: Content::Boards(Vec::new()),
        query: text.into(),
        total: None,
        is_whole: true,
        pages: Pages::default(),
        marks: String::new(),
        destinations: destinations.map(|found| found.shown()),
    };
    if content.is_empty() {
        let (mut apps, is_whole) = apps(&visit.api, text, query.page()).await?;
        if preferences.ping_icons_enabled
            && status::add_marks(&visit.api, visit.t, apps.items.iter_mut()).await
        {
            shown.marks = status::marks_of_apps(text, query.page());
        }
        shown.total = Some(apps.total);
        shown.is_whole = text.is_empty() && is_whole;
        if apps.items.len() < apps.total {
            let found = utf8_percent_encode(text, NON_ALPHANUMERIC);
            shown.pages = Pages::new(&format!("/?q={found}&"), query.page(), PAGE, apps.total);
        }
        shown.content = Content::Apps(apps.items);
    } else {
        shown.others = others::address(own.boards().iter().map(|(_, id)| *id), preferences.target());
        let mut content = content;
        if preferences.ping_icons_enabled {
            let apps = content.iter_mut().flat_map(|(_, board)| board.apps());
            if status::add_marks(&visit.api, visit.t, apps).await {
                shown.marks = status::marks_of_boards(own.boards().iter().map(|(_, id)| *id));
            }
        }
        shown.content = Content::Boards(content);
    }
    visit.long_page(StatusCode::OK, move || shown.render()).await
}

/// The first page of people who are not signed in: the board that the operator or an administrator has chosen, or else
/// everyone's home board, as long as everyone may see it. The bar at the top leads to signing in.
async fn start(visit: Visitor) -> PageResult {
    if onboarding::is_open(&visit.api).await? {
        return Ok(see("/start"));
    }
    let of_site = visit.looks().start_board.as_ref();
    let chosen = match visit.console.start_board.as_ref().or(of_site) {
        Some(id) => Some(id.clone()),
        None => {
            let home: Home = visit.api.query("board.getHome", Value::Null).await?;
            home.home_board_id.or(home.mobile_home_board_id)
        }
    };
    let Some(id) = chosen else {
        return Ok(see("/sign-in"));
    };
    match board(visit, Path(id)).await {
        Err(error) if matches!(error.status.as_u16(), 401 | 403 | 404) => Ok(see("/sign-in")),
        shown => shown,
    }
}

async fn board(visit: Visitor, Path(id): Path<String>) -> PageResult {
    let mut board = visit.or_sign_in(ShownBoard::read(&visit, &id).await)?;
    let boards = visit.api.query("board.getVisible", Value::Null);
    let boards: Vec<BoardLink> = boards.await?;
    let (engines, target, web, wants_marks) = match &visit.user {
        // The operator says whether they are told.
        None => (Vec::new(), "", None, true),
        Some(user) => {
            let (engines, preferences) = tokio::join!(
                visit
                    .api
                    .query::<Vec<Engine>>("searchEngine.getSelectable", Value::Null),
                visit
                    .api
                    .query::<Preferences>("user.getById", json!({ "userId": user.id })),
            );
            let (engines, preferences) = (engines?, preferences?);
            let web = preferences.engine(&engines);
            (engines, preferences.target(), web, preferences.ping_icons_enabled)
        }
    };
    let has_marks = wants_marks && status::add_marks(&visit.api, visit.t, board.apps()).await;
    let shown = HomePage {
        v: visit.clone(),
        title: board.name.clone(),
        links: BoardLinks::of(boards, Some(&id)),
        engines,
        target,
        web,
        others: match visit.user {
            Some(_) => others::address([id.as_str()].into_iter(), target),
            None => String::new(),
        },
        content: Content::Boards(vec![("both", board)]),
        query: String::new(),
        total: None,
        is_whole: true,
        pages: Pages::default(),
        marks: match has_marks {
            true => status::marks_of_boards([id.as_str()].into_iter()),
            false => String::new(),
        },
        destinations: None,
    };
    visit.long_page(StatusCode::OK, move || shown.render()).await
}

impl Preferences {
    /// `_blank` if links open in a new tab.
    fn target(&self) -> &'static str {
        if self.open_search_in_new_tab { "_blank" } else { "" }
    }

    /// The user's own search engine.
    fn engine(&self, engines: &[Engine]) -> Option<Engine> {
        let id = self.default_search_engine_id.as_ref()?;
        engines.iter().find(|engine| engine.id == *id).cloned()
    }
}

impl Home {
    /// The boards, and for which screens each is.
    fn boards(&self) -> Vec<(&'static str, &str)> {
        match (
            self.home_board_id.as_deref(),
            self.mobile_home_board_id.as_deref(),
        ) {
            (None, None) => Vec::new(),
            (Some(wide), Some(narrow)) if wide != narrow => vec![("wide", wide), ("narrow", narrow)],
            (Some(board), _) | (None, Some(board)) => vec![("both", board)],
        }
    }
}

/// The existing home boards. A board that was deleted, or that the user may no longer see, is left out.
async fn home_boards(
    visit: &Visit,
    ids: Vec<(&'static str, &str)>,
) -> Result<Vec<(&'static str, ShownBoard)>, ApiError> {
    let mut boards = Vec::new();
    for (screens, id) in ids {
        match ShownBoard::read(visit, id).await {
            Ok(board) => boards.push((screens, board)),
            Err(error) if matches!(error.status.as_u16(), 403 | 404) => {}
            Err(error) => return Err(error),
        }
    }
    if let [(screens, _)] = &mut boards[..] {
        *screens = "both";
    }
    Ok(boards)
}
