//! What is outside the contract, for an implementation in Rust.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

/// Puts there, and looks at, what belongs to the dashboard. Each call is whole in itself: what it
/// changed is committed when it answers.
#[async_trait]
pub trait Bridge: Send + Sync + 'static {
    /// Answers one call; README.md says with what.
    async fn call(&self, call: BridgeCall) -> Result<Value, BridgeError>;
}

/// Why a call of the bridge's has no answer.
#[derive(Clone, Debug)]
pub enum BridgeError {
    /// This dashboard has no such thing, in words: cases that need it are skipped.
    Unsupported(String),
    /// It did not work.
    Failed(String),
}

/// The calls of the bridge's own; README.md describes them. There may be more in a later version:
/// answer those with [`BridgeError::Unsupported`].
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

/// A group to put there.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its name, which is its name-key too.
    pub name: String,
    /// What its members may do.
    pub permissions: Vec<String>,
    /// The ids of its members.
    pub members: Vec<String>,
}

/// A board to put there.
#[derive(Clone, Debug, Deserialize)]
pub struct Board {
    /// Its id.
    pub id: String,
    /// Its name, which is its name-key too.
    pub name: String,
    /// Whether everyone may view it.
    pub public: bool,
    /// Who made it.
    pub creator: Option<String>,
    /// The users whom it is shared with.
    pub users: Vec<String>,
    /// The groups whom it is shared with.
    pub groups: Vec<String>,
    /// The apps that it shows, in order.
    pub apps: Vec<String>,
}
