//! What people see first who have chosen no home board: a part of the pages of a group, and of who sees what.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tiles::BoardLink;
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    visit::Visit,
};

/// The most boards to choose from.
const MOST_CHOICES: usize = 500;

/// The boards that are chosen, and those to choose from.
pub(super) struct HomeChoice {
    chosen: Chosen,
    pub boards: Vec<BoardLink>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    group_id: Option<String>,
    home_board_id: Option<String>,
    mobile_home_board_id: Option<String>,
}

impl HomeChoice {
    /// Of a group, or of everyone. `sent` is a form that was refused.
    pub async fn read(api: &Api, group_id: Option<&str>, sent: Option<&Form>) -> Result<Self, ApiError> {
        let stored: Vec<Chosen> = api.query("board.getDefaultHomes", Value::Null).await?;
        let mut stored = stored.into_iter();
        let stored = stored.find(|home| home.group_id.as_deref() == group_id);
        let mut choice = Self {
            chosen: stored.unwrap_or_default(),
            boards: api.query("board.getVisible", Value::Null).await?,
        };
        // What is stored can always be left as it is.
        let (home, mobile_home) = (choice.home().to_owned(), choice.mobile_home().to_owned());
        choice
            .boards
            .sort_by_key(|board| board.id != home && board.id != mobile_home);
        choice.boards.truncate(MOST_CHOICES);
        if let Some(form) = sent {
            let of = |field| form.optional(field).map(str::to_owned);
            choice.chosen.home_board_id = of("homeBoardId");
            choice.chosen.mobile_home_board_id = of("mobileHomeBoardId");
        }
        Ok(choice)
    }

    /// The id of the chosen board; empty if none is chosen.
    pub fn home(&self) -> &str {
        self.chosen.home_board_id.as_deref().unwrap_or_default()
    }

    /// The same on phones.
    pub fn mobile_home(&self) -> &str {
        self.chosen.mobile_home_board_id.as_deref().unwrap_or_default()
    }
}

/// Stores what a form says. Returns what is in the way.
pub(super) async fn store(visit: &Visit, group_id: Option<&str>, form: &Form) -> Result<Problems, ApiError> {
    let input = json!({
        "groupId": group_id,
        "homeBoardId": form.optional("homeBoardId"),
        "mobileHomeBoardId": form.optional("mobileHomeBoardId"),
    });
    match visit.api.change("board.setDefaultHome", input).await {
        Ok(()) => Ok(Problems::default()),
        // The board was deleted while the form was open.
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            Ok(Problems::of(&error, &[], |text| visit.say(text)))
        }
        Err(error) => visit.problems(error, &[]),
    }
}
