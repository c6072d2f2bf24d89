//! The functions of `wit/storage.wit`: for each, its statements and where they run.

use async_trait::async_trait;
use rusqlite::Connection;

use super::blocking::FEW;
use super::transaction::{SqliteTransaction, State};
use super::{apps, audit, boards, credentials, groups, invites, search_engines, users};
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};
use portico_storage::driver::failed_before;
use portico_storage::{
    Account, AccountKey, AppFilter, ListedUser, NewUser, Profile, ProviderSubject, Result, Slice, StoredApp,
    Transaction, UserFilter, Viewer,
};

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        if let Some(entry) = self.trail.row() {
            self.write_blind(1, &entry, audit::insert).await?;
        }
        let Self {
            state, trail, setter, ..
        } = *self;
        match state {
            State::Reading(_) => return Ok(()),
            State::Blind { records: 0, .. } => {}
            State::Blind { writer, writes, .. } => writer.write(writes).await?,
            State::Writing(permit) => permit.commit().await?,
            State::Lent => return Err(failed_before()),
        }
        trail.committed();
        setter.committed();
        Ok(())
    }

    fn is_waiting_for_write_lock(&self) -> bool {
        matches!(self.state, State::Blind { .. })
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.read(users::has_any).await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        self.read(|db| users::get(db, id)).await
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        self.read(|db| users::get_account(db, key)).await
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        let filter = filter.clone();
        self.scan(move |db| users::list(db, &filter, slice, with_images))
            .await
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        let filter = filter.clone();
        self.scan(move |db| users::count(db, &filter)).await
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.insert(&user.user.id, |db| users::insert(db, user)).await
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        self.write(|db| users::insert_identity(db, user_id, subject))
            .await
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        self.change(id, |db| users::set_profile(db, id, profile)).await
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        self.change(id, |db| users::set_image(db, id, image)).await
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        self.change(id, |db| users::set_home_boards(db, id, boards)).await
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        self.change(id, |db| users::set_search_preferences(db, id, preferences))
            .await
    }

    async fn set_color_scheme(&mut self, id: &str, color_scheme: ColorScheme) -> Result<bool> {
        self.change(id, |db| users::set_color_scheme(db, id, color_scheme))
            .await
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        self.change(id, |db| users::set_ping_icons_enabled(db, id, enabled))
            .await
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        self.change(id, |db| users::set_first_day_of_week(db, id, day))
            .await
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        self.change(id, |db| {
            if disabled {
                credentials::delete_other_sessions(db, id, None)?;
                credentials::delete_keys(db, id)?;
            }
            users::set_disabled(db, id, disabled)
        })
        .await
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let setter = self.setter.clone();
        let renewal = setter.renewal(id);
        let (replaced, renewed) = self
            .write(|db| {
                if !users::set_password_if(db, id, old, new)? {
                    return Ok((false, false));
                }
                credentials::delete_other_sessions(db, id, setter.session_id.as_deref())?;
                if !setter.is(id) {
                    credentials::delete_keys(db, id)?;
                }
                let renewed = match renewal {
                    Some((session_id, token)) => credentials::renew_session(db, session_id, id, &token)?,
                    None => false,
                };
                Ok((true, renewed))
            })
            .await?;
        if renewed {
            self.setter.renewed();
        }
        Ok(replaced)
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.write(|db| users::rehash_password_if(db, id, old, new)).await
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_alone(move |db| users::delete(db, &id)).await
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        let except = except.to_owned();
        self.scan(move |db| groups::has_another_admin(db, &except)).await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        let new_group_id = self.resources.ids.next();
        self.write(|db| groups::grant_admin(db, id, &new_group_id)).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.write(|db| groups::add_member(db, group_id, user_id)).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.read(|db| invites::is_valid(db, id, token, now)).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.write(|db| Ok(invites::is_valid(db, id, token, now)? && invites::delete(db, id)?))
            .await
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        let (user_id, board_id) = (user_id.to_owned(), board_id.to_owned());
        self.scan(move |db| boards::can_view(db, &user_id, &board_id))
            .await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.read(|db| search_engines::exists(db, id)).await
    }

    async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        let view = self.view(viewer);
        self.read(|db| apps::get(db, id, view.as_ref())).await
    }

    async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        let view = self.view(viewer);
        if ids.len() <= FEW {
            return self.read(|db| apps::get_many(db, ids, view.as_ref())).await;
        }
        let ids = ids.to_owned();
        self.scan(move |db| apps::get_many(db, &ids, view.as_ref())).await
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        let (view, contains) = (self.view(&filter.viewer), filter.name_contains.clone());
        self.scan(move |db| apps::list(db, view.as_ref(), &contains.unwrap_or_default(), slice))
            .await
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        let (view, contains) = (self.view(&filter.viewer), filter.name_contains.clone());
        self.scan(move |db| apps::count(db, view.as_ref(), &contains.unwrap_or_default()))
            .await
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        let insert =
            |db: &Connection, new: &[StoredApp]| new.iter().try_for_each(|app| apps::insert(db, app));
        if apps.len() <= FEW {
            self.write_blind(apps.len(), apps, insert).await?;
        } else {
            let apps = apps.to_owned();
            self.write_sized(apps.len(), move |db| insert(db, &apps)).await?;
        }
        apps.iter().for_each(|app| self.trail.created(&app.app.id));
        Ok(())
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.write(|db| apps::update(db, app)).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.write_alone(move |db| apps::delete(db, &id)).await
    }
}
