//! What the component asks of storage: the traits that every embedder implements.

use async_trait::async_trait;

use crate::context::CallContext;
use crate::records::{
    Access, Account, AccountKey, AppFilter, NewUser, Result, StoredApp, UserChange, UserFilter,
};
use portico_model::{App, Provider, Timestamp, User, UserSummary};

/// Opens transactions.
#[async_trait]
pub trait Storage: Send + Sync + 'static {
    /// Begins a transaction. It may wait until other write transactions have ended.
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>>;
}

/// One transaction: the functions of `wit/storage.wit`, which documents them. Dropping it without
/// `commit` undoes it.
#[async_trait]
#[allow(missing_docs, reason = "wit/storage.wit documents every function")]
pub trait Transaction: Send + 'static {
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Whether this is a write transaction that does not block other writers yet. Once it does, the host
    /// limits how long the component may hold it.
    fn is_waiting_for_write_lock(&self) -> bool {
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
