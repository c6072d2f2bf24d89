//! Whose view of the apps a statement takes, where callers see only the apps on boards that they may view.
//!
//! The conditions stand here once. In each, `$1` is the id of the user, or NULL for an anonymous caller.

use std::sync::LazyLock;

use portico_storage::ADMIN;
use portico_storage::driver::BOARD_PERMISSIONS;

/// Whether the user may view a row of `board`. PostgreSQL evaluates the last part once for a statement,
/// because it depends on the user alone.
pub(super) static MAY_VIEW: LazyLock<String> = LazyLock::new(|| {
    format!(
        "(
            board.is_public
            OR board.creator_id = $1
            OR EXISTS (SELECT 1 FROM board_user WHERE board_id = board.id AND user_id = $1)
            OR EXISTS (
                SELECT 1 FROM board_group JOIN group_member USING (group_id)
                WHERE board_id = board.id AND user_id = $1
            )
            OR EXISTS (
                SELECT 1 FROM group_member JOIN group_permission USING (group_id)
                WHERE user_id = $1
                    AND (permission = '{ADMIN}' OR starts_with(permission, '{BOARD_PERMISSIONS}'))
            )
        )"
    )
});

/// Whether a row of `app` stands on a board that the user may view. Each board is looked at once.
pub(super) static SEEN: LazyLock<String> = LazyLock::new(|| {
    let may_view = &*MAY_VIEW;
    format!(
        "app.id IN (
            SELECT app_id FROM board_item JOIN board ON board.id = board_id WHERE app_id IS NOT NULL AND {may_view}
            UNION ALL
            SELECT app_id FROM board_item_app JOIN board ON board.id = board_id WHERE {may_view}
        )"
    )
});
