//! A driver in memory: for tests, and the model that other drivers are compared with.
//!
//! Invariants:
//! - A committed `State` never changes; a commit puts another one in its place.
//! - A transaction works on the state that was there when it began, a write transaction on a copy
//!   of its own.
//! - One write transaction at a time: it holds the turn from before it looks until it ends.

mod dashboard;
mod state;
mod transaction;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::driver::{PATIENCE, Setter, Trail, failed_before, only_reads, waited_too_long};
use crate::{Access, CallContext, DashboardStorage, DashboardTransaction, Ids, Result, Storage, Transaction};
use state::State;

/// Everything in memory; gone with the process.
#[derive(Default)]
pub struct MemoryStorage {
    committed: Arc<RwLock<Arc<State>>>,
    turn: Arc<Mutex<()>>,
    ids: Ids,
}

impl MemoryStorage {
    /// Storage with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with ids from there.
    pub fn with_ids(self, ids: Ids) -> Self {
        Self { ids, ..self }
    }

    /// What is committed at this moment.
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
            Access::Read => None,
            Access::Write => {
                let turn = timeout(PATIENCE, self.turn.clone().lock_owned())
                    .await
                    .map_err(|_| waited_too_long())?;
                Some(Target {
                    committed: self.committed.clone(),
                    _turn: turn,
                })
            }
        };
        // Only now: a write transaction has to see the commit that it waited for.
        let state = self.committed();
        Ok(Box::new(MemoryTransaction {
            state,
            target,
            setter: Setter::of(context),
            ids: self.ids.clone(),
            trail: Trail::of(context),
            failed: false,
        }))
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

/// Everything that was committed at a moment. It equals another if nothing was committed in
/// between, not even the same again.
pub struct Snapshot(Arc<State>);

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Where a write transaction goes when it is committed.
struct Target {
    committed: Arc<RwLock<Arc<State>>>,
    _turn: OwnedMutexGuard<()>,
}

struct MemoryTransaction {
    state: Arc<State>,
    /// None: the transaction only reads.
    target: Option<Target>,
    setter: Setter,
    ids: Ids,
    trail: Trail,
    failed: bool,
}

impl MemoryTransaction {
    /// Runs one change. The first one copies the state; readers keep the one that they have.
    fn change<T>(&mut self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        if self.target.is_none() {
            return Err(only_reads());
        }
        if self.failed {
            return Err(failed_before());
        }
        let result = change(Arc::make_mut(&mut self.state));
        self.failed = result.is_err();
        result
    }

    /// The same, of what creates this record where it says so.
    fn create(&mut self, id: &str, change: impl FnOnce(&mut State) -> Result<bool>) -> Result<bool> {
        let created = self.change(change)?;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    fn finish(mut self) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        if self.target.is_some()
            && let Some(entry) = self.trail.row()
        {
            self.change(|state| state.add_audit(entry))?;
        }
        if let Some(target) = self.target {
            *target.committed.write().unwrap_or_else(PoisonError::into_inner) = self.state;
            self.trail.committed();
            self.setter.committed();
        }
        Ok(())
    }
}
