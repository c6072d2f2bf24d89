//! `/others?board=…`: the apps that are not on the boards of a page, for the search box of that page. It asks when
//! people begin to type, so a page with a board stays as light as its board.

use std::collections::HashSet;

use askama::Template;
use axum::{Router, http::StatusCode, routing::get};

use super::{PageResult, boards::StoredBoard, found_apps::apps, segment, tiles::App};
use crate::visit::{Query, Visitor};

pub(super) fn routes() -> Router {
    Router::new().route("/others", get(show))
}

/// The address of the apps that are not on these boards. Links open in this target.
pub(super) fn address<'a>(boards: impl Iterator<Item = &'a str>, target: &str) -> String {
    let boards: String = boards.map(|id| format!("&board={}", segment(id))).collect();
    format!("/others?target={target}{boards}")
}

#[derive(Template)]
#[template(path = "others.html")]
struct OthersPage {
    v: Visitor,
    apps: Vec<App>,
    /// Where to search for others, if these are not all.
    address: Option<String>,
    target: &'static str,
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let boards: Vec<&str> = query.all("board").take(2).collect();
    let mut on_boards = HashSet::new();
    for id in &boards {
        // One that is gone has no apps.
        if let Ok(board) = StoredBoard::read(&visit.api, id).await {
            on_boards.extend(board.app_ids().into_iter().map(str::to_owned));
        }
    }
    let (found, is_whole) = apps(&visit.api, "", 1).await?;
    let found = match is_whole {
        true => found,
        false => apps(&visit.api, query.text("q").trim(), 1).await?.0,
    };
    let target = if query.text("target") == "_blank" {
        "_blank"
    } else {
        ""
    };
    let is_other = |app: &App| !on_boards.contains(&app.id);
    let shown = OthersPage {
        v: visit.clone(),
        apps: found.items.into_iter().filter(is_other).collect(),
        address: (!is_whole).then(|| address(boards.into_iter(), target)),
        target,
    };
    visit.long_page(StatusCode::OK, move || shown.render()).await
}
