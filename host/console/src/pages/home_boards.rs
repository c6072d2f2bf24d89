//! What people see first who have chosen no home board: a part of the pages of a group, and of who sees what.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tiles::BoardLink;
use crate::{
    api::{Api, ApiError},
    edits::{Merged, WasRead},
    form::{Form, Problems},
    visit::Visit,
};

/// The most boards to choose from.
const MOST_CHOICES: usize = 500;

/// The boards that are chosen, and those to choose from.
pub(super) struct HomeChoice {
    chosen: Chosen,
    pub boards: Vec<BoardLink>,
    /// What is stored now, as the form carries it.
    pub read: WasRead,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    group_id: Option<String>,
    home_board_id: Option<String>,
    mobile_home_board_id: Option<String>,
}

impl Chosen {
    async fn stored(api: &Api, group_id: Option<&str>) -> Result<Self, ApiError> {
        let stored: Vec<Self> = api.query("board.getDefaultHomes", Value::Null).await?;
        let mut stored = stored.into_iter();
        let stored = stored.find(|home| home.group_id.as_deref() == group_id);
        Ok(stored.unwrap_or_default())
    }

    fn fields(&self) -> [(&'static str, &str); 2] {
        [
            ("homeBoardId", self.home_board_id.as_deref().unwrap_or_default()),
            (
                "mobileHomeBoardId",
                self.mobile_home_board_id.as_deref().unwrap_or_default(),
            ),
        ]
    }

    /// What was chosen in a form, merged with what is stored by now.
    fn merged(&self, visit: &Visit, form: &Form, boards: &[BoardLink]) -> Merged {
        let fields = self
            .fields()
            .map(|(name, stored)| (name, stored, form.text(name).trim()));
        let mut merged = Merged::in_words(visit, form, &fields, |_, id| name_of(boards, id));
        let t = &visit.t.profile;
        merged.problems.lift("homeBoardId", t.home_board);
        merged.problems.lift("mobileHomeBoardId", t.mobile_home_board);
        merged
    }
}

/// The name of a chosen board; empty if there is none.
pub(super) fn name_of(boards: &[BoardLink], id: &str) -> String {
    let board = boards.iter().find(|board| board.id == id);
    board.map(|board| board.name.clone()).unwrap_or_default()
}

impl HomeChoice {
    /// Of a group, or of everyone. `sent` is a form that was refused.
    pub async fn read(visit: &Visit, group_id: Option<&str>, sent: Option<&Form>) -> Result<Self, ApiError> {
        let stored = Chosen::stored(&visit.api, group_id).await?;
        let mut choice = Self {
            read: WasRead::of(&stored.fields()),
            chosen: stored,
            boards: visit.api.query("board.getVisible", Value::Null).await?,
        };
        // What is stored can always be left as it is.
        let (home, mobile_home) = (choice.home().to_owned(), choice.mobile_home().to_owned());
        choice
            .boards
            .sort_by_key(|board| board.id != home && board.id != mobile_home);
        choice.boards.truncate(MOST_CHOICES);
        if let Some(form) = sent {
            // The form carries what is stored now, so it also shows that of what was not edited.
            let merged = choice.chosen.merged(visit, form, &choice.boards);
            let of = |field| merged.optional(field).map(str::to_owned);
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

/// Stores what was chosen in a form. Returns what is in the way.
pub(super) async fn store(visit: &Visit, group_id: Option<&str>, form: &Form) -> Result<Problems, ApiError> {
    let stored = Chosen::stored(&visit.api, group_id).await?;
    let boards: Vec<BoardLink> = visit.api.query("board.getVisible", Value::Null).await?;
    let merged = stored.merged(visit, form, &boards);
    if !merged.problems.is_empty() {
        return Ok(merged.problems);
    }
    let input = json!({
        "groupId": group_id,
        "homeBoardId": merged.optional("homeBoardId"),
        "mobileHomeBoardId": merged.optional("mobileHomeBoardId"),
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
