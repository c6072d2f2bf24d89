//! `board.*`: the boards that show apps, with only as much as apps need.
//!
//! `rights.rs` says who may do what, `arrangement.rs` what is on a board, and `bounds.rs` how much.

pub(super) mod arrangement;
pub(super) mod bounds;
mod rights;
pub(super) mod sharing;

use portico_model::{
    TextChange,
    error::{Code, Error},
};
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_rules::{bounds::LABEL as LABEL_LENGTH, permissions::Permission, rule::Rule};
use portico_sandbox::{self as sandbox, Kind};
use portico_storage::{
    Access, Authentication, Board, BoardItem, BoardSummary, DashboardTransaction, Section,
};
use serde::Serialize;

use self::arrangement::{
    Arrangement, ITEMS, ITEMS_ABOUT, SECTIONS, SECTIONS_ABOUT, SOME_ITEMS, SOME_SECTIONS,
};
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
        Shape::{self, Boolean, Bounded, Choice, List, Named, Nothing, Nullable, Record, Text},
        Shaped, join, optional, records, required,
    },
};

/// The most letters and digits of a short address.
const MOST_OF_SLUG: usize = 64;
pub(super) const SLUG: Shape = Nullable(&Bounded(&Text, Bound::Pattern("^[a-z0-9](-?[a-z0-9]){0,63}$")));
pub(super) const SLUG_ABOUT: &str = "Its short address, `/b/` and this: 1 to 64 letters `a` to `z` and digits, with \
                                     single hyphens between them; unique. Null: none.";

const SUMMARY: &[Field] = &[
    required("id", Text).about("The board's id."),
    required("name", Text).about("The board's name, unique."),
    required("slug", NULLABLE_TEXT).about("Its short address, unique; null if it has none."),
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
        #[serde(default)]
        slug: TextChange = optional("slug", SLUG).about(SLUG_ABOUT),
        items: Option<Vec<BoardItem>> = optional("items", SOME_ITEMS).about(ITEMS_ABOUT),
        sections: Option<Vec<Section>> = optional("sections", SOME_SECTIONS).about(SECTIONS_ABOUT),
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
        &[
            required("items", ITEMS).about("What is on it without sections and sizes, in this order."),
            required("sections", SECTIONS).about("What is on it, in sections: at least one."),
        ],
    )),
);

const RIGHT: Field = required("right", Choice(&Right::NAMES)).about(
    "What the caller may do with it, each including those before: `view` it; `change` its \
     name, its short address and what is on it; `full`: share and delete it.",
);
const CHANGEABLE: Shape = List(&Named("ChangeableBoard", &Record(join!(SUMMARY, &[RIGHT]))));

const SUMMARIES: Shape = List(&Named("BoardSummary", &Record(SUMMARY)));

records! {
    struct BySlug {
        slug: String = required("slug", Text).about("The board's short address."),
    }
}

pub(super) static ROWS: &[Row] = &[
    query("board.getAll", Nothing, SUMMARIES, |call| Box::pin(get_all(call)))
        .large()
    .about("All boards without what is on them, by name."),
    query("board.getVisible", Nothing, SUMMARIES, |call| {
        Box::pin(get_visible(call))
    })
    .public()
    .large()
    .about("The boards that the caller may view, without what is on them, by name.")
    .at("GET", "/api/boards"),
    query("board.getChangeable", Nothing, CHANGEABLE, |call| {
        Box::pin(get_changeable(call))
    })
    .protected()
    .large()
    .about("The boards that the caller may change, without what is on them, by name."),
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
    query("board.bySlug", BySlug::SHAPE, BOARD, |call| {
        Box::pin(by_slug(call))
    })
    .public()
    .about(
        "A board that the caller may view, by its short address. `NOT_FOUND`: there is none, or the caller may not view \
         it.",
    )
    .at("GET", "/api/boards/by-slug/{slug}")
    .refuses(&[Code::NotFound]),
    mutation("board.create", NewBoard::SHAPE, ID, |call| {
        Box::pin(create(call))
    })
    .needs(Permission::BoardCreate)
    .large()
    .about(
        "Makes a board of `sections`, or of `items`, and returns its id. `FORBIDDEN`: it is to be public, for a caller without the permission \
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
        "Replaces a board with what is on it, for callers who may change it: who made it, with whom it is shared to change \
         it, and holders of `board-modify-all`. Its creator and its shares stay, and without `slug` its short address. `FORBIDDEN`: the caller may only view \
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
    fields.label("name", name, LABEL_LENGTH)
}

/// Checks a short address, and trims it.
pub(super) fn check_slug(fields: &mut Fields, slug: TextChange) -> TextChange {
    let TextChange::Set(text) = slug else {
        return slug;
    };
    let text = text.trim();
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let letters = text.bytes().filter(|byte| *byte != b'-').count();
    if letters > MOST_OF_SLUG || !text.split('-').all(is_part) {
        fields.refuse("slug", Rule::NotSlug { most: MOST_OF_SLUG });
    }
    TextChange::Set(text.to_owned())
}

/// What is to be on a board, of which the caller says one or the other.
fn required_arrangement(
    fields: &mut Fields,
    items: Option<Vec<BoardItem>>,
    sections: Option<Vec<Section>>,
) -> Arrangement {
    Arrangement::read(fields, items, sections).unwrap_or_else(|| {
        fields.refuse("items", Rule::RequiredItems);
        Arrangement::Items(Vec::new())
    })
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

async fn by_slug(mut call: Call) -> Result<Output, Error> {
    let input: BySlug = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let id = transaction.find_board(&input.slug).await?;
    // No board has an empty id: then the same is asked as of one that is hidden.
    let id = id.unwrap_or_default();
    json(&board_for(&call, &mut *transaction, &id, Right::View).await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: NewBoard = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &input.name);
    fields.keeps_direction("name", &name, None);
    let slug = check_slug(&mut fields, input.slug);
    let arrangement = required_arrangement(&mut fields, input.items, input.sections);
    fields.check()?;

    let name_key = key_of(&mut call, &name).await?;
    if !holds(&call, Permission::BoardCreate) {
        let permission = Permission::BoardCreate.name().into();
        return Err(Refusal::NeedsPermission { permission }.into());
    }
    check_public(&call, false, input.is_public)?;
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
    let sections = arrangement.on(&[]);
    check_apps(&call, &mut *transaction, &sections, &[], input.is_public).await?;
    let board = Board {
        board: BoardSummary {
            id: call.resources.new_id(),
            name,
            slug: match slug {
                TextChange::Set(slug) => Some(slug),
                TextChange::Keep | TextChange::Clear => None,
            },
            is_public: input.is_public,
            creator_id,
        },
        sections,
    };
    require_free(&mut *transaction, &board).await?;
    let inserted = transaction.insert_board(&board, &name_key).await;
    require_name_free(
        inserted.map_err(|error| not_found_if_referred(error, Missing::App))?,
        UniqueName::Board,
    )?;
    transaction.commit().await?;
    json(&Created { id: board.board.id })
}

/// `CONFLICT` if another board has its short address. Then storage would not tell which of the two is taken.
async fn require_free(transaction: &mut dyn DashboardTransaction, board: &Board) -> Result<(), Error> {
    let Some(slug) = &board.board.slug else {
        return Ok(());
    };
    let other = transaction.find_board(slug).await?;
    let is_free = other.is_none_or(|id| id == board.board.id);
    require_name_free(is_free, UniqueName::BoardSlug)
}

async fn update(mut call: Call) -> Result<Output, Error> {
    let Update { id, board: new } = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &new.name);
    let slug = check_slug(&mut fields, new.slug);
    let arrangement = required_arrangement(&mut fields, new.items, new.sections);
    fields.check()?;

    let name_key = key_of(&mut call, &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    let present = board_for(&call, &mut *transaction, &id, Right::Change).await?;
    let mut fields = Fields::default();
    fields.keeps_direction("name", &name, Some(&present.board.name));
    fields.check()?;
    check_public(&call, present.board.is_public, new.is_public)?;
    let sections = arrangement.on(&present.sections);
    check_apps(
        &call,
        &mut *transaction,
        &sections,
        &present.sections,
        new.is_public,
    )
    .await?;
    let board = Board {
        board: BoardSummary {
            name,
            slug: match slug {
                TextChange::Keep => present.board.slug,
                TextChange::Clear => None,
                TextChange::Set(slug) => Some(slug),
            },
            is_public: new.is_public,
            ..present.board
        },
        sections,
    };
    require_free(&mut *transaction, &board).await?;
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
