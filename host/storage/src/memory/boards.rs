//! Boards and their shares in memory, and the order in which shares are listed.

use portico_model::Id;

use super::state::{BoardRow, State, insert};
use crate::boards::{Board, BoardItem};
use crate::dashboard_records::{Named, NamedShare, NamedShares, Share, Shares};
use crate::records::Result;

/// Fails if the creator or an app of the board is missing.
fn check_board(state: &State, board: &Board) -> Result<()> {
    State::check_reference(&state.users, &board.board.creator_id)?;
    let apps = board.items().flat_map(BoardItem::app_ids);
    State::check_reference(&state.apps, apps)
}

/// Whether a board has this one's name or slug.
fn is_taken(row: &BoardRow, board: &Board, name_key: &str) -> bool {
    let slug = &board.board.slug;
    row.name_key == name_key || (slug.is_some() && row.board.board.slug == *slug)
}

fn ids(shares: &[Share]) -> impl Iterator<Item = &Id> {
    shares.iter().map(|share| &share.id)
}

/// Shares in the order of ids, the first with each.
fn by_id(shares: &[Share]) -> Vec<Share> {
    let mut shares = shares.to_vec();
    // It keeps the order of equal ones.
    shares.sort_by(|share, other| share.id.cmp(&other.id));
    shares.dedup_by(|share, first| share.id == first.id);
    shares
}

impl State {
    pub fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        if self.boards.values().any(|row| is_taken(row, board, name_key)) {
            return Ok(false);
        }
        check_board(self, board)?;
        let row = BoardRow {
            board: board.clone(),
            name_key: name_key.to_owned(),
            shares: Shares::default(),
        };
        insert(&mut self.boards, &board.board.id, row)?;
        Ok(true)
    }

    pub fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        let id = &board.board.id;
        let mut others = self.boards.iter().filter(|(other, _)| *other != id);
        if others.any(|(_, row)| is_taken(row, board, name_key)) || !self.boards.contains_key(id) {
            return Ok(false);
        }
        check_board(self, board)?;
        if let Some(row) = self.boards.get_mut(id) {
            row.board = board.clone();
            row.name_key = name_key.to_owned();
        }
        Ok(true)
    }

    /// The shares of a board, by the names of users and groups.
    pub fn named_shares(&self, board_id: &str) -> Option<NamedShares> {
        let board = self.boards.get(board_id)?;
        Some(NamedShares {
            users: by_name(&board.shares.users, |id| {
                let row = self.users.get(id)?;
                Some((&row.name_key[..], &row.user.name[..]))
            }),
            groups: by_name(&board.shares.groups, |id| {
                let group = self.groups.get(id)?;
                Some((&group.name_key[..], &group.name[..]))
            }),
        })
    }

    pub fn share_board(&mut self, id: &str, shares: &Shares) -> Result<bool> {
        let Some(row) = self.boards.get_mut(id) else {
            return Ok(false);
        };
        Self::check_reference(&self.users, ids(&shares.users))?;
        Self::check_reference(&self.groups, ids(&shares.groups))?;
        row.shares = Shares {
            users: by_id(&shares.users),
            groups: by_id(&shares.groups),
        };
        Ok(true)
    }
}

/// Shares in the order of names. `name_of` has the name-key and the name of an id.
fn by_name<'a>(shares: &'a [Share], name_of: impl Fn(&str) -> Option<(&'a str, &'a str)>) -> Vec<NamedShare> {
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
