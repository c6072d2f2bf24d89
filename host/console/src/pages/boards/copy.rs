//! `/boards/{id}/copy` makes a board like another one, and `/boards/{id}/home` makes it the reader's home.

use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::post,
};
use serde::Deserialize;
use serde_json::json;

use super::{super::PageResult, StoredBoard, shown_at};
use crate::{respond::see, visit::Visitor};

/// The most names that are tried for a copy.
const MOST_NAMES: usize = 20;

/// The most characters of a name.
const MOST_OF_NAME: usize = 64;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/boards/{id}/copy", post(copy))
        .route("/boards/{id}/home", post(make_home))
}

/// The copy is its maker's: it is not public, and shared with no one.
async fn copy(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    #[derive(Deserialize)]
    struct Created {
        id: String,
    }
    visit.permitted("board-create")?;
    visit.form(request).await?;
    let board = StoredBoard::read(&visit.api, &id).await?;
    for number in 1..=MOST_NAMES {
        let input = json!({
            "name": name_of_copy(&board.name, visit.t.boards.copy_of, number),
            "isPublic": false,
            "sections": board.sections,
        });
        match visit.api.mutate::<Created>("board.create", input).await {
            Ok(copy) => return Ok(see(&format!("{}/edit?note=created", shown_at(&copy.id)))),
            Err(error) if error.status == StatusCode::CONFLICT && number < MOST_NAMES => {}
            Err(error) => return Err(error),
        }
    }
    Ok(see("/manage/boards"))
}

/// The name of a copy, cut so that it is not too long.
fn name_of_copy(name: &str, words: &str, number: usize) -> String {
    let number = match number {
        1 => String::new(),
        number => format!(" {number}"),
    };
    let around = words.replace("{}", "").chars().count() + number.chars().count();
    let kept: String = name.chars().take(MOST_OF_NAME - around).collect();
    words.replace("{}", kept.trim_end()) + &number
}

async fn make_home(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Homes {
        mobile_home_board_id: Option<String>,
    }
    let user = visit.user()?;
    visit.form(request).await?;
    let homes: Homes = visit
        .api
        .query("user.getById", json!({ "userId": user.id }))
        .await?;
    let input = json!({
        "userId": user.id,
        "homeBoardId": id,
        "mobileHomeBoardId": homes.mobile_home_board_id,
    });
    visit.api.change("user.changeHomeBoards", input).await?;
    Ok(see("/?note=home"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_copy_says_so_and_fits() {
        assert_eq!(name_of_copy("Kitchen", "{} (copy)", 1), "Kitchen (copy)");
        assert_eq!(name_of_copy("Kitchen", "{} (copy)", 3), "Kitchen (copy) 3");
        let long = name_of_copy(&"ä".repeat(64), "{} (copy)", 20);
        assert_eq!(long.chars().count(), MOST_OF_NAME);
        assert!(long.ends_with("ä (copy) 20"), "{long}");
    }
}
