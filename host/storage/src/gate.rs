//! What the gate in front of apps reads from storage: where apps are, and whose pass it is.

use portico_model::{Id, Timestamp};

/// What is kept of an app for the gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppGate {
    /// The id of the app.
    pub app_id: Id,
    /// The further addresses of the app, in addition to its link: URLs without white space, in the order in which they were given.
    pub addresses: Vec<String>,
    /// Whether everyone may open the app while it is on a public board.
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
    /// Its further addresses.
    pub addresses: Vec<String>,
}

/// The user whose session has a pass at the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateVisitor {
    /// The id of the session.
    pub session_id: Id,
    /// The id of the user.
    pub user_id: Id,
    /// The name of the user.
    pub name: String,
    /// The email of the user, if it is verified or the directory's: others may have chosen theirs themselves, at an issuer too.
    pub email: Option<String>,
    /// Whether another user, by another provider, has the same name, so that apps could take the one for the other. People with
    /// a password of this dashboard choose their names themselves, and so take away no one else's: for a user of another
    /// provider, one of them counts only as an administrator.
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
