//! Whose view of the apps a statement takes, where callers see only the apps on boards that they may view.
//!
//! The conditions stand here once. In each, `?1` is the id of the user, or NULL for an anonymous caller.

use portico_storage::Viewer;

/// Whether the user may view a row of `board`, permissions aside.
macro_rules! may_view {
    () => {
        "(
            board.is_public
            OR board.creator_id = ?1
            OR EXISTS (SELECT 1 FROM board_user WHERE board_id = board.id AND user_id = ?1)
            OR EXISTS (
                SELECT 1 FROM board_group JOIN group_member USING (group_id)
                WHERE board_id = board.id AND user_id = ?1
            )
        )"
    };
}
pub(super) use may_view;

/// Whether a row of `app` stands on a board that the user may view.
pub(super) const SEEN: &str = concat!(
    "(
        EXISTS (
            SELECT 1 FROM board_item JOIN board ON board.id = board_id
            WHERE app_id = app.id AND ",
    may_view!(),
    "
        ) OR EXISTS (
            SELECT 1 FROM board_item_app JOIN board ON board.id = board_id
            WHERE app_id = app.id AND ",
    may_view!(),
    "
        )
    )"
);

/// A view that does not show all apps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// None for an anonymous caller.
    pub user_id: Option<String>,
}

impl View {
    /// The view of this viewer; none if it shows all apps.
    pub fn of(viewer: &Viewer) -> Option<Self> {
        match viewer {
            Viewer::Everything => None,
            Viewer::Anonymous => Some(Self { user_id: None }),
            Viewer::User(id) => Some(Self {
                user_id: Some(id.clone()),
            }),
        }
    }
}
