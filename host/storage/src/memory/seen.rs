//! Who sees which app in memory.

use std::collections::BTreeMap;

use portico_model::Id;

use super::boards::named;
use super::state::{BoardRow, State};
use crate::dashboard_records::Named;
use crate::seen::{AppBoard, AppBoards, First, FirstShares, SeenThrough, WhyViewed};

impl State {
    /// The boards that an app is on, by name.
    fn boards_with(&self, app_id: &str) -> Vec<&BoardRow> {
        let mut rows: Vec<_> = self.boards.values().filter(|row| row.has(app_id)).collect();
        rows.sort_by_key(|row| (&row.name_key, &row.board.board.id));
        rows
    }

    pub fn app_boards(&self, app_id: &str, most: u32) -> AppBoards {
        let boards = self.boards_with(app_id).into_iter().map(|row| {
            let board = &row.board.board;
            let creator = board.creator_id.as_ref().and_then(|id| self.users.get(id));
            AppBoard {
                id: board.id.clone(),
                name: board.name.clone(),
                is_public: board.is_public,
                creator: creator.map(|row| named(&row.user.id, &row.user.name)),
            }
        });
        let boards: Vec<_> = boards.collect();
        AppBoards {
            public_count: boards.iter().filter(|board| board.is_public).count() as u64,
            boards: First::of(boards, most),
        }
    }

    pub fn first_shares(&self, board_ids: &[String], most: u32) -> BTreeMap<Id, FirstShares> {
        let mut found = BTreeMap::new();
        for id in board_ids {
            let Some(shares) = self.named_shares(id) else {
                continue;
            };
            let names = |shares: Vec<crate::NamedShare>| -> Vec<Named> {
                shares.into_iter().map(|share| share.named).collect()
            };
            let first = FirstShares {
                users: First::of(names(shares.users), most),
                groups: First::of(names(shares.groups), most),
            };
            if first != FirstShares::default() {
                found.insert(id.clone(), first);
            }
        }
        found
    }

    pub fn seen_through(
        &self,
        user_id: &str,
        views_by_shares: bool,
        app_ids: &[String],
        most: u32,
    ) -> BTreeMap<Id, First<SeenThrough>> {
        let mut found = BTreeMap::new();
        for app_id in app_ids.iter().filter(|id| self.apps.contains_key(*id)) {
            let boards = self.boards_with(app_id).into_iter();
            let viewed =
                boards.filter(|row| self.can_view_board(user_id, views_by_shares, &row.board.board.id));
            let through = viewed.map(|row| SeenThrough {
                board: named(&row.board.board.id, &row.board.board.name),
                why: self.why_viewed(user_id, row),
            });
            let through: Vec<_> = through.collect();
            if !through.is_empty() {
                found.insert(app_id.clone(), First::of(through, most));
            }
        }
        found
    }

    fn why_viewed(&self, user_id: &str, row: &BoardRow) -> WhyViewed {
        let board = &row.board.board;
        if board.creator_id.as_deref() == Some(user_id) {
            return WhyViewed::Creator;
        }
        if row.shares.users.iter().any(|share| share.id == user_id) {
            return WhyViewed::User;
        }
        let shares = self.named_shares(&board.id).unwrap_or_default();
        let theirs = self.list_memberships(user_id);
        let group = shares
            .groups
            .into_iter()
            .find(|share| theirs.contains(&share.named.id));
        group.map_or(WhyViewed::Public, |share| WhyViewed::Group(share.named))
    }
}
