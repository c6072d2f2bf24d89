//! `app.seenBy` and `user.seenApps`: who sees which app, and why. For administrators, because they name people, groups and
//! boards.
//!
//! Invariant: what they say follows from the same state as what callers get (`views.rs` of the SQL drivers), read in one
//! transaction. Lists of boards, users and apps are bounded, and what is left out is counted; the groups whose permissions
//! show every app are all named.

use std::collections::{BTreeMap, BTreeSet};

use portico_model::error::{Code, Error};
use portico_rules::permissions::{Permission, sees_all_apps};
use portico_rules::refusal::Missing;
use portico_storage::{
    Access, AppFilter, AppVisibility, BoardSummary, DashboardTransaction, Named as NamedRecord, NamedShare,
    NamedShares, Slice, Viewer,
};
use serde::Serialize;

use super::transaction::require_found;
use crate::{
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, query},
    },
    shape::{
        Bound, NAMED, PAGE_SIZE,
        Shape::{self, Boolean, Bounded, Choice, Integer, List, Named, Nullable, Position, Record, Text},
        Shaped, records, required,
    },
};

/// The most boards of an app that are named.
const MOST_BOARDS: usize = 50;
/// The most users, and the most groups, of a board that are named.
const MOST_NAMED: usize = 50;
/// The most boards that are named for each app of a user.
const MOST_REASONS: usize = 5;

records! {
    struct SeenApps {
        user_id: String = required("userId", Text).about("Which user: their id."),
        page: u32 = required("page", Bounded(&Position, Bound::From(1))).about("Which page, from 1."),
        page_size: u32 = required("pageSize", PAGE_SIZE).about("How many apps on each page."),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeenBy {
    visibility: AppVisibility,
    is_fixed: bool,
    by_everyone: bool,
    by_strangers: bool,
    boards: Vec<SeenOn>,
    board_count: usize,
    groups_that_see_all: Vec<NamedRecord>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeenOn {
    id: String,
    name: String,
    is_public: bool,
    creator: Option<NamedRecord>,
    users: Vec<NamedRecord>,
    user_count: usize,
    groups: Vec<NamedRecord>,
    group_count: usize,
}

const SEEN_BY: Shape = Named(
    "SeenBy",
    &Record(&[
        required("visibility", Choice(&AppVisibility::NAMES))
            .about("Who sees which app in general: `everyone` all of them, or each those on `boards` that they may view."),
        required("isFixed", Boolean).about("Whether the host's setting `--app-visibility` says so."),
        required("byEveryone", Boolean).about("Whether every signed-in user sees it."),
        required("byStrangers", Boolean).about("Whether it is on a board that people see without signing in."),
        required(
            "boards",
            List(&Named(
                "SeenOnBoard",
                &Record(&[
                    required("id", Text).about("The board's id."),
                    required("name", Text).about("The board's name."),
                    required("isPublic", Boolean).about("Whether everyone may view it, signed in or not."),
                    required("creator", Nullable(&NAMED)).about("Who made it; null once they are gone."),
                    required("users", List(&NAMED)).about("With whom it is shared, by name: the first 50."),
                    required("userCount", Integer).about("With how many users it is shared."),
                    required("groups", List(&NAMED)).about("With which groups it is shared, by name: the first 50."),
                    required("groupCount", Integer).about("With how many groups it is shared."),
                ]),
            )),
        )
        .about("The boards that it is on, by name: the first 50."),
        required("boardCount", Integer).about("On how many boards it is."),
        required("groupsThatSeeAll", List(&NAMED))
            .about("The groups with a permission whose holders see every app, by name."),
    ]),
);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    everything: Option<&'static str>,
    items: Vec<SeenApp>,
    total_count: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeenApp {
    id: String,
    name: String,
    icon_url: String,
    boards: Vec<Through>,
    board_count: usize,
}

#[derive(Serialize)]
struct Through {
    id: String,
    name: String,
    by: &'static str,
    group: Option<NamedRecord>,
}

const SEEN: Shape = Named(
    "SeenApps",
    &Record(&[
        required("everything", Nullable(&Choice(&["everyone", "permission"]))).about(
            "Why the user sees every app: `everyone` does, or they hold a `permission` for it. Null: they see only those on \
             boards that they may view.",
        ),
        required(
            "items",
            List(&Named(
                "SeenApp",
                &Record(&[
                    required("id", Text).about("The app's id."),
                    required("name", Text).about("The app's name."),
                    required("iconUrl", Text).about("Its icon."),
                    required(
                        "boards",
                        List(&Named(
                            "SeenThrough",
                            &Record(&[
                                required("id", Text).about("The board's id."),
                                required("name", Text).about("The board's name."),
                                required("by", Choice(&["public", "creator", "user", "group"])).about(
                                    "Why they may view it: everyone may, they made it, it is shared with them, or with \
                                     a group of theirs.",
                                ),
                                required("group", Nullable(&NAMED)).about("The group, if that is why."),
                            ]),
                        )),
                    )
                    .about("The boards through which they see it, by name: the first 5; none if they see every app."),
                    required("boardCount", Integer).about("Through how many boards they see it."),
                ]),
            )),
        )
        .about("The apps of this page, by name."),
        required("totalCount", Integer).about("How many apps they see."),
    ]),
);

pub(super) static ROWS: &[Row] = &[
    query("app.seenBy", ID, SEEN_BY, |call| Box::pin(seen_by(call)))
        .large()
        .about("Who sees an app, and through which boards.")
        .at("GET", "/api/apps/{id}/seen-by")
        .refuses(&[Code::NotFound]),
    query(
        "user.seenApps",
        Named("SeenAppsQuery", &SeenApps::SHAPE),
        SEEN,
        |call| Box::pin(seen_apps(call)),
    )
    .large()
    .about("Which apps a user sees, and why.")
    .at("GET", "/api/users/{userId}/apps")
    .refuses(&[Code::NotFound]),
];

async fn seen_by(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let app = transaction.get_app(&input.id, &Viewer::Everything).await?;
    require_found(app.is_some(), Missing::App)?;
    let in_force = transaction.get_visibility_in_force().await?;
    let boards = transaction.list_boards_with(&input.id).await?;
    let by_strangers = boards.iter().any(|board| board.is_public);
    let mut seen_on = Vec::new();
    for board in boards.iter().take(MOST_BOARDS) {
        seen_on.push(seen_on_board(&mut *transaction, board).await?);
    }
    let given = [Permission::AppCreate, Permission::BoardViewAll];
    let permissions: BTreeSet<&str> = given
        .iter()
        .flat_map(|permission| permission.given_by())
        .copied()
        .collect();
    let permissions: Vec<String> = permissions.into_iter().map(ToOwned::to_owned).collect();
    json(&SeenBy {
        visibility: in_force.visibility,
        is_fixed: in_force.is_fixed,
        by_everyone: by_strangers || in_force.visibility == AppVisibility::Everyone,
        by_strangers,
        boards: seen_on,
        board_count: boards.len(),
        groups_that_see_all: transaction.list_groups_with(&permissions).await?,
    })
}

async fn seen_on_board(
    transaction: &mut dyn DashboardTransaction,
    board: &BoardSummary,
) -> Result<SeenOn, Error> {
    let shares = transaction.get_named_shares(&board.id).await?.unwrap_or_default();
    let creator = match &board.creator_id {
        Some(id) => transaction.get_session_user(id).await?,
        None => None,
    };
    let first = |shares: &[NamedShare]| {
        let named = shares.iter().take(MOST_NAMED);
        named.map(|share| share.named.clone()).collect()
    };
    Ok(SeenOn {
        id: board.id.clone(),
        name: board.name.clone(),
        is_public: board.is_public,
        creator: creator.map(|user| NamedRecord {
            id: user.id,
            name: user.name,
        }),
        users: first(&shares.users),
        user_count: shares.users.len(),
        groups: first(&shares.groups),
        group_count: shares.groups.len(),
    })
}

async fn seen_apps(mut call: Call) -> Result<Output, Error> {
    let SeenApps {
        user_id,
        page,
        page_size,
    } = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let user = transaction.get_session_user(&user_id).await?;
    let user = user.ok_or_else(|| Error::not_found(Missing::User))?;
    let in_force = transaction.get_visibility_in_force().await?;
    let everything = if sees_all_apps(&user.permissions) {
        Some("permission")
    } else {
        (in_force.visibility == AppVisibility::Everyone).then_some("everyone")
    };
    let filter = AppFilter {
        viewer: match everything {
            Some(_) => Viewer::Everything,
            None => Viewer::User(user_id.clone()),
        },
        name_contains: None,
    };
    let slice = Slice {
        offset: (page - 1).saturating_mul(page_size),
        limit: Some(page_size),
    };
    let apps = transaction.list_apps(&filter, slice).await?;
    let total_count = transaction.count_apps(&filter).await?;
    let mut reasons = match everything {
        Some(_) => None,
        None => Some(Reasons::of(&mut *transaction, &user_id).await?),
    };
    let mut items = Vec::with_capacity(apps.len());
    for app in apps {
        let (boards, board_count) = match &mut reasons {
            Some(reasons) => reasons.for_app(&mut *transaction, &app.id).await?,
            None => (Vec::new(), 0),
        };
        items.push(SeenApp {
            id: app.id,
            name: app.name,
            icon_url: app.icon_url,
            boards,
            board_count,
        });
    }
    json(&Seen {
        everything,
        items,
        total_count,
    })
}

/// Why a user may view boards.
struct Reasons<'a> {
    user_id: &'a str,
    visible: BTreeSet<String>,
    groups: BTreeSet<String>,
    /// The shares that were read so far, by board.
    shares: BTreeMap<String, NamedShares>,
}

impl<'a> Reasons<'a> {
    async fn of(transaction: &mut dyn DashboardTransaction, user_id: &'a str) -> Result<Self, Error> {
        let visible = transaction.list_visible_boards(Some(user_id)).await?;
        Ok(Self {
            user_id,
            visible: visible.into_iter().map(|board| board.id).collect(),
            groups: transaction.list_memberships(user_id).await?.into_iter().collect(),
            shares: BTreeMap::new(),
        })
    }

    /// The first boards through which the user sees an app, and how many there are.
    async fn for_app(
        &mut self,
        transaction: &mut dyn DashboardTransaction,
        app_id: &str,
    ) -> Result<(Vec<Through>, usize), Error> {
        let mut boards = transaction.list_boards_with(app_id).await?;
        boards.retain(|board| self.visible.contains(&board.id));
        let count = boards.len();
        let mut through = Vec::new();
        for board in boards.into_iter().take(MOST_REASONS) {
            let (by, group) = self.why(transaction, &board).await?;
            through.push(Through {
                id: board.id,
                name: board.name,
                by,
                group,
            });
        }
        Ok((through, count))
    }

    /// Why the user may view a board that they may view.
    async fn why(
        &mut self,
        transaction: &mut dyn DashboardTransaction,
        board: &BoardSummary,
    ) -> Result<(&'static str, Option<NamedRecord>), Error> {
        if board.creator_id.as_deref() == Some(self.user_id) {
            return Ok(("creator", None));
        }
        if !self.shares.contains_key(&board.id) {
            let shares = transaction.get_named_shares(&board.id).await?;
            self.shares.insert(board.id.clone(), shares.unwrap_or_default());
        }
        let shares = &self.shares[&board.id];
        if shares.users.iter().any(|share| share.named.id == self.user_id) {
            return Ok(("user", None));
        }
        let group = shares
            .groups
            .iter()
            .find(|share| self.groups.contains(&share.named.id));
        Ok(match group {
            Some(group) => ("group", Some(group.named.clone())),
            None => ("public", None),
        })
    }
}
