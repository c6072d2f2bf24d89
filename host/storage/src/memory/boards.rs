//! What boards and their shares have to keep, and the order in which shares and groups are listed.

use portico_model::Id;

use super::state::{BoardRow, State};
use crate::boards::{Board, BoardItem};
use crate::dashboard_records::{Named, NamedShare, Share};
use crate::records::Result;

/// Fails if the creator or an app of the board is missing.
pub(super) fn check_board(state: &State, board: &Board) -> Result<()> {
    State::check_reference(&state.users, &board.board.creator_id)?;
    let apps = board.items().flat_map(BoardItem::app_ids);
    State::check_reference(&state.apps, apps)
}

/// Whether a board has this one's name or slug.
pub(super) fn is_taken(row: &BoardRow, board: &Board, name_key: &str) -> bool {
    let slug = &board.board.slug;
    row.name_key == name_key || (slug.is_some() && row.board.board.slug == *slug)
}

pub(super) fn ids(shares: &[Share]) -> impl Iterator<Item = &Id> {
    shares.iter().map(|share| &share.id)
}

/// Shares in the order of ids, the first with each.
pub(super) fn by_id(shares: &[Share]) -> Vec<Share> {
    let mut shares = shares.to_vec();
    // It keeps the order of equal ones.
    shares.sort_by(|share, other| share.id.cmp(&other.id));
    shares.dedup_by(|share, first| share.id == first.id);
    shares
}

impl State {
    /// The groups that have at least one of these permissions, by name.
    pub fn groups_with(&self, permissions: &[String]) -> Vec<Named> {
        let groups = self.groups.iter();
        let mut found: Vec<_> = groups
            .filter(|(_, group)| permissions.iter().any(|held| group.permissions.contains(held)))
            .collect();
        found.sort_by_key(|(id, group)| (&group.name_key, *id));
        let found = found.into_iter();
        found.map(|(id, group)| named(id, &group.name)).collect()
    }
}

/// Shares in the order of names. `name_of` has the name-key and the name of an id.
pub(super) fn by_name<'a>(
    shares: &'a [Share],
    name_of: impl Fn(&str) -> Option<(&'a str, &'a str)>,
) -> Vec<NamedShare> {
    let named_shares = shares
        .iter()
        .filter_map(|share| name_of(&share.id).map(|(name_key, name)| (name_key, share, name)));
    let mut shares: Vec<_> = named_shares.collect();
    shares.sort_by_key(|(name_key, share, _)| (*name_key, &share.id[..]));
    shares
        .into_iter()
        .map(|(_, share, name)| NamedShare {
            named: named(&share.id, name),
            may_change: share.may_change,
        })
        .collect()
}

pub(super) fn named(id: &str, name: &str) -> Named {
    Named {
        id: id.to_owned(),
        name: name.to_owned(),
    }
}
