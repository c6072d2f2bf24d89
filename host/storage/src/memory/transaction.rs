//! One transaction in memory: the state that it works on, and how it changes and commits that.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::OwnedMutexGuard;

use super::state::State;
use crate::context::CallContext;
use crate::driver::{PasswordSetter, Trail, failed_before, only_reads};
use crate::ids::Ids;
use crate::records::Result;

/// Where a write transaction commits to, with its permit.
pub(super) struct Target {
    pub committed: Arc<RwLock<Arc<State>>>,
    pub _permit: OwnedMutexGuard<()>,
}

pub(super) struct MemoryTransaction {
    pub state: Arc<State>,
    /// None if the transaction only reads.
    target: Option<Target>,
    pub setter: PasswordSetter,
    pub ids: Ids,
    pub trail: Trail,
    failed: bool,
}

impl MemoryTransaction {
    pub fn new(state: Arc<State>, target: Option<Target>, context: &CallContext, ids: Ids) -> Self {
        Self {
            state,
            target,
            setter: PasswordSetter::of(context),
            ids,
            trail: Trail::of(context),
            failed: false,
        }
    }

    /// Runs a change. The first one copies the state: readers keep theirs.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
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

    /// Runs a change that creates this record, or answers false.
    pub fn create(&mut self, id: &str, change: impl FnOnce(&mut State) -> Result<bool>) -> Result<bool> {
        let created = self.change(change)?;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    /// Runs a change that creates this record, or fails.
    pub fn insert(&mut self, id: &str, change: impl FnOnce(&mut State) -> Result<()>) -> Result<()> {
        self.change(change)?;
        self.trail.created(id);
        Ok(())
    }

    pub fn finish(mut self) -> Result<()> {
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
