//! `board.getHome` and the boards that people see first who have chosen none: of a group, or of everyone.
//!
//! Invariants:
//! - What people have chosen comes before the first of their groups by name, and that before everyone's. On phones, a
//!   choice of a board for large screens alone counts, too, before those that come later.
//! - `board.getHome` names only boards that the caller may view.

use portico_model::{
    HomeBoards,
    error::{Code, Error},
};
use portico_rules::refusal::Missing;
use portico_storage::{Access, DashboardTransaction, DefaultHome};

use super::transaction::{not_found_if_referred, require_found};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Field, NULLABLE_TEXT,
        Shape::{self, List, Named, Nothing, Record},
        Shaped, join, records, required,
    },
};

const GROUP_ID: Field =
    required("groupId", NULLABLE_TEXT).about("The group whose members see them: its id; null: everyone.");
const BOARDS: &[Field] = &[
    required("homeBoardId", NULLABLE_TEXT).about("The board's id; null: all apps."),
    required("mobileHomeBoardId", NULLABLE_TEXT).about("The same on phones; null: the other one."),
];
const HOME: Shape = Named("HomeBoards", &Record(BOARDS));
const DEFAULT_HOMES: Shape = List(&Named("DefaultHome", &Record(join!(&[GROUP_ID], BOARDS))));

records! {
    struct SetDefaultHome {
        group_id: Option<String> = required("groupId", NULLABLE_TEXT)
            .about("The group whose members are to see them: its id; null: everyone."),
        home_board_id: Option<String> = required("homeBoardId", NULLABLE_TEXT)
            .about("The board's id; null: none."),
        mobile_home_board_id: Option<String> = required("mobileHomeBoardId", NULLABLE_TEXT)
            .about("The same on phones; null: the other one."),
    }
}

pub(super) static ROWS: &[Row] = &[
    query("board.getHome", Nothing, HOME, |call| Box::pin(get_home(call)))
        .public()
        .about(
            "The boards that the caller sees first: those that they have chosen (`user.changeHomeBoards`), or else of the first \
             of their groups, by name, that has some, or else everyone's. Only boards that they may view; of 20 groups.",
        ),
    query("board.getDefaultHomes", Nothing, DEFAULT_HOMES, |call| {
        Box::pin(get_default_homes(call))
    })
    .large()
    .about("The boards that people see first who have chosen none: everyone's, and those of groups."),
    mutation(
        "board.setDefaultHome",
        Named("SetDefaultHome", &SetDefaultHome::SHAPE),
        Nothing,
        |call| Box::pin(set_default_home(call)),
    )
    .about(
        "Sets the boards that the members of a group see first, or everyone does, who have chosen none; null removes them. \
         `NOT_FOUND`: no such group or board.",
    )
    .refuses(&[Code::NotFound]),
];

async fn get_home(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let user_id = call.identity.user_id();
    json(&home_of(&mut *transaction, user_id).await?)
}

async fn home_of(
    transaction: &mut dyn DashboardTransaction,
    user_id: Option<&str>,
) -> Result<HomeBoards, Error> {
    let user = match user_id {
        Some(id) => transaction.get_user(id).await?,
        None => None,
    };
    let chosen = user.map(|user| HomeBoards {
        home_board_id: user.home_board_id,
        mobile_home_board_id: user.mobile_home_board_id,
    });
    let others = transaction.list_default_homes_of(user_id).await?;
    // What is on phones; `Some(None)`: the same as elsewhere.
    let mut mobile = None;
    for boards in chosen.into_iter().chain(others) {
        let home = viewed(transaction, user_id, boards.home_board_id).await?;
        if mobile.is_none() {
            let own = viewed(transaction, user_id, boards.mobile_home_board_id).await?;
            mobile = (own.is_some() || home.is_some()).then_some(own);
        }
        if home.is_some() {
            return Ok(HomeBoards {
                home_board_id: home,
                mobile_home_board_id: mobile.flatten(),
            });
        }
    }
    Ok(HomeBoards {
        home_board_id: None,
        mobile_home_board_id: mobile.flatten(),
    })
}

/// The board, if the caller may view it.
async fn viewed(
    transaction: &mut dyn DashboardTransaction,
    user_id: Option<&str>,
    board_id: Option<String>,
) -> Result<Option<String>, Error> {
    match board_id {
        Some(id) if may_view(transaction, user_id, &id).await? => Ok(Some(id)),
        _ => Ok(None),
    }
}

async fn may_view(
    transaction: &mut dyn DashboardTransaction,
    user_id: Option<&str>,
    board_id: &str,
) -> Result<bool, Error> {
    match user_id {
        Some(user_id) => Ok(transaction.can_view_board(user_id, board_id).await?),
        None => {
            let board = transaction.get_board(board_id).await?;
            Ok(board.is_some_and(|board| board.board.is_public))
        }
    }
}

async fn get_default_homes(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_default_homes().await?)
}

async fn set_default_home(mut call: Call) -> Result<Output, Error> {
    let input: SetDefaultHome = call.input()?;
    let home = DefaultHome {
        group_id: input.group_id,
        boards: HomeBoards {
            home_board_id: input.home_board_id,
            mobile_home_board_id: input.mobile_home_board_id,
        },
    };
    let mut transaction = call.begin(Access::Write).await?;
    let set = transaction.set_default_home(&home).await;
    let is_there = set.map_err(|error| not_found_if_referred(error, Missing::Board))?;
    require_found(is_there, Missing::Group)?;
    transaction.commit().await?;
    json(&())
}
