//! One transaction: what it holds, and how a short statement runs in it.

use std::borrow::Borrow;
use std::mem::replace;
use std::sync::Arc;

use rusqlite::Connection;

use super::batch::BlindWrite;
use super::interrupts::StatementLimits;
use super::pool::Pool;
use super::readers::Reader;
use super::writer::{WritePermit, Writer};
use portico_storage::driver::{PasswordSetter, Trail, View, failed_before, only_reads};
use portico_storage::{CallContext, Error, Ids, Result, Viewer};

/// How many records a transaction may write without the permit. The writes run while another transaction
/// holds it, which they delay; a larger transaction takes the permit itself.
const MAX_BLIND_RECORDS: usize = 4;

pub(super) struct SqliteTransaction {
    pub(super) state: State,
    pub(super) resources: Resources,
    pub(super) setter: PasswordSetter,
    pub(super) trail: Trail,
    /// Whether it has written, and so could not be begun again.
    pub(super) has_written: bool,
    pub(super) failed: bool,
}

/// What all transactions of a storage share.
#[derive(Clone)]
pub(super) struct Resources {
    /// The threads for statements that read and may take long.
    pub scanning: Arc<Pool>,
    /// The thread for statements of a write transaction that may take long.
    pub writing: Arc<Pool>,
    pub limits: StatementLimits,
    pub ids: Ids,
    /// Whether callers see only the apps on boards that they may view.
    pub views_differ: bool,
}

/// What a transaction works with.
pub(super) enum State {
    Reading(Reader),
    /// It has read nothing yet, so it only collects what it is to write.
    Blind {
        writer: Arc<Writer>,
        writes: Vec<BlindWrite>,
        /// How many records they write.
        records: usize,
    },
    Writing(WritePermit),
    /// A task on another thread has it.
    Lent,
}

impl State {
    /// The connection, if it has one that has not failed.
    pub(super) fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Reading(reader) => reader.connection(),
            Self::Writing(permit) => permit.connection(),
            Self::Blind { .. } | Self::Lent => None,
        }
    }
}

impl SqliteTransaction {
    /// A transaction that only reads.
    pub fn reading(reader: Reader, resources: Resources) -> Self {
        let (setter, trail) = (PasswordSetter::default(), Trail::default());
        Self::new(State::Reading(reader), setter, trail, resources)
    }

    /// A write transaction that takes the permit when it first has to read.
    pub fn writing(writer: Arc<Writer>, context: &CallContext, resources: Resources) -> Self {
        let state = State::Blind {
            writer,
            writes: Vec::new(),
            records: 0,
        };
        Self::new(state, PasswordSetter::of(context), Trail::of(context), resources)
    }

    fn new(state: State, setter: PasswordSetter, trail: Trail, resources: Resources) -> Self {
        Self {
            state,
            resources,
            setter,
            trail,
            has_written: false,
            failed: false,
        }
    }

    /// The view that a statement takes; none if it shows all apps.
    pub(super) fn view(&self, viewer: &Viewer) -> Option<View> {
        self.resources.views_differ.then(|| View::of(viewer))?
    }

    /// Runs a statement that changes this user, on this thread. Returns whether there is one.
    pub(super) async fn change(
        &mut self,
        user_id: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<bool> + Send,
    ) -> Result<bool> {
        let changed = self.write(change).await?;
        if changed {
            self.trail.changed(user_id);
        }
        Ok(changed)
    }

    /// Runs a statement that reads, on this thread.
    pub(super) async fn read<T>(
        &mut self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send,
    ) -> Result<T> {
        self.acquire_permit().await?;
        let connection = match &mut self.state {
            State::Reading(reader) => reader.read(),
            state => state.connection(),
        };
        let result = read(connection.ok_or_else(failed_before)?);
        result.map_err(|error| self.fail(&error))
    }

    /// Runs a statement that writes, on this thread.
    pub(super) async fn write<T>(
        &mut self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send,
    ) -> Result<T> {
        // A statement that failed may have undone the whole batch: the next one would be committed alone.
        if self.failed {
            return Err(failed_before());
        }
        self.acquire_permit().await?;
        let State::Writing(permit) = &self.state else {
            return Err(only_reads());
        };
        self.has_written = true;
        let result = write(permit.connection().ok_or_else(failed_before)?);
        result.map_err(|error| self.fail(&error))
    }

    /// Runs a statement that creates this record, or answers false.
    pub(super) async fn create(
        &mut self,
        id: &str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<bool> + Send,
    ) -> Result<bool> {
        let created = self.write(write).await?;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    /// Runs a statement that creates this record, or fails.
    pub(super) async fn insert(
        &mut self,
        id: &str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send,
    ) -> Result<()> {
        self.write(write).await?;
        self.trail.created(id);
        Ok(())
    }

    /// Writes this many new records with a statement that reads nothing. As long as the transaction has
    /// read nothing, and they are few, the statement runs at its commit.
    pub(super) async fn write_blind<R>(
        &mut self,
        count: usize,
        new: &R,
        write: fn(&Connection, &R) -> rusqlite::Result<()>,
    ) -> Result<()>
    where
        R: ToOwned<Owned: Send + Sync + 'static> + Sync + ?Sized + 'static,
    {
        match &mut self.state {
            State::Blind { writes, records, .. } if !self.failed && *records + count <= MAX_BLIND_RECORDS => {
                let new = new.to_owned();
                writes.push(Box::new(move |db| write(db, new.borrow())));
                *records += count;
                Ok(())
            }
            _ => self.write(|db| write(db, new)).await,
        }
    }

    /// Waits for the permit if this is a write transaction without one, and runs what it has collected.
    pub(super) async fn acquire_permit(&mut self) -> Result<()> {
        let State::Blind { writer, writes, .. } = &self.state else {
            return Ok(());
        };
        if self.failed {
            return Err(failed_before());
        }
        let begun = writer.begin().await;
        let permit = begun.inspect_err(|_| self.failed = true)?;
        let connection = permit.connection().ok_or_else(failed_before)?;
        let written = writes.iter().try_for_each(|write| write(connection));
        self.has_written = !writes.is_empty();
        self.state = State::Writing(permit);
        written.map_err(|error| self.fail(&error))
    }

    /// Takes the state out, for a task on another thread. Until it is returned the transaction counts as
    /// failed. Answers the state, and whether it had failed before.
    pub(super) fn lend(&mut self) -> (State, bool) {
        let state = replace(&mut self.state, State::Lent);
        (state, replace(&mut self.failed, true))
    }

    pub(super) fn return_lent(&mut self, state: State, failed: bool) {
        self.state = state;
        self.failed = failed;
    }

    pub(super) fn fail(&mut self, error: &rusqlite::Error) -> Error {
        self.failed = true;
        match &mut self.state {
            State::Reading(reader) => reader.fail(error),
            State::Blind { writer, .. } => writer.health().translate(error),
            State::Writing(permit) => permit.health().translate(error),
            State::Lent => failed_before(),
        }
    }
}
