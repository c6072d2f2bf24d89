//! Whose view of the apps a driver takes, where callers see only the apps on boards that they may view.

use crate::records::Viewer;

/// A view that does not show all apps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The viewer; `None` is an anonymous caller.
    pub user_id: Option<String>,
}

impl View {
    /// The view of this viewer; `None` if it shows all apps.
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
