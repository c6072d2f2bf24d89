//! Whose view of the apps a statement takes, where callers see only the apps on boards that they may view.
//!
//! The conditions are written here once. In each, `$1` is the id of the user, or NULL for an anonymous caller; where boards
//! are viewed, `$2` is whether the user's permissions count. They use
//! EXISTS on one record, so a look-up by id costs only what the record's own boards cost, however many other boards
//! there are.

/// Whether the user may view the board whose id this expression is. The last part depends on the user alone.
macro_rules! may_view {
    ($board_id:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM ~board_group AS shared JOIN ~group_member AS member
                    ON member.group_id = shared.group_id
                WHERE shared.board_id = ",
            $board_id,
            " AND member.user_id = $1)
            OR EXISTS (SELECT 1 FROM ~board AS viewed
                WHERE viewed.id = ",
            $board_id,
            " AND (viewed.is_public OR viewed.creator_id = $1))
            OR EXISTS (SELECT 1 FROM ~board_user AS shared
                WHERE shared.board_id = ",
            $board_id,
            " AND shared.user_id = $1)
            OR EXISTS (SELECT 1 FROM ~group_member AS member JOIN ~group_permission AS held
                    ON held.group_id = member.group_id
                WHERE $2 AND member.user_id = $1
                    AND held.permission IN ('admin', 'board-view-all', 'board-modify-all', 'board-full-all')))"
        )
    };
}
pub(crate) use may_view;

/// Whether the user has made the board whose id this expression is, or a share lets them change it. A permission may
/// let them, too: callers know those.
macro_rules! may_change {
    ($board_id:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM ~board AS made WHERE made.id = ",
            $board_id,
            " AND made.creator_id = $1)
            OR EXISTS (SELECT 1 FROM ~board_user AS shared
                WHERE shared.board_id = ",
            $board_id,
            " AND shared.may_change AND shared.user_id = $1)
            OR EXISTS (SELECT 1 FROM ~board_group AS shared JOIN ~group_member AS member
                    ON member.group_id = shared.group_id
                WHERE shared.board_id = ",
            $board_id,
            " AND shared.may_change AND member.user_id = $1))"
        )
    };
}
pub(crate) use may_change;

/// Whether a row of `~app AS app` is on a board that the user may view.
macro_rules! seen {
    () => {
        concat!(
            "(EXISTS (SELECT 1 FROM ~board_item AS item
                WHERE item.app_id = app.id AND ",
            $crate::views::may_view!("item.board_id"),
            ")
            OR EXISTS (SELECT 1 FROM ~board_item_app AS item
                WHERE item.app_id = app.id AND ",
            $crate::views::may_view!("item.board_id"),
            "))"
        )
    };
}
pub(crate) use seen;

#[cfg(test)]
mod tests {
    use portico_storage::driver::VIEW_ALL_BOARDS;

    #[test]
    fn the_permissions_in_the_condition_are_those_of_storage() {
        let condition = may_view!("board.id");
        let permissions = VIEW_ALL_BOARDS.map(|permission| format!("'{permission}'"));
        assert!(condition.contains(&format!("IN ({})", permissions.join(", "))));
    }
}
