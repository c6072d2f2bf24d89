//! `extras.*`: what clients keep about a user or a board where Portico has no field for it.
//!
//! It is one text for each record, which Portico keeps and does not read. It goes with its record.

use portico_model::error::{Code, Error};
use portico_storage::{ADMIN, Access, ExtrasOf};
use serde::{Deserialize, Serialize};

use super::{transaction::found, validate::Fields};
use crate::{
    procedures::{
        call::{ById, Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, ID, NULLABLE_TEXT,
        Shape::{self, Bounded, Named, Nothing, Nullable, Record, Text},
        required,
    },
};

/// The longest text about a user, in characters.
const MOST_OF_USER: usize = 8 << 10;
/// The longest text about a board, in characters: a thousand items with their places.
const MOST_OF_BOARD: usize = 256 << 10;

const OF_USER: Shape = Nullable(&Bounded(&Text, Bound::Length(0, MOST_OF_USER as u32)));
const OF_BOARD: Shape = Nullable(&Bounded(&Text, Bound::Length(0, MOST_OF_BOARD as u32)));

const EXTRAS: Shape = Named(
    "Extras",
    &Record(&[required("extras", NULLABLE_TEXT).about("What is kept about the record; null if nothing is.")]),
);

#[derive(Deserialize)]
struct Save {
    id: String,
    extras: Option<String>,
}

#[derive(Serialize)]
struct Extras {
    extras: Option<String>,
}

pub(super) static ROWS: &[Row] = &[
    query("extras.ofUser", ID, EXTRAS, |call| Box::pin(of_user(call)))
        .protected()
        .about(
            "What clients keep about a user. `FORBIDDEN`: another user's, for a caller without the permission \
             `admin`.",
        )
        .refuses(&[Code::Forbidden, Code::NotFound]),
    mutation(
        "extras.saveOfUser",
        Record(&[
            required("id", Text).about("Which user: their id."),
            required("extras", OF_USER).about("What is kept, at most 8,192 characters; null: nothing."),
        ]),
        Nothing,
        |call| Box::pin(save_of_user(call)),
    )
    .protected()
    .about(
        "Replaces what clients keep about a user. `FORBIDDEN`: another user's, for a caller without the permission \
         `admin`.",
    )
    .refuses(&[Code::NotFound]),
    query("extras.ofBoard", ID, EXTRAS, |call| Box::pin(of_board(call)))
        .public()
        .about(
            "What clients keep about a board that the caller may view. `NOT_FOUND`: there is none, or the caller may \
             not view it.",
        )
        .refuses(&[Code::NotFound]),
    mutation(
        "extras.saveOfBoard",
        Record(&[
            required("id", Text).about("Which board: its id."),
            required("extras", OF_BOARD).about("What is kept, at most 262,144 characters; null: nothing."),
        ]),
        Nothing,
        |call| Box::pin(save_of_board(call)),
    )
    .about("Replaces what clients keep about a board.")
    .refuses(&[Code::NotFound]),
];

/// Refuses the extras of another user to a caller who is no administrator.
fn check_own(call: &Call, user_id: &str) -> Result<(), Error> {
    let is_admin = call
        .identity
        .permissions()
        .iter()
        .any(|permission| permission == ADMIN);
    if is_admin || call.identity.user_id() == Some(user_id) {
        return Ok(());
    }
    let message = "This needs the permission admin: it is about another user";
    Err(Error::new(Code::Forbidden, message))
}

async fn of_user(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    check_own(&call, &input.id)?;
    let mut transaction = call.begin(Access::Read).await?;
    let of = ExtrasOf::User(input.id.clone());
    let extras = transaction.get_extras(&of).await?;
    let is_there = extras.is_some() || transaction.get_session_user(&input.id).await?.is_some();
    found(is_there, "User")?;
    json(&Extras { extras })
}

async fn save_of_user(mut call: Call) -> Result<Output, Error> {
    let input: Save = call.input()?;
    check_own(&call, &input.id)?;
    save(call, ExtrasOf::User(input.id), input.extras, MOST_OF_USER, "User").await
}

async fn of_board(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    super::boards::check_visible(&call, &mut *transaction, &input.id).await?;
    let extras = transaction.get_extras(&ExtrasOf::Board(input.id)).await?;
    json(&Extras { extras })
}

async fn save_of_board(mut call: Call) -> Result<Output, Error> {
    let input: Save = call.input()?;
    save(
        call,
        ExtrasOf::Board(input.id),
        input.extras,
        MOST_OF_BOARD,
        "Board",
    )
    .await
}

async fn save(
    call: Call,
    of: ExtrasOf,
    extras: Option<String>,
    most: usize,
    what: &str,
) -> Result<Output, Error> {
    let mut fields = Fields::default();
    let extras = fields.text("extras", extras.as_deref(), most);
    fields.check()?;
    let mut transaction = call.begin(Access::Write).await?;
    found(transaction.set_extras(&of, extras.as_deref()).await?, what)?;
    transaction.commit().await?;
    json(&())
}
