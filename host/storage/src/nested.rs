//! Transactions of the component inside one of the host's.
//!
//! The host opens a write transaction and hands the component a [`Storage`] whose `begin` gives a
//! part of it. Invariants:
//! - One part at a time, and the host waits meanwhile: whoever has the lock has the transaction.
//! - `commit` of a part keeps its writes in the transaction, which alone makes them durable.
//! - A part cannot be undone by itself. Where one failed, or ends without `commit` after it wrote,
//!   the whole transaction takes no more and cannot be committed.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};

use super::{
    Access, Account, AccountKey, AppFilter, CallContext, DashboardTransaction, Error, NewUser, Result,
    Storage, StoredApp, Transaction, UserChange, UserFilter,
};
use crate::driver::{failed_before, only_reads};
use portico_model::{App, Provider, Timestamp, User, UserSummary};

/// A write transaction that parts may be taken of.
pub struct Enclosing(Arc<Mutex<State>>);

struct State {
    transaction: Box<dyn DashboardTransaction>,
    broken: bool,
}

impl Enclosing {
    /// Takes a transaction that has begun.
    pub fn new(transaction: Box<dyn DashboardTransaction>) -> Self {
        let broken = false;
        Self(Arc::new(Mutex::new(State { transaction, broken })))
    }

    /// The transaction itself, while no part of it is open.
    pub async fn transaction(&self) -> Held<'_> {
        Held(self.0.lock().await)
    }

    /// Storage whose transactions are parts of this one. Let go of it before `commit`.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(Parts(self.0.clone()))
    }

    /// Makes all of it durable.
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

/// The transaction, as long as no part of it is open.
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
        let locked = self.0.clone().try_lock_owned();
        let state =
            locked.map_err(|_| Error::Unavailable("a part of this transaction is open already".into()))?;
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
    fn read(&self) -> Result<()> {
        if self.failed { Err(failed_before()) } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        if matches!(self.access, Access::Read) {
            return Err(only_reads());
        }
        self.read()?;
        self.wrote = true;
        Ok(())
    }

    fn heard<T>(&mut self, answer: Result<T>) -> Result<T> {
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

/// Hands every function over to the enclosing transaction.
macro_rules! handed_over {
    ($($access:ident $function:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        #[async_trait]
        impl Transaction for Part {
            async fn commit(mut self: Box<Self>) -> Result<()> {
                self.read()?;
                self.committed = true;
                Ok(())
            }

            $(async fn $function(&mut self, $($argument: $type),*) -> Result<$answer> {
                self.$access()?;
                let answer = self.state.transaction.$function($($argument),*).await;
                self.heard(answer)
            })+
        }
    };
}

handed_over! {
    read has_users() -> bool;
    read get_user(id: &str) -> Option<User>;
    read list_users(filter: &UserFilter) -> Vec<UserSummary>;
    read find_account(key: &AccountKey) -> Option<Account>;
    write insert_user(user: &NewUser) -> ();
    write insert_identity(user_id: &str, provider: Provider, subject: &str) -> ();
    write update_user(id: &str, change: &UserChange) -> bool;
    write set_password_if(id: &str, old: Option<&str>, new: &str) -> bool;
    write rehash_password_if(id: &str, old: &str, new: &str) -> bool;
    write delete_user(id: &str) -> bool;
    read another_admin_exists(except: &str) -> bool;
    write grant_admin(id: &str) -> ();
    write add_to_group(user_id: &str, group_id: &str) -> bool;
    read has_invite(id: &str, token: &str, now: Timestamp) -> bool;
    write take_invite(id: &str, token: &str, now: Timestamp) -> bool;
    read can_view_board(user_id: &str, board_id: &str) -> bool;
    read has_search_engine(id: &str) -> bool;
    read get_app(id: &str) -> Option<App>;
    read get_apps(ids: &[String]) -> Vec<App>;
    read list_apps(filter: &AppFilter) -> Vec<App>;
    read count_apps(name_contains: &str) -> u32;
    write insert_apps(apps: &[StoredApp]) -> ();
    write update_app(app: &StoredApp) -> bool;
    write delete_app(id: &str) -> bool;
}
