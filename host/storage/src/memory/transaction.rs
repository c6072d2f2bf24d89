//! One transaction in memory: the state that it works on, and how it changes and commits that.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::OwnedMutexGuard;

use super::state::State;
use crate::context::CallContext;
use crate::driver::{AnswerSize, PasswordSetter, TextSize, Trail, failed_before, only_reads};
use crate::ids::Ids;
use crate::looks::{AppVisibility, VisibilityInForce};
use crate::records::{AppFilter, Error, NewUser, Result, StoredApp, Viewer};
use portico_model::{App, Id};

/// Whether records have more text together than `wit/storage.wit` allows.
pub(super) fn is_too_large<'a, T: TextSize + 'a>(records: impl IntoIterator<Item = &'a T>) -> bool {
    let mut size = AnswerSize::default();
    records.into_iter().any(|record| size.add(record).is_err())
}

/// Where a write transaction is committed, with its permit.
pub(super) struct CommitTarget {
    pub committed: Arc<RwLock<Arc<State>>>,
    pub _permit: OwnedMutexGuard<()>,
}

pub(super) struct MemoryTransaction {
    pub state: Arc<State>,
    /// `None` if the transaction only reads.
    target: Option<CommitTarget>,
    pub setter: PasswordSetter,
    pub ids: Ids,
    pub trail: Trail,
    pub failed: bool,
    /// The groups of the invite that was taken, for the user who is inserted next.
    pub invited_to: Vec<Id>,
    /// Who sees which app, if it is not as stored.
    fixed_visibility: Option<AppVisibility>,
    /// As in the context of the call.
    pub views_by_shares: bool,
}

impl MemoryTransaction {
    pub fn new(
        state: Arc<State>,
        target: Option<CommitTarget>,
        context: &CallContext,
        ids: Ids,
        fixed_visibility: Option<AppVisibility>,
    ) -> Self {
        Self {
            state,
            target,
            setter: PasswordSetter::of(context),
            ids,
            trail: Trail::of(context),
            failed: false,
            invited_to: Vec::new(),
            fixed_visibility,
            views_by_shares: context.views_by_shares,
        }
    }

    /// Runs a change. The first change copies the state, so that readers keep theirs.
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

    /// Refuses an answer whose records have more text than `wit/storage.wit` allows.
    pub fn check_size(&mut self, records: &[impl TextSize]) -> Result<()> {
        match is_too_large(records) {
            true => self.refuse_too_large(),
            false => Ok(()),
        }
    }

    pub fn refuse_too_large<T>(&mut self) -> Result<T> {
        self.failed = true;
        Err(Error::TooLarge)
    }

    /// Changes a user; false if there is no such user. A change that fails leaves the user as they were.
    pub fn set(
        &mut self,
        user_id: &str,
        set: impl FnOnce(&State, &mut NewUser) -> Result<()>,
    ) -> Result<bool> {
        let found = self.change(|state| {
            let Some(mut row) = state.users.get(user_id).cloned() else {
                return Ok(false);
            };
            set(state, &mut row)?;
            state.users.insert(user_id.to_owned(), row);
            Ok(true)
        })?;
        if found {
            self.trail.changed(user_id);
        }
        Ok(found)
    }

    pub fn visibility_in_force(&self) -> VisibilityInForce {
        VisibilityInForce {
            visibility: self.fixed_visibility.unwrap_or(self.state.looks.app_visibility),
            is_fixed: self.fixed_visibility.is_some(),
        }
    }

    /// Whether an app is in this view.
    pub fn sees(&self, viewer: &Viewer, app: &App) -> bool {
        self.visibility_in_force().visibility == AppVisibility::Everyone
            || self.state.sees(viewer, self.views_by_shares, &app.id)
    }

    /// The apps that a filter matches.
    pub fn matching_apps(&self, filter: &AppFilter) -> impl Iterator<Item = &StoredApp> {
        let contains = filter.name_contains.as_deref().unwrap_or_default();
        let rows = self.state.apps.values();
        rows.filter(move |row| row.name_key.contains(contains) && self.sees(&filter.viewer, &row.app))
    }

    /// Runs a change that creates this record, or returns false.
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
