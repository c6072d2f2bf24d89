//! What the component asks of storage: the traits that every embedder implements.

use async_trait::async_trait;

use crate::context::CallContext;
use crate::records::{
    Access, Account, AccountKey, AppFilter, ListedUser, NewUser, Profile, ProviderSubject, Result, Slice,
    StoredApp, UserFilter, Viewer,
};
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};

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
    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>>;
    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>>;
    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32>;
    async fn insert_user(&mut self, user: &NewUser) -> Result<()>;
    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()>;
    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool>;
    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool>;
    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool>;
    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool>;
    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool>;
    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool>;
    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool>;
    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool>;
    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool>;
    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool>;
    async fn delete_user(&mut self, id: &str) -> Result<bool>;

    async fn has_another_admin(&mut self, except: &str) -> Result<bool>;
    async fn grant_admin(&mut self, id: &str) -> Result<()>;
    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool>;
    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool>;
    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool>;
    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool>;
    async fn has_search_engine(&mut self, id: &str) -> Result<bool>;

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>>;
    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>>;
    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>>;
    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32>;
    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()>;
    async fn update_app(&mut self, app: &StoredApp) -> Result<bool>;
    async fn delete_app(&mut self, id: &str) -> Result<bool>;
}
