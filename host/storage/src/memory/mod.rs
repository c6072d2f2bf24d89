//! A driver in memory: for tests, and as the model that other drivers are compared with.
//!
//! Invariants:
//! - A committed `State` never changes: a commit replaces it.
//! - A transaction works on the state that was committed when it began, a write transaction on a copy of
//!   its own.
//! - There is one write transaction at a time: it takes the permit before it reads, and holds it until it ends.

mod audit;
mod boards;
mod contract;
mod credentials;
mod dashboard;
mod gate;
mod groups;
mod home_boards;
mod identities;
mod invites;
mod second_factors;
mod seen;
mod state;
mod transaction;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::context::CallContext;
use crate::dashboard::{DashboardStorage, DashboardTransaction};
use crate::driver::{WAIT_TIMEOUT, waited_too_long};
use crate::ids::Ids;
use crate::looks::AppVisibility;
use crate::records::{Access, Result};
use crate::storage::{Storage, Transaction};
use state::State;
use transaction::{CommitTarget, MemoryTransaction};

/// Storage in memory. It is lost when the process ends.
#[derive(Default)]
pub struct MemoryStorage {
    committed: Arc<RwLock<Arc<State>>>,
    permit: Arc<Mutex<()>>,
    ids: Ids,
    fixed_visibility: Option<AppVisibility>,
}

impl MemoryStorage {
    /// Empty storage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the ids of the records that it creates from this source.
    pub fn with_ids(self, ids: Ids) -> Self {
        Self { ids, ..self }
    }

    /// Shows callers only the apps on boards that they may view.
    pub fn with_apps_by_board(self) -> Self {
        Self {
            fixed_visibility: Some(AppVisibility::Boards),
            ..self
        }
    }

    /// The state that is committed at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.committed())
    }

    fn committed(&self) -> Arc<State> {
        self.committed
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn open(&self, access: Access, context: &CallContext) -> Result<Box<MemoryTransaction>> {
        let target = match access {
            Access::Lookup | Access::Read => None,
            Access::Write => {
                let permit = timeout(WAIT_TIMEOUT, self.permit.clone().lock_owned())
                    .await
                    .map_err(|_| waited_too_long())?;
                Some(CommitTarget {
                    committed: self.committed.clone(),
                    _permit: permit,
                })
            }
        };
        // Read after waiting: a write transaction must see the commit that it waited for.
        let state = self.committed();
        let transaction =
            MemoryTransaction::new(state, target, context, self.ids.clone(), self.fixed_visibility);
        Ok(Box::new(transaction))
    }
}

#[async_trait]
impl Storage for MemoryStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        Ok(self.open(access, context).await?)
    }
}

#[async_trait]
impl DashboardStorage for MemoryStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        Ok(self.open(access, context).await?)
    }
}

/// A committed state. Two are equal only if there was no commit in between, not even one that changed
/// nothing.
pub struct Snapshot(Arc<State>);

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
