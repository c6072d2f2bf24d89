//! `board.*`: the boards that show apps, with only as much as apps need.
//!
//! `rights.rs` says who may do what.

mod rights;
pub(super) mod sharing;

use portico_model::error::{Code, Error};
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_rules::{bounds, permissions::Permission};
use portico_sandbox::{self as sandbox, Kind};
use portico_storage::{Access, Authentication, Board, BoardItem, BoardSummary};
use serde::Serialize;

pub(super) use self::rights::{Right, board_for, check_apps, check_public};
use self::rights::{holds, right_by_permission, right_to};
use super::{
    transaction::{not_found_if_referred, require_found, require_name_free},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{ById, Call, Created, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, Field, NULLABLE_TEXT,
        Shape::{self, Boolean, Bounded, Choice, List, Named, Nothing, Record, Tagged, Text},
        Shaped, join, records, required,
    },
};

pub(super) const MOST_ITEMS: usize = 1000;

const ITEMS: Shape = List(&Named(
    "BoardItem",
    &Tagged(&[
        ("app", &[required("appId", Text).about("Which app: its id.")]),
        (
            "bookmarks",
            &[required("appIds", List(&Text)).about("Which apps, in this order: their ids.")],
        ),
    ]),
));

const SUMMARY: &[Field] = &[
    required("id", Text).about("The board's id."),
    required("name", Text).about("The board's name, unique."),
    required("isPublic", Boolean).about("Whether everyone may view it, signed in or not."),
    required("creatorId", NULLABLE_TEXT).about("Who made it; null once they are gone."),
];

records! {
    struct NewBoard {
        name: String = required("name", LABEL)
            .about("1 to 64 characters on one line, trimmed; unique."),
        is_public: bool = required("isPublic", Boolean)
            .about(
                "Whether everyone may view it, signed in or not. To change it, callers need the permission \
                 `board-full-all`."
            ),
        items: Vec<BoardItem> = required("items", SOME_ITEMS)
            .about("Its items, in this order; bookmarks of at most as many apps."),
    }

    struct Update {
        id: String = required("id", Text).about("Which board: its id."),
        ..board: NewBoard,
    }
}

/// A board that the caller may change.
#[derive(Serialize)]
struct Changeable {
    #[serde(flatten)]
    board: BoardSummary,
    right: Right,
}

/// What the caller may do with a board.
#[derive(Serialize)]
struct Rights {
    right: Right,
}

const BOARD: Shape = Named(
    "Board",
    &Record(join!(
        SUMMARY,
        &[required("items", ITEMS).about("Its items, in this order.")],
    )),
);

const RIGHT: Field = required("right", Choice(&Right::NAMES)).about(
    "What the caller may do with it, each including those before: `view` it; `change` its name and items; `full`: \
     share and delete it.",
);
const CHANGEABLE: Shape = List(&Named("ChangeableBoard", &Record(join!(SUMMARY, &[RIGHT]))));

const SUMMARIES: Shape = List(&Named("BoardSummary", &Record(SUMMARY)));

/// The items of a board, up to the largest number.
pub(super) const SOME_ITEMS: Shape = Bounded(&ITEMS, Bound::Count(0, MOST_ITEMS as u32));

pub(super) static ROWS: &[Row] = &[
    query("board.getAll", Nothing, SUMMARIES, |call| Box::pin(get_all(call)))
        .large()
    .about("All boards without their items, by name."),
    query("board.getVisible", Nothing, SUMMARIES, |call| {
        Box::pin(get_visible(call))
    })
    .public()
    .large()
    .about("The boards that the caller may view, without their items, by name.")
    .at("GET", "/api/boards"),
    query("board.getChangeable", Nothing, CHANGEABLE, |call| {
        Box::pin(get_changeable(call))
    })
    .protected()
    .large()
    .about("The boards that the caller may change, without their items, by name."),
    query("board.getRight", ID, Record(&[RIGHT]), |call| {
        Box::pin(get_right(call))
    })
    .public()
    .about("What the caller may do with a board. `NOT_FOUND`: there is none, or the caller may not view it.")
    .refuses(&[Code::NotFound]),
    query("board.byId", ID, BOARD, |call| Box::pin(by_id(call)))
        .public()
        .about("A board that the caller may view. `NOT_FOUND`: there is none, or the caller may not view it.")
        .at("GET", "/api/boards/{id}")
        .refuses(&[Code::NotFound]),
    mutation("board.create", NewBoard::SHAPE, ID, |call| {
        Box::pin(create(call))
    })
    .needs(Permission::BoardCreate)
    .large()
    .about(
        "Makes a board and returns its id. `FORBIDDEN`: it is to be public, for a caller without the permission \
         `board-full-all`; `NOT_FOUND`: no such app, or the caller does not see it.",
    )
    .at("POST", "/api/boards")
    .refuses(&[Code::Forbidden, Code::NotFound, Code::Conflict]),
    mutation("board.update", Update::SHAPE, Nothing, |call| {
        Box::pin(update(call))
    })
    .protected()
    .large()
    .about(
        "Replaces a board with its items, for callers who may change it: who made it, with whom it is shared to change \
         it, and holders of `board-modify-all`. Its creator and its shares stay. `FORBIDDEN`: the caller may only view \
         the board, or changes `isPublic` without the permission `board-full-all`; `NOT_FOUND`: no such board or app, or \
         the caller does not see it.",
    )
    .at("PUT", "/api/boards/{id}")
    .refuses(&[Code::Forbidden, Code::NotFound, Code::Conflict]),
    mutation("board.delete", ID, Nothing, |call| Box::pin(delete(call)))
        .protected()
        .about(
            "Deletes a board, for who made it and holders of `board-full-all`. Users whose home board it was have none.",
        )
        .at("DELETE", "/api/boards/{id}")
        .refuses(&[Code::Forbidden, Code::NotFound]),
];

/// Checks the name of a board, and trims it. The caller checks a new one with [`Fields::keeps_direction`].
pub(super) fn check_name(fields: &mut Fields, name: &str) -> String {
    fields.label("name", name, bounds::LABEL)
}

/// Bounds the number of items, and the number of apps in each.
pub(super) fn check_items<T>(fields: &mut Fields, items: &[T], apps: impl Fn(&T) -> usize) {
    fields.count("items", items.len(), MOST_ITEMS);
    for item in items {
        fields.count("items", apps(item), MOST_ITEMS);
    }
}

/// The number of apps in an item.
pub(super) fn apps_of(item: &BoardItem) -> usize {
    match item {
        BoardItem::App { .. } => 1,
        BoardItem::Bookmarks { app_ids } => app_ids.len(),
    }
}

/// The name-key of a board. The wait for an instance may have been long, so afterwards the caller is as they are now.
pub(super) async fn key_of(call: &mut Call, name: &str) -> Result<String, Error> {
    let key = call.resources.sandbox.name_key(call.context(), name).await?;
    if call.renew_caller().await? {
        call.identity.check(&sandbox::Access::Protected, Kind::Mutation)?;
    }
    Ok(key)
}

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_boards().await?)
}

async fn get_visible(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let boards = match call.identity.authentication {
        Authentication::Operator => transaction.list_boards().await?,
        _ => transaction.list_visible_boards(call.identity.user_id()).await?,
    };
    json(&boards)
}

async fn get_changeable(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let boards = match call.identity.user_id() {
        Some(user_id) if !holds(&call, Permission::BoardModifyAll) => {
            transaction.list_changeable_boards(user_id).await?
        }
        _ => transaction.list_boards().await?,
    };
    let changeable = boards.into_iter().map(|board| {
        let right = right_by_permission(&call, &board).unwrap_or(Right::Change);
        Changeable {
            right: right.max(Right::Change),
            board,
        }
    });
    json(&changeable.collect::<Vec<_>>())
}

async fn get_right(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let board = transaction.get_board(&input.id).await?;
    let board = board.ok_or_else(|| Error::not_found(Missing::Board))?.board;
    let right = right_to(&call, &mut *transaction, &board).await?;
    json(&Rights { right })
}

async fn by_id(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    json(&board_for(&call, &mut *transaction, &input.id, Right::View).await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: NewBoard = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &input.name);
    fields.keeps_direction("name", &name, None);
    check_items(&mut fields, &input.items, apps_of);
    fields.check()?;

    let name_key = key_of(&mut call, &name).await?;
    if !holds(&call, Permission::BoardCreate) {
        let permission = Permission::BoardCreate.name().into();
        return Err(Refusal::NeedsPermission { permission }.into());
    }
    check_public(&call, false, input.is_public)?;
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
    check_apps(&call, &mut *transaction, &input.items, &[], input.is_public).await?;
    let board = Board {
        board: BoardSummary {
            id: call.resources.new_id(),
            name,
            is_public: input.is_public,
            creator_id,
        },
        items: input.items,
    };
    let inserted = transaction.insert_board(&board, &name_key).await;
    require_name_free(
        inserted.map_err(|error| not_found_if_referred(error, Missing::App))?,
        UniqueName::Board,
    )?;
    transaction.commit().await?;
    json(&Created { id: board.board.id })
}

async fn update(mut call: Call) -> Result<Output, Error> {
    let Update { id, board: new } = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &new.name);
    check_items(&mut fields, &new.items, apps_of);
    fields.check()?;

    let name_key = key_of(&mut call, &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    let present = board_for(&call, &mut *transaction, &id, Right::Change).await?;
    let mut fields = Fields::default();
    fields.keeps_direction("name", &name, Some(&present.board.name));
    fields.check()?;
    check_public(&call, present.board.is_public, new.is_public)?;
    check_apps(
        &call,
        &mut *transaction,
        &new.items,
        &present.items,
        new.is_public,
    )
    .await?;
    let board = Board {
        board: BoardSummary {
            name,
            is_public: new.is_public,
            ..present.board
        },
        items: new.items,
    };
    let updated = transaction.update_board(&board, &name_key).await;
    require_name_free(
        updated.map_err(|error| not_found_if_referred(error, Missing::App))?,
        UniqueName::Board,
    )?;
    transaction.commit().await?;
    json(&())
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    board_for(&call, &mut *transaction, &input.id, Right::Full).await?;
    require_found(transaction.delete_board(&input.id).await?, Missing::Board)?;
    transaction.commit().await?;
    json(&())
}
