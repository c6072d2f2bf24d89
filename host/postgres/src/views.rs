//! Whose view of the apps a statement takes, where callers see only the apps on boards that they may view.
//!
//! The conditions stand here once. In each, `$1` is the id of the user, or NULL for an anonymous caller.

use std::sync::LazyLock;

use portico_storage::ADMIN;
use portico_storage::driver::BOARD_PERMISSIONS;

/// Whether the user may view the board with this id, which is an expression. Shares with groups come first: most boards
/// are shared so. PostgreSQL evaluates the last part once for a statement, because it depends on the user alone.
fn may_view(board_id: &str) -> String {
    let length = BOARD_PERMISSIONS.len();
    format!(
        "(
            EXISTS (
                SELECT 1 FROM board_group JOIN group_member USING (group_id)
                WHERE board_id = {board_id} AND user_id = $1
            )
            OR EXISTS (
                SELECT 1 FROM board AS viewed
                WHERE viewed.id = {board_id} AND (viewed.is_public OR viewed.creator_id = $1)
            )
            OR EXISTS (SELECT 1 FROM board_user WHERE board_id = {board_id} AND user_id = $1)
            OR EXISTS (
                SELECT 1 FROM group_member JOIN group_permission USING (group_id)
                WHERE user_id = $1
                    AND (permission = '{ADMIN}' OR substr(permission, 1, {length}) = '{BOARD_PERMISSIONS}')
            )
        )"
    )
}

/// Whether the user may view a row of `board`.
pub(super) static MAY_VIEW: LazyLock<String> = LazyLock::new(|| may_view("board.id"));

/// Whether a row of `app` stands on a board that the user may view.
pub(super) static SEEN: LazyLock<String> = LazyLock::new(|| {
    let may_view = may_view("item.board_id");
    format!(
        "(
            EXISTS (SELECT 1 FROM board_item AS item WHERE item.app_id = app.id AND {may_view})
            OR EXISTS (SELECT 1 FROM board_item_app AS item WHERE item.app_id = app.id AND {may_view})
        )"
    )
});
