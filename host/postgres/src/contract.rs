//! The functions of `wit/storage.wit`: for each, its statements and the lock that they need.

use async_trait::async_trait;

use super::search::Search;
use super::transaction::{BlindWrite, PostgresTransaction};
use super::{apps, boards, credentials, groups, invites, query, search_engines, users};
use crate::connection::Connection;
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};
use portico_storage::driver::PasswordSetter;
use portico_storage::{
    Account, AccountKey, AppFilter, ListedUser, NewUser, Profile, ProviderSubject, Result, Slice, StoredApp,
    Transaction, UserFilter, Viewer,
};

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn commit(self: Box<Self>) -> Result<()> {
        self.finish().await
    }

    fn is_waiting_for_write_lock(&self) -> bool {
        self.is_unsent()
    }

    async fn has_users(&mut self) -> Result<bool> {
        let found = users::has_any(self.read_once().await?).await;
        self.ended(found).await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        let (db, locked) = self.read_row().await?;
        let found = users::get(db, id, locked).await;
        self.ended(found).await
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let (db, locked) = match key {
            AccountKey::Id(_) => self.read_row().await?,
            // A caller may write because there is none.
            AccountKey::Name(_) | AccountKey::Subject(_) => (self.read_once().await?, false),
        };
        let found = users::get_account(db, key, locked).await;
        self.ended(found).await
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        let search = self.search(filter.name_contains.as_deref());
        let found = users::list(self.read_once().await?, filter, &search, slice, with_images).await;
        self.ended(found).await
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        let search = self.search(filter.name_contains.as_deref());
        let count = users::count(self.read_once().await?, filter, &search).await;
        self.ended(count).await
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        let inserted = users::insert(self.write_beside().await?, user).await;
        self.created(&user.user.id, inserted.map(|()| true))
            .await
            .map(drop)
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        let inserted = users::insert_identity(self.write().await?, user_id, subject).await;
        self.ended(inserted).await
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        let set = users::set_profile(self.write_beside().await?, id, profile).await;
        self.changed(id, set).await
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        let set = users::set_image(self.write_beside().await?, id, image).await;
        self.changed(id, set).await
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        let set = users::set_home_boards(self.write_beside().await?, id, boards).await;
        self.changed(id, set).await
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        let set = users::set_search_preferences(self.write_beside().await?, id, preferences).await;
        self.changed(id, set).await
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        let set = users::set_color_scheme(self.write_beside().await?, id, color_scheme).await;
        self.changed(id, set).await
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        let set = users::set_ping_icons_enabled(self.write_beside().await?, id, enabled).await;
        self.changed(id, set).await
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        let set = users::set_first_day_of_week(self.write_beside().await?, id, day).await;
        self.changed(id, set).await
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        let set = set_disabled(self.write().await?, id, disabled).await;
        self.changed(id, set).await
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let setter = self.setter.clone();
        let set = set_password_if(self.write_beside().await?, &setter, id, old, new).await;
        let (replaced, renewed) = self.ended(set).await?;
        if renewed {
            self.setter.renewed();
        }
        Ok(replaced)
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        let set = users::rehash_password_if(self.write_beside().await?, id, old, new).await;
        self.ended(set).await
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        let deleted = users::delete(self.write().await?, id).await;
        self.ended(deleted).await
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        let found = groups::has_another_admin(self.read_once().await?, except).await;
        self.ended(found).await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        let new_group_id = self.next_id();
        let granted = groups::grant_admin(self.write().await?, id, &new_group_id).await;
        self.ended(granted).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        let added = groups::add_member(self.write_beside().await?, group_id, user_id).await;
        self.ended(added).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        let found = invites::is_valid(self.read_once().await?, id, token, now, false).await;
        self.ended(found).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        let taken = invites::take(self.write_beside().await?, id, token, now).await;
        self.ended(taken).await
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        let (db, locked) = self.read_row().await?;
        let can = boards::can_view(db, user_id, board_id, locked).await;
        self.ended(can).await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        let (db, locked) = self.read_row().await?;
        let found = search_engines::exists(db, id, locked).await;
        self.ended(found).await
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        let view = self.view(viewer);
        let (db, locked) = self.read_row().await?;
        let found = apps::get(db, id, view.as_ref(), locked).await;
        self.ended(found).await
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        let view = self.view(viewer);
        let found = apps::get_many(self.read_once().await?, ids, view.as_ref()).await;
        self.ended(found).await
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        let search = self.search(filter.name_contains.as_deref());
        let view = self.view(&filter.viewer);
        let found = apps::list(self.read_once().await?, view.as_ref(), &search, slice).await;
        self.ended(found).await
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        let search = self.search(filter.name_contains.as_deref());
        let view = self.view(&filter.viewer);
        let count = apps::count(self.read_once().await?, view.as_ref(), &search).await;
        self.ended(count).await
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        if self.defers() {
            self.write_blind(BlindWrite::Apps(apps.to_owned()))?;
        } else {
            let inserted = apps::insert(self.write_beside().await?, apps).await;
            self.ended(inserted).await?;
        }
        apps.iter().for_each(|app| self.trail.created(&app.app.id));
        Ok(())
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        let updated = apps::update(self.write_beside().await?, app).await;
        self.ended(updated).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        let deleted = apps::delete(self.write_beside().await?, id).await;
        self.ended(deleted).await
    }
}

impl PostgresTransaction {
    fn search(&self, contains: Option<&str>) -> Search {
        Search::new(contains.unwrap_or_default(), self.has_trigrams())
    }
}

/// The user's row first: a session that is begun meanwhile waits for it, or is seen by what follows.
async fn set_disabled(db: &Connection, id: &str, disabled: bool) -> query::Result<bool> {
    let found = users::set_disabled(db, id, disabled).await?;
    if disabled {
        credentials::delete_other_sessions(db, id, None).await?;
        credentials::delete_keys(db, id).await?;
    }
    Ok(found)
}

/// Answers whether it has replaced the hash, and whether a session has a new token. The user's row comes
/// first here, too.
async fn set_password_if(
    db: &Connection,
    setter: &PasswordSetter,
    id: &str,
    old: Option<&str>,
    new: &str,
) -> query::Result<(bool, bool)> {
    if !users::set_password_if(db, id, old, new).await? {
        return Ok((false, false));
    }
    credentials::delete_other_sessions(db, id, setter.session_id.as_deref()).await?;
    if !setter.is(id) {
        credentials::delete_keys(db, id).await?;
    }
    let renewed = match setter.renewal(id) {
        Some((session_id, token)) => credentials::renew_session(db, session_id, id, &token).await?,
        None => false,
    };
    Ok((true, renewed))
}
