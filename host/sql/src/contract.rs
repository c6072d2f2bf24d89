//! The functions of `wit/storage.wit`. The module of each record has the statements.

use async_trait::async_trait;
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};
use portico_storage::{
    Account, AccountKey, AppFilter, ListedUser, NewUser, Profile, ProviderSubject, Result, Slice, StoredApp,
    Transaction, UserFilter, Viewer, hash_secret,
};

use crate::database::Database;
use crate::transaction::SqlTransaction;

#[async_trait]
impl<D: Database> Transaction for SqlTransaction<D> {
    async fn commit(self: Box<Self>) -> Result<()> {
        self.runner.finish().await
    }

    fn is_waiting_for_write_lock(&self) -> bool {
        self.runner.is_waiting_for_write_lock()
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.runner.has_users().await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        self.runner.get_user(id).await
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        self.runner.get_account(key).await
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        self.runner.list_users(filter, slice, with_images).await
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        self.runner.count_users(filter).await
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.runner.insert_user(user).await
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        self.runner.insert_identity(user_id, subject).await
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        self.runner.set_profile(id, profile).await
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        self.runner.set_image(id, image).await
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        self.runner.set_home_boards(id, boards).await
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        self.runner.set_search_preferences(id, preferences).await
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        self.runner.set_color_scheme(id, color_scheme).await
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        self.runner.set_ping_icons_enabled(id, enabled).await
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        self.runner.set_first_day_of_week(id, day).await
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        self.runner.set_disabled(id, disabled).await
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        self.runner.set_password_if(id, old, new).await
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.runner.rehash_password_if(id, old, new).await
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_user(id).await
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        self.runner.has_another_admin(except).await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        self.runner.grant_admin(id).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.runner.add_to_group(user_id, group_id).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.runner.has_invite(id, token, now).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.runner.take_held_invite(id, &hash_secret(token), now).await
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.runner.can_view_board(user_id, board_id).await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.runner.has_search_engine(id).await
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        self.runner.get_app(id, viewer).await
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        self.runner.get_apps(ids, viewer).await
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        self.runner.list_apps(filter, slice).await
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        self.runner.count_apps(filter).await
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        self.runner.insert_apps(apps).await
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.runner.update_app(app).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        self.runner.delete_app(id).await
    }
}
