//! Transactions of the component inside a transaction of the host.
//!
//! The host opens a write transaction and gives the component a [`Storage`] whose `begin` opens a part of
//! that transaction. Invariants:
//! - One part is open at a time, and the host waits until it ends: a lock guards the transaction.
//! - `commit` of a part adds its writes to the host's transaction. Only the commit of that transaction makes them
//!   durable.
//! - A part cannot be undone alone. If a part fails, or ends without `commit` after it has written, the host's
//!   transaction accepts no more parts and cannot be committed.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::lock::{Mutex, MutexGuard, OwnedMutexGuard};

use crate::context::CallContext;
use crate::dashboard::DashboardTransaction;
use crate::driver::{failed_before, only_reads};
use crate::records::{
    Access, Account, AccountKey, AppFilter, Error, ListedUser, NewUser, Profile, ProviderSubject, Result,
    Slice, StoredApp, UserFilter, Viewer,
};
use crate::storage::{Storage, Transaction};
use portico_model::{App, ColorScheme, HomeBoards, SearchPreferences, Timestamp, User};

/// A write transaction that can have parts.
pub struct Enclosing(Arc<Mutex<State>>);

struct State {
    transaction: Box<dyn DashboardTransaction>,
    broken: bool,
}

impl Enclosing {
    /// Wraps a write transaction that has begun.
    pub fn new(transaction: Box<dyn DashboardTransaction>) -> Self {
        let broken = false;
        Self(Arc::new(Mutex::new(State { transaction, broken })))
    }

    /// The transaction itself. Waits until no part is open.
    pub async fn transaction(&self) -> Held<'_> {
        Held(self.0.lock().await)
    }

    /// Storage whose transactions are parts of this one. Drop it before `commit`.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(Parts(self.0.clone()))
    }

    /// Makes the whole transaction durable.
    pub async fn commit(self) -> Result<()> {
        let state = Arc::into_inner(self.0).map(Mutex::into_inner);
        match state {
            Some(state) if !state.broken => state.transaction.commit().await,
            Some(_) => Err(failed_before()),
            None => Err(Error::Unavailable(
                "a part of the transaction is still open".into(),
            )),
        }
    }
}

/// The transaction. No part can begin until this is dropped.
pub struct Held<'a>(MutexGuard<'a, State>);

impl Deref for Held<'_> {
    type Target = dyn DashboardTransaction;

    fn deref(&self) -> &Self::Target {
        &*self.0.transaction
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0.transaction
    }
}

struct Parts(Arc<Mutex<State>>);

#[async_trait]
impl Storage for Parts {
    async fn begin(&self, access: Access, _: &CallContext) -> Result<Box<dyn Transaction>> {
        let is_open = || Error::Unavailable("a part of this transaction is open already".into());
        let state = self.0.try_lock_owned().ok_or_else(is_open)?;
        if state.broken {
            return Err(failed_before());
        }
        Ok(Box::new(Part {
            state,
            access,
            wrote: false,
            failed: false,
            committed: false,
        }))
    }
}

struct Part {
    state: OwnedMutexGuard<State>,
    access: Access,
    wrote: bool,
    failed: bool,
    committed: bool,
}

impl Part {
    fn check_read(&self) -> Result<()> {
        if self.failed { Err(failed_before()) } else { Ok(()) }
    }

    fn check_write(&mut self) -> Result<()> {
        if self.access != Access::Write {
            return Err(only_reads());
        }
        self.check_read()?;
        self.wrote = true;
        Ok(())
    }

    /// Notes whether a call failed.
    fn note<T>(&mut self, answer: Result<T>) -> Result<T> {
        self.failed |= answer.is_err();
        answer
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.failed || (self.wrote && !self.committed) {
            self.state.broken = true;
        }
    }
}

/// Forwards every function to the enclosing transaction, after this check.
macro_rules! forward {
    ($($check:ident $function:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        #[async_trait]
        impl Transaction for Part {
            async fn commit(mut self: Box<Self>) -> Result<()> {
                self.check_read()?;
                self.committed = true;
                Ok(())
            }

            $(async fn $function(&mut self, $($argument: $type),*) -> Result<$answer> {
                self.$check()?;
                let answer = self.state.transaction.$function($($argument),*).await;
                self.note(answer)
            })+
        }
    };
}

forward! {
    check_read has_users() -> bool;
    check_read get_user(id: &str) -> Option<User>;
    check_read get_account(key: &AccountKey) -> Option<Account>;
    check_read list_users(filter: &UserFilter, slice: Slice, with_images: bool) -> Vec<ListedUser>;
    check_read count_users(filter: &UserFilter) -> u32;
    check_write insert_user(user: &NewUser) -> ();
    check_write insert_identity(user_id: &str, subject: &ProviderSubject) -> ();
    check_write set_profile(id: &str, profile: &Profile) -> bool;
    check_write set_image(id: &str, image: Option<&str>) -> bool;
    check_write set_home_boards(id: &str, boards: &HomeBoards) -> bool;
    check_write set_search_preferences(id: &str, preferences: &SearchPreferences) -> bool;
    check_write set_color_scheme(id: &str, color_scheme: ColorScheme) -> bool;
    check_write set_ping_icons_enabled(id: &str, enabled: bool) -> bool;
    check_write set_first_day_of_week(id: &str, day: u8) -> bool;
    check_write set_disabled(id: &str, disabled: bool) -> bool;
    check_write set_password_if(id: &str, old: Option<&str>, new: &str) -> bool;
    check_write rehash_password_if(id: &str, old: &str, new: &str) -> bool;
    check_write delete_user(id: &str) -> bool;
    check_read has_another_admin(except: &str) -> bool;
    check_write grant_admin(id: &str) -> ();
    check_write add_to_group(user_id: &str, group_id: &str) -> bool;
    check_read has_invite(id: &str, token: &str, now: Timestamp) -> bool;
    check_write take_invite(id: &str, token: &str, now: Timestamp) -> bool;
    check_read can_view_board(user_id: &str, board_id: &str) -> bool;
    check_read has_search_engine(id: &str) -> bool;
    check_read get_app(id: &str, viewer: &Viewer) -> Option<App>;
    check_read get_apps(ids: &[String], viewer: &Viewer) -> Vec<App>;
    check_read list_apps(filter: &AppFilter, slice: Slice) -> Vec<App>;
    check_read count_apps(filter: &AppFilter) -> u32;
    check_write insert_apps(apps: &[StoredApp]) -> ();
    check_write update_app(app: &StoredApp) -> bool;
    check_write delete_app(id: &str) -> bool;
}
