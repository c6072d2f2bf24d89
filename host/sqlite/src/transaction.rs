//! One transaction: what it works with, and where its statements run.
//!
//! A transaction that has read nothing yet only collects what it is to insert (`State::Blind`), so that many of them
//! share one commit. Only this module decides what takes the permit to write, and what runs on another thread.

use std::mem::replace;
use std::sync::Arc;

use rusqlite::Connection;

use super::batch::Deferred;
use super::interrupts::StatementLimits;
use super::pool::Pool;
use super::readers::Reader;
use super::statements::{self, Failure};
use super::writer::{WritePermit, Writer};
use portico_sql::{Database, Insert, Row, Span, Sql, Value};
use portico_storage::driver::{failed_before, only_reads};
use portico_storage::{Error, Result};

/// How many records a transaction may write without the permit. The writes run while another transaction holds the
/// permit, and delay it; so a larger transaction takes the permit itself.
const MAX_BLIND_RECORDS: usize = 4;

/// How many records are written on the caller's thread. With more, waking another thread costs less than the work.
const FEW: usize = 16;

pub(super) struct SqliteTransaction {
    pub(super) state: State,
    pub(super) resources: Resources,
    /// Whether it has written, and so cannot begin again.
    pub(super) has_written: bool,
}

/// What all transactions of a storage share.
#[derive(Clone)]
pub(super) struct Resources {
    /// The threads for statements that read and may take long.
    pub scanning: Arc<Pool>,
    /// The thread for statements of a write transaction that may take long.
    pub writing: Arc<Pool>,
    pub limits: StatementLimits,
}

/// What a transaction works with.
pub(super) enum State {
    Reading(Reader),
    /// It has read nothing yet, so it only collects what it is to write.
    Blind {
        writer: Arc<Writer>,
        writes: Vec<Deferred>,
        /// How many records they write.
        records: usize,
    },
    Writing(WritePermit),
    /// A task on another thread has it. If the caller of that task goes away, the transaction's work is lost.
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
        Self::new(State::Reading(reader), resources)
    }

    /// A write transaction that takes the permit when it first has to read.
    pub fn writing(writer: Arc<Writer>, resources: Resources) -> Self {
        let state = State::Blind {
            writer,
            writes: Vec::new(),
            records: 0,
        };
        Self::new(state, resources)
    }

    fn new(state: State, resources: Resources) -> Self {
        Self {
            state,
            resources,
            has_written: false,
        }
    }

    /// Runs a statement that reads, on this thread.
    async fn read<T>(
        &mut self,
        read: impl FnOnce(&Connection) -> std::result::Result<T, Failure> + Send,
    ) -> Result<T> {
        self.acquire_permit().await?;
        let connection = match &mut self.state {
            State::Reading(reader) => reader.read(),
            state => state.connection(),
        };
        let result = read(connection.ok_or_else(failed_before)?);
        result.map_err(|failure| self.fail(failure))
    }

    /// Runs a statement that writes, on this thread.
    async fn write<T>(&mut self, write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send) -> Result<T> {
        self.acquire_permit().await?;
        let State::Writing(permit) = &self.state else {
            return Err(only_reads());
        };
        self.has_written = true;
        let result = write(permit.connection().ok_or_else(failed_before)?);
        result.map_err(|error| self.fail(error.into()))
    }

    /// Waits for the permit if this is a write transaction without it, and runs what it has collected.
    pub(super) async fn acquire_permit(&mut self) -> Result<()> {
        let State::Blind { writer, writes, .. } = &self.state else {
            return Ok(());
        };
        let permit = writer.begin().await?;
        let connection = permit.connection().ok_or_else(failed_before)?;
        let written = writes.iter().try_for_each(|write| write.run(connection));
        self.has_written = !writes.is_empty();
        self.state = State::Writing(permit);
        written.map_err(|error| self.fail(error.into()))
    }

    /// Takes the state out, for a task on another thread.
    pub(super) fn lend(&mut self) -> State {
        replace(&mut self.state, State::Lent)
    }

    pub(super) fn fail(&mut self, failure: Failure) -> Error {
        match (failure, &mut self.state) {
            (Failure::Storage(error), _) => error,
            (Failure::Sqlite(error), State::Reading(reader)) => reader.fail(&error),
            (Failure::Sqlite(error), State::Blind { writer, .. }) => writer.health().translate(&error),
            (Failure::Sqlite(error), State::Writing(permit)) => permit.health().translate(&error),
            (Failure::Sqlite(_), State::Lent) => failed_before(),
        }
    }
}

impl Database for SqliteTransaction {
    async fn fold<A: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        into: A,
        add: impl FnMut(&mut A, &dyn Row) -> Result<()> + Send + 'static,
    ) -> Result<A> {
        match sql.span {
            Span::Short => {
                self.read(|db| statements::fold(db, sql, &values, into, add))
                    .await
            }
            Span::Long | Span::Unbounded => {
                self.scan(move |db| statements::fold(db, sql, &values, into, add))
                    .await
            }
        }
    }

    async fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        match sql.span {
            Span::Short | Span::Long => self.write(|db| statements::execute(db, sql, &values)).await,
            Span::Unbounded => {
                self.write_on_pool(true, move |db| statements::execute(db, sql, &values))
                    .await
            }
        }
    }

    async fn insert(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        match rows.len() {
            ..=FEW => self.write(|db| statements::insert(db, into, &rows)).await,
            _ => {
                self.write_on_pool(false, move |db| statements::insert(db, into, &rows))
                    .await
            }
        }
    }

    async fn insert_deferred(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        match &mut self.state {
            State::Blind { writes, records, .. } if *records + rows.len() <= MAX_BLIND_RECORDS => {
                *records += rows.len();
                writes.push(Deferred { into, rows });
                Ok(())
            }
            _ => self.insert(into, rows).await,
        }
    }

    fn blocks_writers(&self) -> bool {
        !matches!(self.state, State::Blind { .. })
    }

    async fn commit(self) -> Result<()> {
        match self.state {
            State::Reading(_) | State::Blind { records: 0, .. } => Ok(()),
            State::Blind { writer, writes, .. } => writer.write(writes).await,
            State::Writing(permit) => permit.commit().await,
            State::Lent => Err(failed_before()),
        }
    }
}
