//! `app.seenBy` and `user.seenApps`: who sees which app, and why. For administrators, because they name people, groups and
//! boards.
//!
//! Invariant: what they say follows from the same state as what callers get (`views.rs` of the SQL drivers), read in one
//! transaction. Every list is bounded, and what is left out is counted; the number of statements depends neither on how much
//! there is nor on how much is asked for.

use std::collections::{BTreeMap, BTreeSet};

use portico_model::error::{Code, Error};
use portico_rules::permissions::{Permission, sees_all_apps};
use portico_rules::refusal::Missing;
use portico_storage::{
    Access, AppBoard, AppBoards, AppFilter, AppVisibility, FirstShares, Named as NamedRecord, SeenThrough,
    Slice, Viewer, WhyViewed,
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
const MOST_BOARDS: u32 = 50;
/// The most users, and the most groups, of a board that are named, and the most groups that see every app.
const MOST_NAMED: u32 = 50;
/// The most boards that are named for each app of a user.
const MOST_REASONS: u32 = 5;

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
    board_count: u64,
    groups_that_see_all: Vec<NamedRecord>,
    groups_that_see_all_count: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeenOn {
    #[serde(flatten)]
    board: AppBoard,
    users: Vec<NamedRecord>,
    user_count: u64,
    groups: Vec<NamedRecord>,
    group_count: u64,
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
            .about("The groups with a permission whose holders see every app, by name: the first 50."),
        required("groupsThatSeeAllCount", Integer).about("How many groups have such a permission."),
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
    board_count: u64,
}

#[derive(Serialize)]
struct Through {
    #[serde(flatten)]
    board: NamedRecord,
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
    let AppBoards { boards, public_count } = transaction.list_boards_with(&input.id, MOST_BOARDS).await?;
    let ids: Vec<_> = boards.items.iter().map(|board| board.id.clone()).collect();
    let mut shares = transaction.list_first_shares(&ids, MOST_NAMED).await?;
    let given = [Permission::AppCreate, Permission::BoardViewAll];
    let permissions: BTreeSet<&str> = given
        .iter()
        .flat_map(|permission| permission.given_by())
        .copied()
        .collect();
    let permissions: Vec<String> = permissions.into_iter().map(ToOwned::to_owned).collect();
    let groups = transaction.list_groups_with(&permissions, MOST_NAMED).await?;
    let seen_on = boards.items.into_iter().map(|board| {
        let FirstShares { users, groups } = shares.remove(&board.id).unwrap_or_default();
        SeenOn {
            board,
            users: users.items,
            user_count: users.count,
            groups: groups.items,
            group_count: groups.count,
        }
    });
    json(&SeenBy {
        visibility: in_force.visibility,
        is_fixed: in_force.is_fixed,
        by_everyone: public_count > 0 || in_force.visibility == AppVisibility::Everyone,
        by_strangers: public_count > 0,
        boards: seen_on.collect(),
        board_count: boards.count,
        groups_that_see_all: groups.items,
        groups_that_see_all_count: groups.count,
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
    let ids: Vec<_> = apps.iter().map(|app| app.id.clone()).collect();
    let mut through = match everything {
        Some(_) => BTreeMap::new(),
        None => {
            transaction
                .list_seen_through(&user_id, &ids, MOST_REASONS)
                .await?
        }
    };
    let items = apps.into_iter().map(|app| {
        let boards = through.remove(&app.id).unwrap_or_default();
        SeenApp {
            id: app.id,
            name: app.name,
            icon_url: app.icon_url,
            boards: boards.items.into_iter().map(Through::from).collect(),
            board_count: boards.count,
        }
    });
    json(&Seen {
        everything,
        items: items.collect(),
        total_count,
    })
}

impl From<SeenThrough> for Through {
    fn from(through: SeenThrough) -> Self {
        let (by, group) = match through.why {
            WhyViewed::Creator => ("creator", None),
            WhyViewed::User => ("user", None),
            WhyViewed::Group(group) => ("group", Some(group)),
            WhyViewed::Public => ("public", None),
        };
        Self {
            board: through.board,
            by,
            group,
        }
    }
}
