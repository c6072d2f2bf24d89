//! Where users and apps live, and whatever else a dashboard keeps.
//!
//! Two traits, because there are two kinds of hosts. [`Storage`] is what the component asks for
//! (`wit/storage.wit`, one method for each function): a dashboard that embeds Portico implements
//! that and nothing else. [`DashboardStorage`] adds what Portico keeps where it is the dashboard
//! itself: keys, sessions, invites, groups, boards, search engines and the audit log.
//!
//! Invariants of every driver:
//! - A transaction that is dropped leaves nothing behind; `commit` returns when all of it is durable.
//! - A write transaction sees every earlier commit, and no other writes until it ends.
//! - A transaction in which a call failed takes no more writes, and cannot be committed.
//! - "By name" is the order of the name-key's bytes, then of the id's.
//! - Where the context says so, a write transaction writes a row of the audit log before it commits.
//! - What must hold under concurrency (unique names, an invite taken once, a password replaced
//!   once) is held in here, inside the transaction.

mod audit;
mod dashboard;
pub mod driver;
pub mod memory;
pub mod nested;
mod new_password;
pub mod priority;
mod records;
pub mod secrets;
mod snapshot;
mod without_dashboard;

use std::sync::Arc;

use async_trait::async_trait;

pub use audit::*;
pub use dashboard::*;
pub use new_password::NewToken;
pub use snapshot::{SharedSnapshot, Snapshot};
pub use without_dashboard::WithoutDashboard;

pub use records::{
    Access, Account, AccountKey, AppFilter, Constraint, Error, NewUser, Profile, StoredApp, UserChange,
    UserFilter,
};

use crate::secrets::{Secrets, SystemRandom};
use portico_model::time::{Clock, SystemClock};
use portico_model::{App, Provider, Timestamp, User, UserSummary};

/// What storage answers.
pub type Result<T> = std::result::Result<T, Error>;

/// On whose behalf a transaction runs.
#[derive(Clone)]
pub struct CallContext {
    /// The id of the user who calls.
    pub user_id: Option<String>,
    /// How they proved it.
    pub authentication: Authentication,
    /// The request, as the log and error messages name it.
    pub request_id: String,
    /// What is recorded of it by the write transaction that commits; none: nothing.
    pub audit: Option<Arc<AuditedCall>>,
    /// What the session of the call is to be known by once its user has a new password; none: it stays as it is.
    pub new_token: Option<Arc<NewToken>>,
    /// What the reads of the request may have in common. A driver may leave it alone.
    pub snapshot: SharedSnapshot,
}

impl CallContext {
    /// The same, within this snapshot.
    pub fn within(self, snapshot: SharedSnapshot) -> Self {
        Self { snapshot, ..self }
    }

    /// The same, with this to be recorded.
    pub fn audited(self, call: Option<Arc<AuditedCall>>) -> Self {
        Self { audit: call, ..self }
    }

    /// Says to whatever is recorded which session begins.
    pub fn signed_in(&self, session: &Session) {
        if let Some(call) = &self.audit {
            call.signed_in(session);
        }
    }

    /// The session that the call came in on.
    pub fn session_id(&self) -> Option<String> {
        match &self.authentication {
            Authentication::Session(id) => Some(id.clone()),
            _ => None,
        }
    }
}

/// How a caller proved who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// Not at all.
    None,
    /// With a session, by its id.
    Session(String),
    /// With an API key, by its id.
    Key(String),
    /// By being at the machine: the command line on the data directory.
    Operator,
    /// The embedding dashboard vouches for them.
    Host,
}

/// Opens transactions.
#[async_trait]
pub trait Storage: Send + Sync + 'static {
    /// Begins a transaction; waits for its turn if need be.
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>>;
}

/// One transaction: the functions of `wit/storage.wit`, documented there.
#[async_trait]
#[allow(missing_docs, reason = "wit/storage.wit documents every function")]
pub trait Transaction: Send + 'static {
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Whether it writes but keeps nobody else from writing yet: its turn is still to come. The time
    /// that a component may take for a write transaction is counted from its turn on.
    fn waits_for_turn(&self) -> bool {
        false
    }

    async fn has_users(&mut self) -> Result<bool>;
    async fn get_user(&mut self, id: &str) -> Result<Option<User>>;
    async fn list_users(&mut self, filter: &UserFilter) -> Result<Vec<UserSummary>>;
    async fn find_account(&mut self, key: &AccountKey) -> Result<Option<Account>>;
    async fn insert_user(&mut self, user: &NewUser) -> Result<()>;
    async fn insert_identity(&mut self, user_id: &str, provider: Provider, subject: &str) -> Result<()>;
    async fn update_user(&mut self, id: &str, change: &UserChange) -> Result<bool>;
    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool>;
    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool>;
    async fn delete_user(&mut self, id: &str) -> Result<bool>;

    async fn another_admin_exists(&mut self, except: &str) -> Result<bool>;
    async fn grant_admin(&mut self, id: &str) -> Result<()>;
    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool>;
    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool>;
    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool>;
    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool>;
    async fn has_search_engine(&mut self, id: &str) -> Result<bool>;

    async fn get_app(&mut self, id: &str) -> Result<Option<App>>;
    async fn get_apps(&mut self, ids: &[String]) -> Result<Vec<App>>;
    async fn list_apps(&mut self, filter: &AppFilter) -> Result<Vec<App>>;
    async fn count_apps(&mut self, name_contains: &str) -> Result<u32>;
    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()>;
    async fn update_app(&mut self, app: &StoredApp) -> Result<bool>;
    async fn delete_app(&mut self, id: &str) -> Result<bool>;
}

/// The permission that implies all others.
pub const ADMIN: &str = "admin";

/// What makes the ids of the records that a driver creates by itself.
#[derive(Clone)]
pub struct Ids {
    secrets: Secrets,
    clock: Arc<dyn Clock>,
}

impl Ids {
    /// Makes them from these.
    pub fn new(secrets: Secrets, clock: Arc<dyn Clock>) -> Self {
        Self { secrets, clock }
    }

    /// A new id.
    pub fn next(&self) -> String {
        self.secrets.id(self.clock.now())
    }
}

/// From the machine's random numbers and its clock.
impl Default for Ids {
    fn default() -> Self {
        Self::new(Secrets::new(Arc::new(SystemRandom)), Arc::new(SystemClock))
    }
}
