//! `extras.*`: what clients store about a user or a board where Portico has no field for it.
//!
//! It is one text for each record, which Portico stores but does not read. It is deleted with its record.
//!
//! Invariant: a client that saves with the version that it has read never overwrites a later change. The version is
//! checked in the transaction that writes, so this holds between hosts as well.

use portico_model::error::{Code, Error};
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_storage::{ADMIN, Access, Board, BoardItem, ExtrasOf, Section, hash_secret};
use serde::Serialize;

use super::{
    boards::{
        self, Right,
        arrangement::{Arrangement, ITEMS_ABOUT, SECTIONS_ABOUT, SOME_ITEMS, SOME_SECTIONS},
        board_for, check_apps, check_public,
    },
    transaction::{not_found_if_referred, require_found, require_name_free},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, NULLABLE_TEXT,
        Shape::{self, Boolean, Bounded, Named, Nothing, Nullable, Record, Text},
        Shaped, optional, records, required,
    },
};

const OF_USER: Shape = Nullable(&Bounded(&Text, Bound::Length(0, ExtrasOf::MOST_OF_USER as u32)));
const OF_BOARD: Shape = Nullable(&Bounded(&Text, Bound::Length(0, ExtrasOf::MOST_OF_BOARD as u32)));

const EXTRAS: Shape = Named(
    "Extras",
    &Record(&[
        required("extras", NULLABLE_TEXT).about("What is kept about the record; null if nothing is."),
        required("version", Text).about(
            "Which state was read. For a board it changes also with its name, visibility and what is on it.",
        ),
    ]),
);

const VERSION_ABOUT: &str = "The version that was read: `CONFLICT` if another one is stored by now. Absent: it is \
                             replaced in any case.";

records! {
    struct SaveOfUser {
        id: String = required("id", Text).about("Which user: their id."),
        extras: Option<String> = required("extras", OF_USER)
            .about("What is kept, at most 8,192 characters; null: nothing."),
        version: Option<String> = optional("version", Text).about(VERSION_ABOUT),
    }

    struct SaveOfBoard {
        id: String = required("id", Text).about("Which board: its id."),
        extras: Option<String> = required("extras", OF_BOARD)
            .about("What is kept, at most 262,144 characters; null: nothing."),
        version: Option<String> = optional("version", Text).about(VERSION_ABOUT),
        name: Option<String> = optional("name", LABEL).about("The board's new name; absent: it stays."),
        is_public: Option<bool> = optional("isPublic", Boolean)
            .about("Whether everyone may view it from now on; absent: as before."),
        items: Option<Vec<BoardItem>> = optional("items", SOME_ITEMS).about(ITEMS_ABOUT),
        sections: Option<Vec<Section>> = optional("sections", SOME_SECTIONS).about(SECTIONS_ABOUT),
    }
}

#[derive(Serialize)]
struct Extras {
    extras: Option<String>,
    version: String,
}

pub(super) static ROWS: &[Row] = &[
    query("extras.ofUser", ID, EXTRAS, |call| Box::pin(of_user(call)))
        .protected()
        .about(
            "What clients keep about a user. `FORBIDDEN`: another user's, for a caller without the permission \
             `admin`.",
        )
        .refuses(&[Code::Forbidden, Code::NotFound]),
    mutation("extras.saveOfUser", SaveOfUser::SHAPE, Nothing, |call| {
        Box::pin(save_of_user(call))
    })
    .protected()
    .about(
        "Replaces what clients keep about a user. `FORBIDDEN`: another user's, for a caller without the permission \
         `admin`.",
    )
    .refuses(&[Code::NotFound, Code::Conflict]),
    query("extras.ofBoard", ID, EXTRAS, |call| Box::pin(of_board(call)))
        .public()
        .about(
            "What clients keep about a board that the caller may view. `NOT_FOUND`: there is none, or the caller may \
             not view it.",
        )
        .refuses(&[Code::NotFound]),
    mutation("extras.saveOfBoard", SaveOfBoard::SHAPE, Nothing, |call| {
        Box::pin(save_of_board(call))
    })
    .protected()
    .large()
    .about(
        "Replaces what clients keep about a board, and what is given of the board, in one change, for callers who may \
         change it (`board.update`). `NOT_FOUND`: no such board or app.",
    )
    .refuses(&[Code::Forbidden, Code::NotFound, Code::Conflict]),
];

/// Refuses the extras of another user to a caller who is not an administrator.
fn check_own(call: &Call, user_id: &str) -> Result<(), Error> {
    let is_admin = call
        .identity
        .permissions()
        .iter()
        .any(|permission| permission == ADMIN);
    if is_admin || call.identity.user_id() == Some(user_id) {
        return Ok(());
    }
    Err(Refusal::NotYourExtras.into())
}

async fn of_user(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    check_own(&call, &input.id)?;
    let mut transaction = call.begin(Access::Read).await?;
    let of = ExtrasOf::User(input.id.clone());
    let extras = transaction.get_extras(&of).await?;
    let is_there = extras.is_some() || transaction.get_session_user(&input.id).await?.is_some();
    require_found(is_there, Missing::User)?;
    let version = version(None, extras.as_deref());
    json(&Extras { extras, version })
}

async fn save_of_user(mut call: Call) -> Result<Output, Error> {
    let input: SaveOfUser = call.input()?;
    check_own(&call, &input.id)?;
    let mut fields = Fields::default();
    let extras = fields.text("extras", input.extras.as_deref(), ExtrasOf::MOST_OF_USER);
    fields.check()?;

    let of = ExtrasOf::User(input.id);
    let mut transaction = call.begin(Access::Write).await?;
    let present = transaction.get_extras(&of).await?;
    // It returns whether there is such a user, and changes nothing without the commit.
    require_found(
        transaction.set_extras(&of, extras.as_deref()).await?,
        Missing::User,
    )?;
    check_version(input.version, || version(None, present.as_deref()))?;
    transaction.commit().await?;
    json(&())
}

async fn of_board(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let board = board_for(&call, &mut *transaction, &input.id, Right::View).await?;
    let extras = transaction.get_extras(&ExtrasOf::Board(input.id)).await?;
    let version = version(Some(&board), extras.as_deref());
    json(&Extras { extras, version })
}

async fn save_of_board(mut call: Call) -> Result<Output, Error> {
    let input: SaveOfBoard = call.input()?;
    let mut fields = Fields::default();
    let extras = fields.text("extras", input.extras.as_deref(), ExtrasOf::MOST_OF_BOARD);
    let name = input.name.map(|name| boards::check_name(&mut fields, &name));
    let arrangement = Arrangement::read(&mut fields, input.items, input.sections);
    fields.check()?;

    // No write transaction is open while the component computes the name's key.
    let (name, is_own) = match name {
        Some(name) => (name, false),
        None => (name_of(&call, &input.id).await?, true),
    };
    let key = boards::key_of(&mut call, &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    let mut board = board_for(&call, &mut *transaction, &input.id, Right::Change).await?;
    let of = ExtrasOf::Board(input.id);
    let kept = transaction.get_extras(&of).await?;
    check_version(input.version, || version(Some(&board), kept.as_deref()))?;
    if is_own && name != board.board.name {
        return Err(changed());
    }
    let is_public = input.is_public.unwrap_or(board.board.is_public);
    check_public(&call, board.board.is_public, is_public)?;
    let sections = arrangement.map(|arrangement| arrangement.on(&board.sections));
    if let Some(sections) = &sections {
        check_apps(&call, &mut *transaction, sections, &board.sections, is_public).await?;
    }
    if !is_own || input.is_public.is_some() || sections.is_some() {
        let mut fields = Fields::default();
        fields.keeps_direction("name", &name, Some(&board.board.name));
        fields.check()?;
        board.board.name = name;
        board.board.is_public = is_public;
        board.sections = sections.unwrap_or(board.sections);
        let updated = transaction.update_board(&board, &key).await;
        let is_free = updated.map_err(|error| not_found_if_referred(error, Missing::App))?;
        require_name_free(is_free, UniqueName::Board)?;
    }
    require_found(
        transaction.set_extras(&of, extras.as_deref()).await?,
        Missing::Board,
    )?;
    transaction.commit().await?;
    json(&())
}

async fn name_of(call: &Call, board_id: &str) -> Result<String, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let board = board_for(call, &mut *transaction, board_id, Right::Change).await?;
    Ok(board.board.name)
}

/// Identifies a state of a record: a hash of what is stored about it and, for a board, of the board.
fn version(board: Option<&Board>, extras: Option<&str>) -> String {
    let state = serde_json::to_string(&(board, extras)).unwrap_or_default();
    let hash = hash_secret(&state);
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a change that is based on another state than the stored one.
fn check_version(read: Option<String>, stored: impl FnOnce() -> String) -> Result<(), Error> {
    if read.is_none_or(|read| read == stored()) {
        return Ok(());
    }
    Err(changed())
}

fn changed() -> Error {
    Refusal::VersionChanged.into()
}
