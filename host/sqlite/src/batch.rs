//! What one COMMIT makes durable: an outer transaction of SQLite, whose members are transactions.
//!
//! Invariants:
//! - Each member but the first has a savepoint of its own while it is at work, so it can be undone
//!   alone. Blind transactions share one, and are undone alone only if one of them fails.
//! - Members hear of their end only after the outer COMMIT: all of them are there, or none is, and
//!   all are told so.
//! - SQLite itself may roll back everything when a statement fails (a full disk). Then nothing
//!   more is written in that batch, and its members fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::health::Health;
use super::query::run;
use super::readers::{Readers, WriteGuard};
use portico_storage::Error;

/// Turns in one batch, those that were undone as well. More would make the first one wait long, and
/// save little.
const MAX_TURNS: usize = 256;

/// The connection, and the transactions that its next COMMIT makes durable.
pub(super) struct Batch {
    connection: Connection,
    /// From the beginning of the outer transaction until we end it.
    open: Option<WriteGuard>,
    readers: Arc<Readers>,
    health: Arc<Health>,
    members: Vec<Member>,
    /// Since it was begun.
    turns: usize,
    /// How long the last COMMIT took.
    last_commit: Duration,
}

/// Where a transaction that is committed hears what came of it.
pub(super) type Member = oneshot::Sender<Result<(), Error>>;

/// A statement that needs to see nothing of what is there, and answers nothing. It may run again.
pub(super) type BlindWrite = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send + Sync>;

/// A transaction that consists of such statements: whoever has the turn can run it as a whole.
pub(super) struct Blind {
    pub writes: Vec<BlindWrite>,
    pub member: Member,
    /// Tells it from others in the queue.
    pub number: u64,
}

/// Why blind transactions did not run.
struct Failure {
    error: Error,
    /// Whether others may run still: there is a turn to write, and a batch to write in.
    is_its_own: bool,
}

fn tell(transactions: impl IntoIterator<Item = Blind>, error: &Error) {
    for blind in transactions {
        // Whoever no longer waits for the answer does not need it.
        let _ = blind.member.send(Err(error.clone()));
    }
}

/// What undoes a member.
#[derive(Clone, Copy)]
pub(super) enum Undo {
    /// Nobody was in the batch before it.
    Batch,
    Savepoint,
}

impl Batch {
    pub fn new(connection: Connection, health: Arc<Health>, readers: Arc<Readers>) -> Self {
        Self {
            connection,
            open: None,
            readers,
            health,
            members: Vec::new(),
            turns: 0,
            last_commit: Duration::MAX,
        }
    }

    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether one more may join it.
    pub fn has_room(&self) -> bool {
        self.is_sound() && self.turns < MAX_TURNS
    }

    /// How long the last COMMIT took; forever if there was none.
    pub fn last_commit(&self) -> Duration {
        self.last_commit
    }

    /// Begins a member's work.
    pub fn begin(&mut self) -> rusqlite::Result<Undo> {
        self.turns += 1;
        if self.open.is_some() {
            run(&self.connection, "SAVEPOINT member", [])?;
            return Ok(Undo::Savepoint);
        }
        let way = self.readers.make_way();
        run(&self.connection, "BEGIN IMMEDIATE", [])?;
        self.open = Some(way);
        Ok(Undo::Batch)
    }

    /// Keeps a member's work. If that fails, it is still to be undone.
    pub fn keep(&mut self, undo: Undo) -> rusqlite::Result<()> {
        match undo {
            Undo::Batch => Ok(()),
            Undo::Savepoint => run(&self.connection, "RELEASE member", []).map(drop),
        }
    }

    /// Undoes a member's work.
    pub fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Batch => {
                self.roll_back();
                self.open = None;
            }
            Undo::Savepoint => self.roll_back_member(),
        }
    }

    /// One more who hears what comes of the COMMIT.
    pub fn join(&mut self, member: Member) {
        self.members.push(member);
    }

    /// Runs blind transactions: all under one savepoint, and each under its own if one fails.
    pub fn run(&mut self, mut transactions: Vec<Blind>) {
        // Whoever stopped waiting was not told that it is done.
        transactions.retain(|blind| !blind.member.is_closed());
        if transactions.is_empty() {
            return;
        }
        match self.attempt(&transactions) {
            Ok(()) => {
                let members = transactions.into_iter().map(|blind| blind.member);
                self.members.extend(members);
            }
            Err(failure) if transactions.len() == 1 || !failure.is_its_own => {
                tell(transactions, &failure.error);
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
                    tell([blind], &failure.error);
                    if !failure.is_its_own {
                        return tell(rest, &failure.error);
                    }
                }
            }
        }
    }

    fn attempt<'a>(&mut self, transactions: impl IntoIterator<Item = &'a Blind>) -> Result<(), Failure> {
        let failure = |batch: &Self, error: &_, is_its_own| Failure {
            error: batch.health.translate(error),
            is_its_own,
        };
        let undo = self.begin().map_err(|error| failure(self, &error, false))?;
        let mut writes = transactions.into_iter().flat_map(|blind| &blind.writes);
        let ran = writes.try_for_each(|write| write(&self.connection));
        ran.and_then(|()| self.keep(undo)).map_err(|error| {
            self.undo(undo);
            failure(self, &error, self.is_sound())
        })
    }

    /// Ends the outer transaction; answers who has to be told what came of it.
    pub fn end(&mut self) -> (Vec<Member>, Result<(), Error>) {
        let members = std::mem::take(&mut self.members);
        self.turns = 0;
        let result = if members.is_empty() {
            Ok(())
        } else {
            // If SQLite has given the batch up there is nothing to commit, and it says so.
            let started = Instant::now();
            let committed = run(&self.connection, "COMMIT", []).map(drop);
            self.last_commit = started.elapsed();
            committed.map_err(|error| self.health.unavailable(&error))
        };
        // Nothing left to do after a COMMIT that succeeded.
        self.roll_back();
        self.open = None;
        (members, result)
    }

    /// Whether the outer transaction is as we left it: SQLite has not rolled it back.
    pub fn is_sound(&self) -> bool {
        self.open.is_some() != self.connection.is_autocommit()
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
        // The connection leaves no log behind if it is the last to close.
        self.readers.close();
    }
}
