//! What one COMMIT makes durable: an outer transaction of SQLite, whose members are transactions.
//!
//! Invariants:
//! - Each member but the first works inside a savepoint of its own, so that it can be undone alone.
//!   Blind transactions share a savepoint; if one of them fails, each runs again in its own.
//! - Members get their result only after the outer COMMIT. Either all of them are durable or none is, and all get the
//!   same result.
//! - SQLite may roll back everything when a statement fails (a full disk). After that nothing more is written in that
//!   batch, and its members fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::health::Health;
use super::metrics;
use super::readers::Readers;
use super::statements::{insert, run};
use portico_sql::{Insert, Value};
use portico_storage::{Error, Result};

/// How many transactions a batch takes, including those that were undone. With more, the first one would wait long and
/// little would be saved.
const MAX_TRANSACTIONS: usize = 256;

/// The connection, and the transactions that its next COMMIT makes durable.
pub(super) struct Batch {
    connection: Connection,
    /// Whether we have begun the outer transaction and not ended it.
    is_open: bool,
    readers: Arc<Readers>,
    health: Arc<Health>,
    members: Vec<Member>,
    /// How many members have begun in this batch.
    transactions: usize,
    /// How long the last COMMIT took.
    last_commit: Duration,
}

/// Sends a member the result of the COMMIT.
pub(super) type Member = oneshot::Sender<Result<()>>;

/// Rows that do not depend on stored data. They may be inserted again if a batch is undone.
pub(super) struct Deferred {
    pub into: &'static Insert,
    pub rows: Vec<Vec<Value>>,
}

impl Deferred {
    pub fn run(&self, connection: &Connection) -> rusqlite::Result<()> {
        insert(connection, self.into, &self.rows)
    }
}

/// A transaction of such insertions. Any holder of the permit can run all of it.
pub(super) struct Blind {
    pub writes: Vec<Deferred>,
    pub member: Member,
    /// Identifies it in the queue.
    pub number: u64,
}

/// Why blind transactions did not run.
struct Failure {
    error: Error,
    /// Whether the next ones may still succeed: the batch could be begun and is sound.
    others_may_run: bool,
}

/// Sends all of them the same result.
pub(super) fn send_results(members: impl IntoIterator<Item = Member>, result: &Result<()>) {
    for member in members {
        // A member whose caller is gone needs no result.
        let _ = member.send(result.clone());
    }
}

fn refuse(transactions: impl IntoIterator<Item = Blind>, error: Error) {
    send_results(transactions.into_iter().map(|blind| blind.member), &Err(error));
}

/// What undoes a member.
#[derive(Clone, Copy)]
pub(super) enum Undo {
    /// It is the first in its batch: rolling the batch back undoes nothing else.
    Batch,
    Savepoint,
}

impl Batch {
    pub fn new(connection: Connection, health: Arc<Health>, readers: Arc<Readers>) -> Self {
        Self {
            connection,
            is_open: false,
            readers,
            health,
            members: Vec::new(),
            transactions: 0,
            last_commit: Duration::MAX,
        }
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether another transaction may begin in it.
    pub fn has_room(&self) -> bool {
        self.is_sound() && self.transactions < MAX_TRANSACTIONS
    }

    /// How long the last COMMIT took; the longest duration if there was none.
    pub fn last_commit(&self) -> Duration {
        self.last_commit
    }

    pub fn begin(&mut self) -> rusqlite::Result<Undo> {
        self.transactions += 1;
        if self.is_open {
            run(&self.connection, "SAVEPOINT member", [])?;
            return Ok(Undo::Savepoint);
        }
        run(&self.connection, "BEGIN IMMEDIATE", [])?;
        self.is_open = true;
        Ok(Undo::Batch)
    }

    /// Leaves a member's work for the COMMIT. If this fails, the caller must undo it.
    pub fn release(&mut self, undo: Undo) -> rusqlite::Result<()> {
        match undo {
            Undo::Batch => Ok(()),
            Undo::Savepoint => run(&self.connection, "RELEASE member", []).map(drop),
        }
    }

    pub fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Batch => {
                self.roll_back();
                self.is_open = false;
            }
            Undo::Savepoint => self.roll_back_member(),
        }
    }

    /// Adds a member that gets the result of the COMMIT.
    pub fn join(&mut self, member: Member) {
        self.members.push(member);
    }

    /// Runs blind transactions under one savepoint; if one of them fails, each under its own.
    pub fn run(&mut self, mut transactions: Vec<Blind>) {
        // A caller that gave up was not told that its transaction is durable, so the transaction need not run.
        transactions.retain(|blind| !blind.member.is_closed());
        if transactions.is_empty() {
            return;
        }
        match self.attempt(&transactions) {
            Ok(()) => {
                let members = transactions.into_iter().map(|blind| blind.member);
                self.members.extend(members);
            }
            Err(failure) if transactions.len() == 1 || !failure.others_may_run => {
                refuse(transactions, failure.error);
            }
            Err(_) => self.run_one_by_one(transactions),
        }
    }

    fn run_one_by_one(&mut self, transactions: Vec<Blind>) {
        let mut rest = transactions.into_iter();
        while let Some(blind) = rest.next() {
            if blind.member.is_closed() {
                continue;
            }
            match self.attempt([&blind]) {
                Ok(()) => self.join(blind.member),
                Err(failure) => {
                    refuse([blind], failure.error.clone());
                    if !failure.others_may_run {
                        return refuse(rest, failure.error);
                    }
                }
            }
        }
    }

    fn attempt<'a>(
        &mut self,
        transactions: impl IntoIterator<Item = &'a Blind>,
    ) -> std::result::Result<(), Failure> {
        let failure = |batch: &Self, error: &_, others_may_run| Failure {
            error: batch.health.translate(error),
            others_may_run,
        };
        let undo = self.begin().map_err(|error| failure(self, &error, false))?;
        let mut writes = transactions.into_iter().flat_map(|blind| &blind.writes);
        let ran = writes.try_for_each(|write| write.run(&self.connection));
        ran.and_then(|()| self.release(undo)).map_err(|error| {
            self.undo(undo);
            failure(self, &error, self.is_sound())
        })
    }

    /// Ends the outer transaction. The caller sends the members the result.
    pub fn end(&mut self) -> (Vec<Member>, Result<()>) {
        let members = std::mem::take(&mut self.members);
        self.transactions = 0;
        let result = if members.is_empty() {
            Ok(())
        } else {
            // If SQLite has rolled the batch back, COMMIT fails because there is no transaction.
            let started = Instant::now();
            let committed = run(&self.connection, "COMMIT", []).map(drop);
            self.last_commit = started.elapsed();
            match &committed {
                Ok(()) => {
                    metrics::COMMITS.observe(self.last_commit);
                    metrics::BATCHES.add(members.len() as u64);
                }
                Err(_) => metrics::FAILED_COMMITS.increment(),
            }
            committed.map_err(|error| self.health.unavailable(&error))
        };
        // Does nothing if the COMMIT succeeded.
        self.roll_back();
        self.is_open = false;
        (members, result)
    }

    /// Whether the outer transaction is open if we think so: SQLite has not rolled it back by itself.
    pub fn is_sound(&self) -> bool {
        self.is_open != self.connection.is_autocommit()
    }

    /// Undoes one transaction; if that fails, the whole batch.
    fn roll_back_member(&self) {
        if self.is_sound()
            && let Err(error) = run(&self.connection, "ROLLBACK TO member", [])
                .and_then(|_| run(&self.connection, "RELEASE member", []))
        {
            self.health.unavailable(&error);
            self.roll_back();
        }
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = run(&self.connection, "ROLLBACK", [])
        {
            self.health.unavailable(&error);
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Before our connection closes: only the last one to close removes the log.
        self.readers.close();
    }
}
