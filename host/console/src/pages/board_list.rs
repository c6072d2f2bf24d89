//! `/boards`: the boards that the reader may see. Other pages show the first of them.

use askama::Template;
use axum::{Router, routing::get};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{PageResult, paging::Pages, tiles::BoardLink};
use crate::{
    respond::page,
    visit::{Query, Visit, Visitor},
};

/// The most boards that other pages offer for a choice.
const MOST_LINKS: usize = 30;

const PAGE: usize = 50;

pub(super) fn routes() -> Router {
    Router::new().route("/boards", get(list))
}

/// Links to boards on a page about something else.
pub(super) struct BoardLinks {
    pub boards: Vec<BoardLink>,
    /// Whether there are more than these.
    pub are_more: bool,
}

impl BoardLinks {
    /// The first boards, including the one that is shown.
    pub fn of(mut boards: Vec<BoardLink>, shown: Option<&str>) -> Self {
        let are_more = boards.len() > MOST_LINKS;
        if are_more && let Some(place) = boards.iter().position(|board| Some(&*board.id) == shown) {
            let board = boards.remove(place);
            boards.truncate(MOST_LINKS - 1);
            boards.insert(0, board);
        }
        boards.truncate(MOST_LINKS);
        Self { boards, are_more }
    }
}

#[derive(Template)]
#[template(path = "boards.html")]
struct ListPage<'a> {
    v: &'a Visit,
    query: &'a str,
    boards: Vec<BoardLink>,
    total: usize,
    pages: Pages,
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    let text = query.text("q").trim();
    let mut boards: Vec<BoardLink> = visit.api.query("board.getVisible", Value::Null).await?;
    let wanted = text.to_lowercase();
    boards.retain(|board| board.name.to_lowercase().contains(&wanted));
    let total = boards.len();
    let address = format!("/boards?q={}&", utf8_percent_encode(text, NON_ALPHANUMERIC));
    let (boards, pages) = Pages::cut(&address, query.page(), PAGE, boards);
    Ok(page(&ListPage {
        v: &visit,
        query: text,
        boards,
        total,
        pages,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_board_is_always_among_the_links() {
        let boards = |count| {
            let board = |number: usize| BoardLink {
                id: number.to_string(),
                name: String::new(),
            };
            (0..count).map(board).collect::<Vec<_>>()
        };
        let ids = |links: &BoardLinks| {
            links
                .boards
                .iter()
                .map(|board| board.id.clone())
                .collect::<Vec<_>>()
        };
        let few = BoardLinks::of(boards(3), Some("2"));
        assert_eq!(
            (ids(&few), few.are_more),
            (vec!["0".into(), "1".into(), "2".into()], false)
        );
        let many = BoardLinks::of(boards(1_000), Some("700"));
        assert_eq!(
            (&*ids(&many)[0], many.boards.len(), many.are_more),
            ("700", MOST_LINKS, true)
        );
        let none = BoardLinks::of(boards(1_000), None);
        assert_eq!((&*ids(&none)[0], none.boards.len()), ("0", MOST_LINKS));
    }
}
