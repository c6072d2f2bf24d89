//! What Portico keeps where it is the dashboard itself.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    Access, AuditEntry, AuditFilter, AuditPrune, AuditRow, CallContext, Result, Storage, Transaction,
};
use portico_model::{ColorScheme, Provider, Timestamp, time};

/// The SHA-256 of a secret: all that is kept of it.
pub type SecretHash = [u8; 32];

/// Opens transactions on everything that Portico keeps.
#[async_trait]
pub trait DashboardStorage: Storage {
    /// Begins a transaction; waits for its turn if need be.
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>>;

    /// Whether changes can be kept at this moment, as far as is known without making one.
    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// One transaction on everything that Portico keeps.
///
/// `insert_…` and `update_…` with a name answer false where the name is another's, and `update_…`
/// also where there is no such record. A reference to a record that is
/// not there is `Error::Constraint(Constraint::Reference)`.
#[async_trait]
pub trait DashboardTransaction: Transaction {
    /// What a key or a session token stands for; with the user's permissions, in one look.
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>>;
    /// Who a session shows its user to be.
    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>>;

    /// How often a user's password was set; another hash of the same password does not count.
    /// None if there is no such user.
    async fn password_version(&mut self, user_id: &str) -> Result<Option<u32>>;

    /// Keeps a new key.
    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()>;
    /// All keys, by id.
    async fn list_keys(&mut self) -> Result<Vec<ApiKey>>;
    /// Removes a key; false if there is no such key.
    async fn delete_key(&mut self, id: &str) -> Result<bool>;
    /// Notes that a key was used.
    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()>;

    /// Keeps a new session.
    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()>;
    /// A user's sessions by id, also those that have expired.
    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>>;
    /// Notes that a session was used, and when it expires now.
    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()>;
    /// Removes a session; false if there is no such session.
    async fn delete_session(&mut self, id: &str) -> Result<bool>;
    /// Removes the sessions that have expired.
    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()>;

    /// Keeps a new invite.
    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()>;
    /// All invites by expiration date, then id.
    async fn list_invites(&mut self) -> Result<Vec<Invite>>;
    /// Removes an invite; false if there is no such invite.
    async fn delete_invite(&mut self, id: &str) -> Result<bool>;

    /// Creates a group without permissions or members.
    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool>;
    /// Changes how a group's name is written.
    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool>;
    /// All groups by name; permissions in order, members by name.
    async fn list_groups(&mut self) -> Result<Vec<Group>>;
    /// The id of the group with this name-key.
    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>>;
    /// The ids of the groups that a user is in, in order.
    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>>;
    /// Removes a group; false if there is no such group.
    async fn delete_group(&mut self, id: &str) -> Result<bool>;
    /// Replaces a group's permissions; false if there is no such group.
    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool>;
    /// Ends a membership; false if there is none.
    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool>;

    /// Creates a board with its items, in order.
    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool>;
    /// Replaces a board with its items; whom it is shared with stays.
    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool>;
    /// All boards by name, without their items.
    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>>;
    /// A board with its items.
    async fn get_board(&mut self, id: &str) -> Result<Option<Board>>;
    /// Whom a board is shared with.
    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>>;
    /// Replaces whom a board is shared with; false if there is no such board.
    async fn share_board(&mut self, id: &str, users: &[String], groups: &[String]) -> Result<bool>;
    /// Removes a board; false if there is no such board.
    async fn delete_board(&mut self, id: &str) -> Result<bool>;

    /// Creates a search engine; false where its name or its short is taken.
    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool>;
    /// Replaces a search engine; false also where its short is another's.
    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool>;
    /// All search engines by name.
    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>>;
    /// Removes a search engine; false if there is no such engine.
    async fn delete_search_engine(&mut self, id: &str) -> Result<bool>;

    /// Adds a row to the audit log. (That of a call with success writes the transaction itself.)
    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()>;
    /// So many rows after so many others, by time and then by number, newest first.
    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>>;
    /// How many rows fit.
    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64>;
    /// Removes the oldest of these rows, at most so many; says how many it removed.
    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64>;
}

/// What a request shows to prove who sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialKey {
    /// An API key, by its id.
    Key(String),
    /// A session, by the hash of its token.
    Session(SecretHash),
}

/// What a key or a session token stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// The id of the key or the session.
    pub id: String,
    /// The hash of its secret.
    pub secret: SecretHash,
    /// Whose it is.
    pub user_id: String,
    /// What the user may do, from all groups, as stored; in order, each once.
    pub permissions: Vec<String>,
    /// From when on it is worth nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, as far as noted.
    pub last_used_at: Option<Timestamp>,
    /// Of a session: when it ends, however much it is used.
    pub ends_at: Option<Timestamp>,
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// What stands before the dot.
    pub id: String,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Whose it is.
    pub user_id: String,
    /// When it was made.
    #[serde(serialize_with = "time::serialize")]
    pub created_at: Timestamp,
    /// From when on it is worth nothing.
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
    /// Whose it is.
    pub user_id: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Timestamp,
    /// From when on it is worth nothing, unless it is used before.
    pub expires_at: Timestamp,
    /// When it ends, however much it is used.
    pub ends_at: Timestamp,
}

/// Who a session shows its user to be.
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

/// An invite to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInvite {
    /// Its id.
    pub id: String,
    /// From when on it is worth nothing.
    pub expiration_date: Timestamp,
    /// Who made it; none: the operator.
    pub creator_id: Option<String>,
}

/// An invite, without its token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invite {
    /// Its id.
    pub id: String,
    /// From when on it is worth nothing.
    #[serde(serialize_with = "time::serialize")]
    pub expiration_date: Timestamp,
    /// Who made it; none: the operator.
    pub creator: Option<Named>,
}

/// Somebody or something by its id, with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// A group of users, and what its members may do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Group {
    pub id: String,
    pub name: String,
    pub permissions: Vec<String>,
    pub members: Vec<Named>,
}

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardSummary {
    /// Its id.
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// Whether everyone may view it.
    pub is_public: bool,
    /// Who made it; none once that user is gone.
    pub creator_id: Option<String>,
}

/// A board with what it shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// The board.
    #[serde(flatten)]
    pub board: BoardSummary,
    /// What it shows, in order.
    pub items: Vec<BoardItem>,
}

/// Whom a board is shared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// The ids of users, in order.
    pub users: Vec<String>,
    /// The ids of groups, in order.
    pub groups: Vec<String>,
}

/// One thing on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum BoardItem {
    /// One app. The item goes when the app does.
    App {
        /// The app.
        app_id: String,
    },
    /// A list of apps. One that is deleted leaves the list.
    Bookmarks {
        /// The apps, in order.
        app_ids: Vec<String>,
    },
}

/// A search engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchEngine {
    /// Its id.
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// What one types before the query; unique.
    pub short: String,
    /// Where it searches, with `%s` for the query.
    pub url_template: String,
    /// Its icon.
    pub icon_url: String,
    /// What it is.
    pub description: Option<String>,
}

/// The SHA-256 of a secret's text.
pub fn hash_secret(secret: &str) -> SecretHash {
    use sha2::Digest;
    sha2::Sha256::digest(secret.as_bytes()).into()
}
