//! `/manage/boards`: the list of boards, creating one, copying one, deleting one. `edit.rs` is the page of a board in
//! which it is changed, and `shown.rs` what it shows.

mod choice;
mod copy;
mod draft;
mod edit;
mod rows;
mod share;
mod shown;
mod stored;

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_rules::refusal::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) use self::{
    shown::{Piece, ShownBoard, ShownKind},
    stored::StoredBoard,
};
use super::{PageResult, list_place::ListPlace, paging::Pages, segment};
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Query, Visit, Visitor},
};

const PAGE: usize = 50;

/// The list of boards.
const LIST: &str = "/manage/boards";

pub(super) fn routes() -> Router {
    Router::new()
        .route("/manage/boards", get(list))
        .route("/manage/boards/new", get(show_new).post(create))
        .route("/manage/boards/{id}/delete", get(ask).post(delete))
        .route("/b/{slug}", get(follow))
        .merge(copy::routes())
        .merge(edit::routes())
        .merge(share::routes())
}

/// A board that the reader may change, as the API returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    id: String,
    name: String,
    is_public: bool,
    right: Right,
}

/// What the reader may do with a board, as the API returns it. Each includes those before it.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Right {
    View,
    Change,
    Full,
}

impl Right {
    /// To this board.
    pub async fn read(api: &Api, id: &str) -> Result<Self, ApiError> {
        #[derive(Deserialize)]
        struct Rights {
            right: Right,
        }
        let rights: Rights = api.query("board.getRight", json!({ "id": id })).await?;
        Ok(rights.right)
    }

    /// To this board, for a user who may change it.
    async fn to_change(visit: &Visit, id: &str) -> Result<Self, ApiError> {
        visit.user()?;
        let right = Self::read(&visit.api, id).await?;
        if right >= Self::Change {
            return Ok(right);
        }
        Err(Refusal::BoardNotShared.into())
    }
}

impl Summary {
    fn path(&self) -> String {
        path(&self.id)
    }

    fn may_share(&self) -> bool {
        self.right == Right::Full
    }

    /// Where everyone sees it.
    fn shown_at(&self) -> String {
        shown_at(&self.id)
    }
}

#[derive(Template)]
#[template(path = "boards/list.html")]
struct ListPage<'a> {
    v: &'a Visit,
    query: &'a str,
    boards: Vec<Summary>,
    total: usize,
    pages: Pages,
}

#[derive(Template)]
#[template(path = "boards/new.html")]
struct NewPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "boards/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    path: String,
    board: StoredBoard,
    list: ListPlace,
}

/// The short address of a board.
async fn follow(visit: Visitor, Path(slug): Path<String>) -> PageResult {
    shown::follow(&visit, &slug).await
}

/// The API returns all boards that the reader may change; the page shows a part of them.
async fn list(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    let text = query.text("q").trim();
    let mut boards: Vec<Summary> = visit.api.query("board.getChangeable", Value::Null).await?;
    let wanted = text.to_lowercase();
    boards.retain(|board| board.name.to_lowercase().contains(&wanted));
    let total = boards.len();
    let first = (query.page() as usize - 1) * PAGE;
    let address = format!(
        "/manage/boards?q={}&",
        utf8_percent_encode(text, NON_ALPHANUMERIC)
    );
    Ok(page(&ListPage {
        v: &visit,
        query: text,
        boards: boards.into_iter().skip(first).take(PAGE).collect(),
        total,
        pages: Pages::new(&address, query.page(), PAGE, total),
    }))
}

async fn show_new(visit: Visitor) -> PageResult {
    visit.permitted("board-create")?;
    Ok(page(&NewPage {
        v: &visit,
        form: &Form::default(),
        problems: Problems::default(),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    #[derive(Deserialize)]
    struct Created {
        id: String,
    }
    visit.permitted("board-create")?;
    let form = visit.form(request).await?;
    let input = json!({
        "name": form.text("name"),
        "slug": form.optional("slug").map(str::trim),
        "isPublic": form.is_ticked("isPublic"),
        "items": [],
    });
    match visit.api.mutate::<Created>("board.create", input).await {
        Ok(board) => Ok(see(&format!("{}/edit?note=created", shown_at(&board.id)))),
        Err(error) if error.is_of_input() => {
            let again = NewPage {
                v: &visit,
                form: &form,
                problems: problems(&visit, &error),
            };
            Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &again))
        }
        Err(error) => Err(error),
    }
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    if Right::to_change(&visit, &id).await? < Right::Full {
        return Err(Refusal::BoardOfOthers.into());
    }
    Ok(page(&DeletePage {
        v: &visit,
        path: path(&id),
        board: StoredBoard::read(&visit.api, &id).await?,
        list: ListPlace::of(&visit, LIST),
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    visit.api.change("board.delete", json!({ "id": id })).await?;
    Ok(see(&ListPlace::kept(&form, LIST).with_note("deleted")))
}

/// Where a board is shown.
fn shown_at(id: &str) -> String {
    format!("/boards/{}", segment(id))
}

/// Below this it is managed.
fn path(id: &str) -> String {
    format!("/manage/boards/{}", segment(id))
}

/// What the API found wrong with a board. A conflict is about its name, or about its short address.
fn problems(visit: &Visit, error: &ApiError) -> Problems {
    if error.status == StatusCode::CONFLICT {
        let mut problems = Problems::default();
        let is_of_slug = error.message.contains("short address");
        let field = if is_of_slug { "slug" } else { "name" };
        problems.add(field, visit.say(&error.message));
        return problems;
    }
    Problems::of(error, &["name", "slug", "sections"], |text| visit.say(text))
}
