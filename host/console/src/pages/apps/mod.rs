//! `/apps`: the list of apps, and deleting one.

mod address;
mod advice;
mod bookmarks;
mod edit;
mod gate;
mod many;
mod selected;
mod table;

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{
    PageResult,
    boards::StoredBoard,
    list_place::ListPlace,
    paging::Pages,
    tiles::{App, Apps, BoardLink},
};
use crate::{
    api::{Api, ApiError},
    respond::{page, see},
    visit::{Query, Visit, Visitor},
};

const PAGE: usize = 50;

/// The most boards that are searched for an app.
const MOST_BOARDS: usize = 100;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/apps", get(list))
        .route("/apps/{id}/delete", get(ask).post(delete))
        .merge(advice::routes())
        .merge(edit::routes())
        .merge(gate::routes())
        .merge(many::routes())
        .merge(selected::routes())
}

#[derive(Template)]
#[template(path = "apps/list.html")]
struct ListPage {
    v: Visitor,
    query: String,
    apps: Apps,
    pages: Pages,
}

#[derive(Template)]
#[template(path = "apps/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    app: App,
    list: ListPlace,
    boards: Vec<BoardLink>,
    /// Whether the user sees more boards than were searched.
    are_more: bool,
}

async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let text = query.text("q").trim();
    let read = async |number: u32| {
        let input = json!({ "page": number, "pageSize": PAGE, "search": text });
        visit.api.query::<Apps>("app.getPaginated", input).await
    };
    let mut apps = read(query.page()).await?;
    let number = Pages::existing(query.page(), PAGE, apps.total);
    if number < query.page() {
        apps = read(number).await?;
    }
    let address = format!("/apps?q={}&", utf8_percent_encode(text, NON_ALPHANUMERIC));
    let shown = ListPage {
        v: visit.clone(),
        query: text.into(),
        pages: Pages::new(&address, number, PAGE, apps.total),
        apps,
    };
    visit.long_page(StatusCode::OK, move || shown.render()).await
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    visit.permitted("app-full-all")?;
    let app: App = visit.api.query("app.byId", json!({ "id": id })).await?;
    let (boards, are_more) = boards_with(&visit.api, &id).await?;
    Ok(page(&DeletePage {
        v: &visit,
        app,
        list: ListPlace::of(&visit, "/apps"),
        boards,
        are_more,
    }))
}

/// Of the first boards that the user sees, those that have an app; and whether the user sees more boards.
async fn boards_with(api: &Api, app_id: &str) -> Result<(Vec<BoardLink>, bool), ApiError> {
    let visible: Vec<BoardLink> = api.query("board.getVisible", Value::Null).await?;
    let are_more = visible.len() > MOST_BOARDS;
    let mut boards = Vec::new();
    for board in visible.into_iter().take(MOST_BOARDS) {
        match StoredBoard::read(api, &board.id).await {
            Ok(stored) if stored.app_ids().contains(&app_id) => boards.push(board),
            Ok(_) => {}
            // It has been deleted meanwhile.
            Err(error) if error.status.as_u16() == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok((boards, are_more))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    visit.api.change("app.delete", json!({ "id": id })).await?;
    Ok(see(&ListPlace::kept(&form, "/apps").with_note("deleted")))
}
