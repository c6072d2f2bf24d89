//! Portico's storage (`wit/storage.wit`) over the dashboard's own tables.

mod people;
mod rights;
mod services;
pub mod values;

use async_trait::async_trait;
use portico::{
    Authentication,
    model::{App, Provider, Timestamp, User, UserSummary},
    storage::{
        Access, Account, AccountKey, AppFilter, CallContext, Constraint, Error as StorageError, NewUser,
        Result, Storage, StoredApp, Transaction, UserChange, UserFilter,
    },
};
use rusqlite::{Connection, ErrorCode, ffi};

use crate::database::{Database, Open};

#[async_trait]
impl Storage for Database {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let begun = match access {
            Access::Read => self.begin_read(),
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
    /// The session that the call came in on.
    session: Option<String>,
    /// After a failure, the transaction takes no more calls and cannot be committed.
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

    async fn list_users(&mut self, filter: &UserFilter) -> Result<Vec<UserSummary>> {
        self.run(|db| people::list(db, filter))
    }

    async fn find_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        self.run(|db| people::find_account(db, key))
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        self.run(|db| people::insert(db, user))
    }

    async fn insert_identity(&mut self, user_id: &str, provider: Provider, subject: &str) -> Result<()> {
        self.run(|db| people::insert_subject(db, user_id, provider, subject))
    }

    async fn update_user(&mut self, id: &str, change: &UserChange) -> Result<bool> {
        self.run(|db| people::change(db, id, change))
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

    async fn another_admin_exists(&mut self, except: &str) -> Result<bool> {
        self.run(|db| rights::another_admin_exists(db, except))
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

    async fn get_app(&mut self, id: &str) -> Result<Option<App>> {
        self.run(|db| services::get(db, id))
    }

    async fn get_apps(&mut self, ids: &[String]) -> Result<Vec<App>> {
        self.run(|db| services::get_many(db, ids))
    }

    async fn list_apps(&mut self, filter: &AppFilter) -> Result<Vec<App>> {
        self.run(|db| services::list(db, filter))
    }

    async fn count_apps(&mut self, name_contains: &str) -> Result<u32> {
        self.run(|db| services::count(db, name_contains))
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
