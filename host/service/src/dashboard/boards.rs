//! `board.*`: the boards that show apps, with only as much as apps need.
//!
//! Invariant: a board that the caller may not view is treated like one that does not exist.

use portico_model::error::{Code, Error};
use portico_rules::bounds;
use portico_storage::{Access, Authentication, Board, BoardItem, BoardSummary, DashboardTransaction};

use super::{
    transaction::{found, free, referred},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{ById, Call, Created, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, Field, NAMED, NULLABLE_TEXT,
        Shape::{self, Boolean, Bounded, List, Named, Nothing, Record, Tagged, Text},
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

const SHARES: Shape = Bounded(&List(&Text), Bound::Count(0, MOST_ITEMS as u32));

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
            .about("Whether everyone may view it, signed in or not."),
        items: Vec<BoardItem> = required("items", SOME_ITEMS)
            .about("Its items, in this order; bookmarks of at most as many apps."),
    }

    struct Update {
        id: String = required("id", Text).about("Which board: its id."),
        ..board: NewBoard,
    }

    struct GetShares {
        board_id: String = required("boardId", Text).about("Which board: its id."),
    }

    struct Share {
        board_id: String = required("boardId", Text).about("Which board: its id."),
        users: Vec<String> = required("users", SHARES).about("Who may view it from now on: ids of users."),
        groups: Vec<String> = required("groups", SHARES)
            .about("Whose members may view it from now on: ids of groups."),
    }
}

const BOARD: Shape = Named(
    "Board",
    &Record(join!(
        SUMMARY,
        &[required("items", ITEMS).about("Its items, in this order.")],
    )),
);

const SHARED_WITH: Shape = Named(
    "BoardShares",
    &Record(&[
        required("users", List(&NAMED)).about("Users, by name."),
        required("groups", List(&NAMED)).about("Groups, by name."),
    ]),
);

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
    query("board.byId", ID, BOARD, |call| Box::pin(by_id(call)))
        .public()
        .about("A board that the caller may view. `NOT_FOUND`: there is none, or the caller may not view it.")
        .at("GET", "/api/boards/{id}")
        .refuses(&[Code::NotFound]),
    mutation("board.create", NewBoard::SHAPE, ID, |call| {
        Box::pin(create(call))
    })
    .about("Makes a board and answers its id. `NOT_FOUND`: no such app.")
    .at("POST", "/api/boards")
    .refuses(&[Code::NotFound, Code::Conflict]),
    mutation("board.update", Update::SHAPE, Nothing, |call| {
        Box::pin(update(call))
    })
    .about("Replaces a board with its items. Its creator and its shares stay. `NOT_FOUND`: no such board or app.")
    .at("PUT", "/api/boards/{id}")
    .refuses(&[Code::NotFound, Code::Conflict]),
    query("board.getShares", GetShares::SHAPE, SHARED_WITH, |call| {
        Box::pin(get_shares(call))
    })
    .about("With whom a board is shared: who may view it beside its creator and those who may view all boards.")
    .at("GET", "/api/boards/{boardId}/shares")
    .refuses(&[Code::NotFound]),
    mutation("board.share", Share::SHAPE, Nothing, |call| {
        Box::pin(share(call))
    })
    .about("Sets with whom a board is shared. `NOT_FOUND`: no such board, user or group.")
    .at("PUT", "/api/boards/{boardId}/shares")
    .refuses(&[Code::NotFound]),
    mutation("board.delete", ID, Nothing, |call| Box::pin(delete(call)))
        .about("Deletes a board. Users whose home board it was have none.")
        .at("DELETE", "/api/boards/{id}")
        .refuses(&[Code::NotFound]),
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

/// Bounds the number of users and groups that a board is shared with.
pub(super) fn check_shares(fields: &mut Fields, users: usize, groups: usize) {
    fields.count("users", users, MOST_ITEMS);
    fields.count("groups", groups, MOST_ITEMS);
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

async fn by_id(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    json(&visible(&call, &mut *transaction, &input.id).await?)
}

/// Refuses a caller who may not view this board as if it did not exist.
async fn check_view(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    board: &Board,
) -> Result<(), Error> {
    let visible = match call.identity.user_id() {
        _ if board.board.is_public || call.identity.authentication == Authentication::Operator => true,
        Some(user_id) => transaction.can_view_board(user_id, &board.board.id).await?,
        None => false,
    };
    found(visible, "Board")
}

/// The board of this id, if the caller may view it. Otherwise fails as if it did not exist.
pub(super) async fn visible(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    id: &str,
) -> Result<Board, Error> {
    let board = transaction.get_board(id).await?;
    let board = board.ok_or_else(|| Error::not_found("Board"))?;
    check_view(call, transaction, &board).await?;
    Ok(board)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: NewBoard = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &input.name);
    fields.keeps_direction("name", &name, None);
    check_items(&mut fields, &input.items, apps_of);
    fields.check()?;

    let name_key = call.resources.sandbox.name_key(call.context(), &name).await?;
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
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
    free(
        inserted.map_err(|error| referred(error, "App"))?,
        "The board's name",
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

    let name_key = call.resources.sandbox.name_key(call.context(), &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    let present = transaction.get_board(&id).await?;
    let present = present.ok_or_else(|| Error::not_found("Board"))?.board;
    let mut fields = Fields::default();
    fields.keeps_direction("name", &name, Some(&present.name));
    fields.check()?;
    let board = Board {
        board: BoardSummary {
            name,
            is_public: new.is_public,
            ..present
        },
        items: new.items,
    };
    let updated = transaction.update_board(&board, &name_key).await;
    free(
        updated.map_err(|error| referred(error, "App"))?,
        "The board's name",
    )?;
    transaction.commit().await?;
    json(&())
}

async fn get_shares(mut call: Call) -> Result<Output, Error> {
    let input: GetShares = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let shares = transaction.get_named_shares(&input.board_id).await?;
    json(&shares.ok_or_else(|| Error::not_found("Board"))?)
}

async fn share(mut call: Call) -> Result<Output, Error> {
    let input: Share = call.input()?;
    let mut fields = Fields::default();
    check_shares(&mut fields, input.users.len(), input.groups.len());
    fields.check()?;

    let mut transaction = call.begin(Access::Write).await?;
    let shared = transaction
        .share_board(&input.board_id, &input.users, &input.groups)
        .await;
    found(shared.map_err(|error| referred(error, "User or group"))?, "Board")?;
    transaction.commit().await?;
    json(&())
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    found(transaction.delete_board(&input.id).await?, "Board")?;
    transaction.commit().await?;
    json(&())
}
