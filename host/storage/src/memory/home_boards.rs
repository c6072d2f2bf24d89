//! The boards that people see first who have chosen none.

use std::collections::BTreeSet;

use portico_model::HomeBoards;

use super::state::State;
use crate::dashboard_records::DefaultHome;
use crate::driver::MOST_DEFAULT_HOMES;
use crate::records::Result;

/// The key of everyone's. No group has it as its id.
const EVERYONE: &str = "";

impl State {
    pub fn list_default_homes(&self) -> Vec<DefaultHome> {
        let all = self.default_homes.values();
        all.filter(|home| home.boards != HomeBoards::default())
            .cloned()
            .collect()
    }

    pub fn list_default_homes_of(&self, user_id: Option<&str>) -> Vec<HomeBoards> {
        let is_member = |members: &BTreeSet<String>| user_id.is_some_and(|user_id| members.contains(user_id));
        let groups = self.groups.iter();
        let mut of_groups: Vec<_> = groups
            .filter(|(_, group)| is_member(&group.members))
            .filter_map(|(id, group)| Some((&group.name_key, id, self.boards_of_home(id)?)))
            .collect();
        of_groups.sort_by_key(|(name_key, id, _)| (*name_key, *id));
        let mut homes: Vec<_> = of_groups.into_iter().map(|(.., boards)| boards).collect();
        homes.truncate(MOST_DEFAULT_HOMES as usize);
        homes.extend(self.boards_of_home(EVERYONE));
        homes
    }

    /// Those of these boards that this user may view, or everyone if there is no user.
    pub fn list_viewed(
        &self,
        user_id: Option<&str>,
        by_shares: bool,
        board_ids: &[String],
    ) -> BTreeSet<String> {
        let is_viewed = |id: &&String| match user_id {
            Some(user_id) => self.can_view_board(user_id, by_shares, id),
            None => self.boards.get(*id).is_some_and(|row| row.board.board.is_public),
        };
        board_ids.iter().filter(is_viewed).cloned().collect()
    }

    fn boards_of_home(&self, id: &str) -> Option<HomeBoards> {
        let home = self.default_homes.get(id)?;
        Some(home.boards.clone()).filter(|boards| *boards != HomeBoards::default())
    }

    pub fn set_default_home(&mut self, home: &DefaultHome) -> Result<bool> {
        if let Some(id) = &home.group_id
            && !self.groups.contains_key(id)
        {
            return Ok(false);
        }
        let boards = &home.boards;
        Self::check_reference(&self.boards, &boards.home_board_id)?;
        Self::check_reference(&self.boards, &boards.mobile_home_board_id)?;
        let key = home.group_id.as_deref().unwrap_or(EVERYONE);
        self.default_homes.insert(key.to_owned(), home.clone());
        Ok(true)
    }
}
