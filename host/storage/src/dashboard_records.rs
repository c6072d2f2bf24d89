//! The records that Portico keeps where it is the dashboard itself.

use std::net::IpAddr;

use serde::Serialize;

use portico_model::{ColorScheme, HomeBoards, Id, Provider, Timestamp, time};

/// The boards that people see first who have chosen none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultHome {
    /// The group whose members see them; `None`: everyone.
    pub group_id: Option<Id>,
    /// The boards.
    #[serde(flatten)]
    pub boards: HomeBoards,
}

/// The SHA-256 of a secret, which is stored instead of the secret.
pub type SecretHash = [u8; 32];

/// The credential of a request, as it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialKey {
    /// The id of an API key.
    Key(String),
    /// The hash of a session token.
    Session(SecretHash),
}

/// A key or a session, and what its user may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// The id of the key or the session.
    pub id: String,
    /// The hash of its secret.
    pub secret: SecretHash,
    /// The bcrypt hash of an imported key that has not been used yet. Then `secret` is a hash to which no secret is
    /// known.
    pub imported: Option<String>,
    /// The id of its user.
    pub user_id: String,
    /// The user's permissions from all groups, as stored; in order, each once. A key may have fewer: see `limits`.
    pub permissions: Vec<String>,
    /// What a key may do of that; everything for a session.
    pub limits: KeyLimits,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When a session ends even if it is used.
    pub ends_at: Option<Timestamp>,
}

/// What an API key may do of what its user may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyLimits {
    /// The chosen permissions, in order, each once: it may do what both these and the user's give. `None` for
    /// all of the user's.
    pub permissions: Option<Vec<String>>,
    /// Whether it may only read.
    pub read_only: bool,
}

impl KeyLimits {
    /// Whether the key may do less than its user.
    pub fn are_set(&self) -> bool {
        self.permissions.is_some() || self.read_only
    }
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The part before the dot.
    pub id: String,
    /// The name that its owner gave it.
    pub name: Option<String>,
    /// The id of its user.
    pub user_id: String,
    /// What it may do of what its user may do.
    #[serde(flatten)]
    pub limits: KeyLimits,
    /// When it was created.
    #[serde(serialize_with = "time::serialize")]
    pub created_at: Timestamp,
    /// When it expires.
    #[serde(serialize_with = "time::serialize_option")]
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    #[serde(serialize_with = "time::serialize_option")]
    pub last_used_at: Option<Timestamp>,
}

/// A session, without its token.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// The id of its user.
    pub user_id: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Timestamp,
    /// When it expires unless it is used earlier.
    pub expires_at: Timestamp,
    /// When it ends even if it is used.
    pub ends_at: Timestamp,
    /// The browser in which it began, in words.
    pub browser: Option<String>,
    /// The address at which it began.
    pub address: Option<IpAddr>,
}

/// The user of a session, as `GET /api/auth/session` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields of `model::User`")]
pub struct SessionUser {
    pub id: String,
    pub name: String,
    pub email: Option<String>,
    pub image: Option<String>,
    pub provider: Provider,
    pub color_scheme: ColorScheme,
    /// As stored, in order, each once.
    pub permissions: Vec<String>,
}

/// A new invite.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInvite {
    /// Its id.
    pub id: String,
    /// When it expires.
    pub expiration_date: Timestamp,
    /// The id of the user who created it; `None` for the operator.
    pub creator_id: Option<String>,
    /// For whom it is.
    pub note: Option<String>,
    /// The ids of the groups that the new user joins, each once.
    pub group_ids: Vec<String>,
}

/// An invite, without its token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invite {
    /// Its id.
    pub id: String,
    /// When it expires.
    #[serde(serialize_with = "time::serialize")]
    pub expiration_date: Timestamp,
    /// The user who created it; `None` for the operator.
    pub creator: Option<Named>,
    /// For whom it is.
    pub note: Option<String>,
    /// The groups that the new user joins, by id.
    pub groups: Vec<Named>,
}

/// An invite, as who has its token sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldInvite {
    /// When it expires.
    pub expiration_date: Timestamp,
    /// For whom it is.
    pub note: Option<String>,
}

/// A link with which a user sets a new password, without its token. It ends with the password that the user has now.
#[derive(Clone, Debug, PartialEq)]
pub struct PasswordLink {
    /// The id of the user.
    pub user_id: String,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The id of the user who made it; `None` for the operator.
    pub creator_id: Option<String>,
}

/// The id and the name of a user or a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// A group of users, and the permissions of its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Group {
    pub id: String,
    pub name: String,
    pub permissions: Vec<String>,
    pub members: Vec<Named>,
}

/// A user or a group whom a board is shared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// The id of the user or the group.
    pub id: String,
    /// Whether they may also change the name and the items.
    pub may_change: bool,
}

impl Share {
    /// A share with those who may view the board.
    pub fn to_view(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            may_change: false,
        }
    }
}

/// Whom a board is shared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// Users, in the order of ids.
    pub users: Vec<Share>,
    /// Groups, in the order of ids.
    pub groups: Vec<Share>,
}

/// A user or a group whom a board is shared with, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedShare {
    /// The user or the group.
    #[serde(flatten)]
    pub named: Named,
    /// Whether they may also change the name and the items.
    pub may_change: bool,
}

/// Whom a board is shared with, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NamedShares {
    /// Users, by name.
    pub users: Vec<NamedShare>,
    /// Groups, by name.
    pub groups: Vec<NamedShare>,
}

/// A search engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchEngine {
    /// Its id.
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// What users type before a query; unique.
    pub short: String,
    /// The URL of a search, with `%s` for the query.
    pub url_template: String,
    /// Its icon.
    pub icon_url: String,
    /// A description.
    pub description: Option<String>,
}

/// The SHA-256 of a secret.
pub fn hash_secret(secret: &str) -> SecretHash {
    use sha2::Digest;
    sha2::Sha256::digest(secret.as_bytes()).into()
}

/// The record about which clients store a text. Portico does not read it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExtrasOf {
    /// The user of this id.
    User(Id),
    /// The board of this id.
    Board(Id),
}

impl ExtrasOf {
    /// The longest text about a user, in characters.
    pub const MOST_OF_USER: usize = 8 << 10;
    /// The longest text about a board, in characters: a thousand items with their places.
    pub const MOST_OF_BOARD: usize = 256 << 10;
}
