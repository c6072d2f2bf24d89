//! Portico's storage (`wit/storage.wit`) over the dashboard's own tables.

mod people;
mod rights;
mod services;
pub mod values;

use async_trait::async_trait;
use portico::{
    Authentication,
    model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User},
    storage::{
        Access, Account, AccountKey, AppFilter, CallContext, Constraint, Error as StorageError,
        LARGEST_ANSWER, ListedUser, NewUser, Profile, ProviderSubject, Result, Slice, Storage, StoredApp,
        Transaction, UserFilter, Viewer,
    },
};
use rusqlite::{Connection, ErrorCode, ToSql, ffi};

use crate::database::{Database, Open};
use values::look;

#[async_trait]
impl Storage for Database {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let begun = match access {
            Access::Lookup | Access::Read => self.begin_read(),
            Access::Write => self.begin_write().await,
        };
        Ok(Box::new(Work {
            open: begun.map_err(refusal)?,
            session: match &context.authentication {
                Authentication::Session(id) => Some(id.clone()),
                _ => None,
            },
            failed: false,
        }))
    }
}

/// A transaction of Portico.
struct Work {
    open: Open,
    /// The session that the call uses.
    session: Option<String>,
    /// After a failure, the transaction accepts no more calls and cannot be committed.
    failed: bool,
}

impl Work {
    fn run<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        if self.failed {
            return Err(StorageError::Unavailable(
                "a call in this transaction failed before".into(),
            ));
        }
        work(&self.open).map_err(|error| {
            self.failed = true;
            refusal(error)
        })
    }

    /// Records of this size, unless they have more text than the contract allows.
    fn list<T>(
        &mut self,
        size: impl Fn(&T) -> usize,
        work: impl FnOnce(&Connection) -> rusqlite::Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let records = self.run(work)?;
        self.failed = records.iter().map(size).sum::<usize>() > LARGEST_ANSWER;
        match self.failed {
            true => Err(StorageError::TooLarge),
            false => Ok(records),
        }
    }
}

/// An error of SQLite as the contract's error.
fn refusal(error: rusqlite::Error) -> StorageError {
    match error.sqlite_error() {
        Some(ffi::Error {
            code: ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked,
            ..
        }) => StorageError::Retry,
        Some(ffi::Error {
            extended_code: ffi::SQLITE_CONSTRAINT_FOREIGNKEY,
            ..
        }) => StorageError::Constraint(Constraint::Reference),
        Some(ffi::Error {
            extended_code: ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
            ..
        }) => StorageError::Constraint(Constraint::Id),
        Some(ffi::Error {
            extended_code: ffi::SQLITE_CONSTRAINT_UNIQUE,
            ..
        }) => StorageError::Constraint(if error.to_string().contains("subjects.") {
            Constraint::Identity
        } else {
            Constraint::UserName
        }),
        _ => StorageError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Transaction for Work {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        self.run(|_| Ok(()))?;
        self.open.commit().map_err(refusal)
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.run(people::are_there)
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        self.run(|db| people::get(db, id))
    }

    async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        self.run(|db| people::get_account(db, key))
    }

    async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        self.list(people::size, |db| people::list(db, filter, slice, with_images))
    }

    async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        self.run(|db| people::count(db, filter))
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.run(|db| people::insert(db, user))
    }

    async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        self.run(|db| people::insert_subject(db, user_id, subject))
    }

    async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        self.run(|db| people::set_profile(db, id, profile))
    }

    async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        self.run(|db| people::set(db, id, "picture = ?", &[&image]))
    }

    async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        let values: [&dyn ToSql; 2] = [&boards.home_board_id, &boards.mobile_home_board_id];
        self.run(|db| people::set(db, id, "home = ?, home_on_phone = ?", &values))
    }

    async fn set_search_preferences(&mut self, id: &str, preferences: &SearchPreferences) -> Result<bool> {
        let values: [&dyn ToSql; 2] = [
            &preferences.default_search_engine_id,
            &preferences.open_in_new_tab,
        ];
        self.run(|db| people::set(db, id, "engine = ?, opens_tabs = ?", &values))
    }

    async fn set_color_scheme(&mut self, id: &str, scheme: ColorScheme) -> Result<bool> {
        self.run(|db| people::set(db, id, "look = ?", &[&look(scheme)]))
    }

    async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        self.run(|db| people::set(db, id, "shows_pings = ?", &[&enabled]))
    }

    async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        self.run(|db| people::set(db, id, "week_begins_on = ?", &[&day]))
    }

    async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        self.run(|db| people::set_disabled(db, id, disabled))
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let session = self.session.clone();
        self.run(|db| people::set_password_if(db, id, old, new, session.as_deref()))
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.run(|db| people::rehash_password_if(db, id, old, new))
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        self.run(|db| people::delete(db, id))
    }

    async fn has_another_admin(&mut self, except: &str) -> Result<bool> {
        self.run(|db| rights::has_another_admin(db, except))
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        self.run(|db| rights::grant_admin(db, id))
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.run(|db| rights::add_to_team(db, user_id, group_id))
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.run(|db| rights::has_invitation(db, id, token, now))
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        self.run(|db| rights::take_invitation(db, id, token, now))
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.run(|db| may_see_page(db, Some(user_id), board_id))
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.run(|db| rights::has_engine(db, id))
    }

    // Every user of this dashboard sees every service.

    async fn get_app(&mut self, id: &str, _: &Viewer) -> Result<Option<App>> {
        self.run(|db| services::get(db, id))
    }

    async fn get_apps(&mut self, ids: &[String], _: &Viewer) -> Result<Vec<App>> {
        self.list(services::size, |db| services::get_many(db, ids))
    }

    async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        self.list(services::size, |db| services::list(db, filter, slice))
    }

    async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        self.run(|db| services::count(db, filter))
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        self.run(|db| services::insert(db, apps))
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.run(|db| services::update(db, app))
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        self.run(|db| services::delete(db, id))
    }
}

pub use self::rights::{may_see_page, permissions};
