//! `board.getShares`, `board.getShareable` and `board.share`: with whom a board is shared.

use portico_model::error::{Code, Error};
use portico_rules::refusal::Missing;
use portico_rules::{
    bounds::{LIMIT, USERNAME},
    names,
};
use portico_storage::{Access, Named as NamedRecord, Share as Shared, Shares, Slice, UserFilter};
use serde::{Deserialize, Serialize};

use super::{
    super::{
        transaction::{not_found_if_referred, require_found},
        validate::Fields,
    },
    bounds::MOST_ITEMS,
    rights::{Right, board_for},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, NAMED,
        Shape::{self, Boolean, Bounded, Either, Integer, List, Named, Nothing, Record, Text},
        Shaped, optional, records, required,
    },
};

const SHARES: Shape = Bounded(&List(&SHARE), Bound::Count(0, MOST_ITEMS as u32));
const SHARE: Shape = Named(
    "Share",
    &Either(
        &Text,
        &Record(&[
            required("id", Text).about("The id of the user or the group."),
            required("mayChange", Boolean).about(
                "Whether they may also change the board's name, its short address and what is on it; not, if only an id is \
                 given.",
            ),
        ]),
    ),
);

const SHARED_WITH: Shape = Named(
    "BoardShares",
    &Record(&[
        required("users", List(&SHARED)).about("Users, by name."),
        required("groups", List(&SHARED)).about("Groups, by name."),
    ]),
);
const SHARED: Shape = Named(
    "BoardShare",
    &Record(&[
        required("id", Text).about("The id of the user or the group."),
        required("name", Text).about("The name."),
        required("mayChange", Boolean)
            .about("Whether they may also change the board's name, its short address and what is on it."),
    ]),
);
const SHAREABLE: Shape = Named(
    "Shareable",
    &Record(&[
        required("users", List(&NAMED)).about("Users, by name."),
        required("groups", List(&NAMED)).about("Groups, by name."),
    ]),
);

records! {
    struct GetShares {
        board_id: String = required("boardId", Text).about("Which board: its id."),
    }

    struct GetShareable {
        board_id: String = required("boardId", Text).about("Which board: its id."),
        query: String = required("query", Text)
            .about("What the name contains, trimmed; an empty text fits every name."),
        limit: Option<i32> = optional("limit", Bounded(&Integer, Bound::range(LIMIT)))
            .about("How many users and how many groups at most; 10 if absent."),
    }

    struct Share {
        board_id: String = required("boardId", Text).about("Which board: its id."),
        users: Vec<ShareWith> = required("users", SHARES)
            .about("Who may view it from now on: ids of users, or with `mayChange` who may change it, too."),
        groups: Vec<ShareWith> = required("groups", SHARES)
            .about("Whose members may do so from now on: groups in the same form."),
    }
}

/// Whom to share a board with: an id alone lets them only view it.
#[derive(Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum ShareWith {
    ToView(String),
    To { id: String, may_change: bool },
}

impl From<ShareWith> for Shared {
    fn from(with: ShareWith) -> Self {
        match with {
            ShareWith::ToView(id) => Self::to_view(id),
            ShareWith::To { id, may_change } => Self { id, may_change },
        }
    }
}

/// Users and groups, by name.
#[derive(Serialize)]
struct Shareable {
    users: Vec<NamedRecord>,
    groups: Vec<NamedRecord>,
}

pub(in crate::dashboard) static ROWS: &[Row] = &[
    query("board.getShares", GetShares::SHAPE, SHARED_WITH, |call| {
        Box::pin(get_shares(call))
    })
    .protected()
    .about(
        "With whom a board is shared: who may view it alongside its creator and those who may view all boards. \
         `FORBIDDEN`: the caller may not share it.",
    )
    .at("GET", "/api/boards/{boardId}/shares")
    .refuses(&[Code::Forbidden, Code::NotFound]),
    query(
        "board.getShareable",
        GetShareable::SHAPE,
        SHAREABLE,
        |call| Box::pin(get_shareable(call)),
    )
    .protected()
    .large()
    .about(
        "Users and groups with whom a board may be shared, by name. `FORBIDDEN`: the caller may not share it.",
    )
    .refuses(&[Code::Forbidden, Code::NotFound]),
    mutation("board.share", Share::SHAPE, Nothing, |call| {
        Box::pin(share(call))
    })
    .protected()
    .about(
        "Sets with whom a board is shared, for who made it and holders of `board-full-all`. `FORBIDDEN`: another caller; \
         `NOT_FOUND`: no such board, user or group.",
    )
    .at("PUT", "/api/boards/{boardId}/shares")
    .refuses(&[Code::Forbidden, Code::NotFound]),
];

/// Bounds the number of users and groups that a board is shared with.
pub(in crate::dashboard) fn check_shares(fields: &mut Fields, users: usize, groups: usize) {
    fields.count("users", users, MOST_ITEMS);
    fields.count("groups", groups, MOST_ITEMS);
}

async fn get_shares(mut call: Call) -> Result<Output, Error> {
    let input: GetShares = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    board_for(&call, &mut *transaction, &input.board_id, Right::Full).await?;
    let shares = transaction.get_named_shares(&input.board_id).await?;
    json(&shares.ok_or_else(|| Error::not_found(Missing::Board))?)
}

async fn get_shareable(mut call: Call) -> Result<Output, Error> {
    let input: GetShareable = call.input()?;
    let limit = input.limit.map_or(10, i32::unsigned_abs);
    let mut transaction = call.begin(Access::Read).await?;
    board_for(&call, &mut *transaction, &input.board_id, Right::Full).await?;
    let mut found = Shareable {
        users: Vec::new(),
        groups: Vec::new(),
    };
    let Some(contained) = names::key_to_find(input.query.trim(), *USERNAME.end()) else {
        return json(&found);
    };
    let groups = transaction.list_groups().await?;
    let groups = groups
        .into_iter()
        .filter(|group| names::key(&group.name).contains(&contained));
    found.groups = groups
        .take(limit as usize)
        .map(|group| NamedRecord {
            id: group.id,
            name: group.name,
        })
        .collect();
    let filter = UserFilter {
        name_contains: Some(contained),
        ..UserFilter::default()
    };
    let users = transaction
        .list_users(&filter, Slice::first(limit), false)
        .await?;
    found.users = users
        .into_iter()
        .map(|user| NamedRecord {
            id: user.id,
            name: user.name,
        })
        .collect();
    json(&found)
}

async fn share(mut call: Call) -> Result<Output, Error> {
    let input: Share = call.input()?;
    let mut fields = Fields::default();
    check_shares(&mut fields, input.users.len(), input.groups.len());
    fields.check()?;

    let mut transaction = call.begin(Access::Write).await?;
    board_for(&call, &mut *transaction, &input.board_id, Right::Full).await?;
    let shares = Shares {
        users: input.users.into_iter().map(Into::into).collect(),
        groups: input.groups.into_iter().map(Into::into).collect(),
    };
    let shared = transaction.share_board(&input.board_id, &shares).await;
    require_found(
        shared.map_err(|error| not_found_if_referred(error, Missing::UserOrGroup))?,
        Missing::Board,
    )?;
    transaction.commit().await?;
    json(&())
}
