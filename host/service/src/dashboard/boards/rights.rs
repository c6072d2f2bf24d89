//! Who may do what with a board.
//!
//! Invariants:
//! - To a caller who may not view a board, it does not exist.
//! - A caller puts on a board only apps that they see: where callers see only the apps on boards that they may view, an
//!   app on a board is shown to all who may view that board. On a public board they put only apps that everyone sees,
//!   unless they see all apps.
//! - Permissions are those of the caller's look-up; who made a board and whom it is shared with is read in the
//!   transaction that makes the change.

use std::collections::BTreeSet;

use portico_model::error::Error;
use portico_rules::permissions::{Permission, sees_all_apps};
use portico_rules::refusal::{Missing, Refusal};
use portico_storage::{Board, BoardItem, BoardSummary, DashboardTransaction, Section, Viewer};
use serde::Serialize;

use crate::procedures::call::Call;

/// What a caller may do with a board. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::dashboard) enum Right {
    /// See it.
    View,
    /// Change its name and its items.
    Change,
    /// Share and delete it.
    Full,
}

impl Right {
    /// As the API names them.
    pub const NAMES: [&str; 3] = ["view", "change", "full"];
}

/// The board of this id, for a caller who has this right to it.
pub(in crate::dashboard) async fn board_for(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    id: &str,
    needed: Right,
) -> Result<Board, Error> {
    let missing = || Error::not_found(Missing::Board);
    let by_permission = [Permission::BoardModifyAll, Permission::BoardFullAll];
    if needed == Right::View
        && !by_permission
            .into_iter()
            .any(|permission| holds(call, permission))
    {
        // Before it is read: a board that is hidden takes no longer than one that does not exist.
        let user_id = call.identity.user_id().unwrap_or_default();
        let is_visible = transaction.can_view_board(user_id, id).await?;
        let board = match is_visible {
            true => transaction.get_board(id).await?,
            false => None,
        };
        return board.ok_or_else(missing);
    }
    let board = transaction.get_board(id).await?.ok_or_else(missing)?;
    let right = right_to(call, transaction, &board.board).await?;
    if right >= needed {
        return Ok(board);
    }
    let refusal = match needed {
        Right::Full => Refusal::BoardOfOthers,
        Right::View | Right::Change => Refusal::BoardNotShared,
    };
    Err(refusal.into())
}

/// What the caller may do with a board. Fails as if it did not exist if they may not view it.
pub(super) async fn right_to(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    board: &BoardSummary,
) -> Result<Right, Error> {
    let right = right_by_permission(call, board);
    if let Some(right @ (Right::Change | Right::Full)) = right {
        return Ok(right);
    }
    if let Some(user_id) = call.identity.user_id() {
        if transaction.can_change_board(user_id, &board.id).await? {
            return Ok(Right::Change);
        }
        if transaction.can_view_board(user_id, &board.id).await? {
            return Ok(Right::View);
        }
    }
    right.ok_or_else(|| Error::not_found(Missing::Board))
}

/// What the caller may do with a board without a share of it.
pub(super) fn right_by_permission(call: &Call, board: &BoardSummary) -> Option<Right> {
    let user_id = call.identity.user_id();
    let has_made_it = user_id.is_some() && board.creator_id.as_deref() == user_id;
    if has_made_it || holds(call, Permission::BoardFullAll) {
        Some(Right::Full)
    } else if holds(call, Permission::BoardModifyAll) {
        Some(Right::Change)
    } else {
        board.is_public.then_some(Right::View)
    }
}

/// Refuses a caller who decides who may view a board without the permission to do so: everyone sees a public board and
/// its apps.
pub(in crate::dashboard) fn check_public(call: &Call, before: bool, after: bool) -> Result<(), Error> {
    if before == after || holds(call, Permission::BoardFullAll) {
        return Ok(());
    }
    Err(Refusal::BoardPublic.into())
}

/// Refuses apps that the caller does not see, as if they did not exist. Those that are on the board already may stay.
/// Whoever sees a board sees its apps, so only an app that everyone sees may join a public one, unless the caller sees
/// all apps.
pub(in crate::dashboard) async fn check_apps(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    sections: &[Section],
    present: &[Section],
    is_public: bool,
) -> Result<(), Error> {
    if sees_all_apps(call.identity.permissions()) {
        return Ok(());
    }
    let Some(user_id) = call.identity.user_id() else {
        return Err(Error::unauthorized());
    };
    let present: BTreeSet<&String> = app_ids(present).collect();
    let new: BTreeSet<&String> = app_ids(sections).filter(|id| !present.contains(id)).collect();
    let new: Vec<String> = new.into_iter().cloned().collect();
    let viewer = if is_public {
        Viewer::Anonymous
    } else {
        Viewer::User(user_id.to_owned())
    };
    if transaction.sees_apps(&new, &viewer).await? {
        return Ok(());
    }
    Err(Error::not_found(Missing::App))
}

fn app_ids(sections: &[Section]) -> impl Iterator<Item = &String> {
    sections
        .iter()
        .flat_map(Section::contents)
        .flat_map(BoardItem::app_ids)
}

pub(super) fn holds(call: &Call, permission: Permission) -> bool {
    permission.is_given_by(call.identity.permissions())
}
