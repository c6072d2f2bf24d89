//! The bridge to what is outside the contract, for an implementation in Rust.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

/// Creates and reads what belongs to the dashboard. Each call is independent: when it returns, its changes are
/// committed.
#[async_trait]
pub trait Bridge: Send + Sync + 'static {
    /// Carries out one call, as README.md describes.
    async fn call(&self, call: BridgeCall) -> Result<Value, BridgeError>;
}

/// Why a call of the bridge has no result.
#[derive(Clone, Debug)]
pub enum BridgeError {
    /// This dashboard has nothing of this kind, for this reason. Cases that need it are skipped.
    Unsupported(String),
    /// Another transaction is open, and this call cannot wait for its end.
    Retry,
    /// It failed, for this reason.
    Failed(String),
}

/// The calls of the bridge, which README.md describes. A later version may have more: for unknown ones, return
/// [`BridgeError::Unsupported`].
#[derive(Clone, Debug, Deserialize)]
#[serde(
    tag = "call",
    content = "arguments",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
#[allow(missing_docs, reason = "README.md describes each")]
#[non_exhaustive]
pub enum BridgeCall {
    Hello {},
    PutGroup(Group),
    GetGroup {
        id: String,
    },
    DeleteGroup {
        id: String,
    },
    GetPermissions {
        user: String,
    },
    PutInvite {
        id: String,
        token: String,
        expires_at: u64,
        creator: Option<String>,
    },
    DeleteInvite {
        id: String,
    },
    PutBoard(Board),
    GetBoard {
        id: String,
    },
    DeleteBoard {
        id: String,
    },
    PutSearchEngine {
        id: String,
        name: String,
    },
    DeleteSearchEngine {
        id: String,
    },
    PutSession {
        id: String,
        user: String,
    },
    GetSessions {
        user: String,
    },
    BeginSignIn {
        id: String,
        user: String,
    },
    EndSignIn {
        id: String,
        user: String,
    },
    PutKey {
        id: String,
        user: String,
    },
    GetKeys {
        user: String,
    },
    GetColorScheme {
        user: String,
    },
}

/// A group to create.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its name, which is also its name-key.
    pub name: String,
    /// The permissions of its members.
    pub permissions: Vec<String>,
    /// The ids of its members.
    pub members: Vec<String>,
}

/// A board to create.
#[derive(Clone, Debug, Deserialize)]
pub struct Board {
    /// Its id.
    pub id: String,
    /// Its name, which is also its name-key.
    pub name: String,
    /// Whether everyone may view it.
    pub public: bool,
    /// The id of the user who created it.
    pub creator: Option<String>,
    /// The ids of the users with whom it is shared.
    pub users: Vec<String>,
    /// The ids of the groups with which it is shared.
    pub groups: Vec<String>,
    /// The ids of the apps on it, in order.
    pub apps: Vec<String>,
}
