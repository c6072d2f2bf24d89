//! What the gate in front of apps asks of storage: where apps are, and who comes.

use portico_model::{Id, Timestamp};

/// What is kept of an app for the gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppGate {
    /// The id of the app.
    pub app_id: Id,
    /// Where the app is as well as at its link: URLs without white space, in the order in which they were given.
    pub addresses: Vec<String>,
    /// Whether the app passes for everyone while it is on a public board.
    pub is_open: bool,
}

impl AppGate {
    /// Whether nothing is set, so that only the link of the app counts.
    pub fn is_unset(&self) -> bool {
        self.addresses.is_empty() && !self.is_open
    }
}

/// Where an app is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPlace {
    /// The id of the app.
    pub app_id: Id,
    /// Its link.
    pub href: Option<String>,
    /// Where it is as well.
    pub addresses: Vec<String>,
}

/// Who comes to the gate, by a pass of their session.
#[derive(Clone, Debug, PartialEq)]
pub struct GateVisitor {
    /// The id of the session.
    pub session_id: Id,
    /// The id of the user.
    pub user_id: Id,
    /// The name of the user.
    pub name: String,
    /// The email of the user.
    pub email: Option<String>,
    /// Whether another user has the same name, by another provider.
    pub is_name_shared: bool,
    /// The names of the user's groups, in order, each once.
    pub groups: Vec<String>,
    /// The user's permissions, in order, each once.
    pub permissions: Vec<String>,
    /// When the session expires unless it is used.
    pub expires_at: Timestamp,
    /// When the session ends even if it is used.
    pub ends_at: Timestamp,
}
