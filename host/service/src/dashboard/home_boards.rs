//! `board.getHome` and the boards that people see first who have chosen none: of a group, or of everyone.
//!
//! Invariants:
//! - What people have chosen comes before the first of their groups by name, and that before everyone's.
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
        ..boards: HomeBoards,
    }
}

pub(super) static ROWS: &[Row] = &[
    query("board.getHome", Nothing, HOME, |call| Box::pin(get_home(call)))
        .public()
        .about(
            "The boards that the caller sees first: those that they have chosen (`user.changeHomeBoards`), or else of the first \
             of their groups, by name, that has some, or else everyone's. Only boards that they may view.",
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
    if let Some(id) = user_id
        && let Some(user) = transaction.get_user(id).await?
    {
        let chosen = HomeBoards {
            home_board_id: user.home_board_id,
            mobile_home_board_id: user.mobile_home_board_id,
        };
        let mut seen = HomeBoards::default();
        take(transaction, user_id, &mut seen, chosen).await?;
        // Neither is mixed with those of others.
        if seen != HomeBoards::default() {
            return Ok(seen);
        }
    }
    let mut home = HomeBoards::default();
    for boards in transaction.list_default_homes_of(user_id).await? {
        take(transaction, user_id, &mut home, boards).await?;
    }
    Ok(home)
}

/// Fills in what is still missing, as far as the caller may view it.
async fn take(
    transaction: &mut dyn DashboardTransaction,
    user_id: Option<&str>,
    home: &mut HomeBoards,
    boards: HomeBoards,
) -> Result<(), Error> {
    for (place, board) in [
        (&mut home.home_board_id, boards.home_board_id),
        (&mut home.mobile_home_board_id, boards.mobile_home_board_id),
    ] {
        if place.is_none()
            && let Some(id) = board
            && may_view(transaction, user_id, &id).await?
        {
            *place = Some(id);
        }
    }
    Ok(())
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
    let SetDefaultHome { group_id, boards } = call.input()?;
    let home = DefaultHome { group_id, boards };
    let mut transaction = call.begin(Access::Write).await?;
    let set = transaction.set_default_home(&home).await;
    let is_there = set.map_err(|error| not_found_if_referred(error, Missing::Board))?;
    require_found(is_there, Missing::Group)?;
    transaction.commit().await?;
    json(&())
}
