//! The one connection that writes, and how transactions share its commits.
//!
//! A commit costs a write to the disk and little else, so transactions that come at the same time
//! share one: inside one outer transaction of SQLite (the batch) each but the first has a savepoint
//! of its own.
//!
//! Invariants:
//! - Whoever holds the turn, and nobody else, touches the connection. Turns are fair.
//! - `commit` answers only after the outer COMMIT: all members of a batch are there, or none is,
//!   and all are told so.
//! - An open batch is somebody's: of the holder of the turn, or of somebody who waits for it. A
//!   holder leaves it open only to somebody who waits, and looks again after letting go; who
//!   stops waiting looks too. So one of them sees that nobody is left, and finishes the batch.
//! - SQLite itself may roll back everything when a statement fails (a full disk). Then nothing
//!   more is written in that batch, and its members fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::health::Health;
use super::query::run;
use crate::storage::{Error, Result, waited_too_long};

/// Members of one batch. More would make the first one wait long, and save little.
const MAX_MEMBERS: usize = 256;

/// As long as COMMITs take no longer than this, whoever ends a batch waits for the disk on the
/// spot: to wake another thread for it, and from there those who are told, would take as long again.
/// A disk that was quick and stalls holds up one thread once: the next COMMIT is made elsewhere.
const SHORT: Duration = Duration::from_millis(1);

/// Gives turns to write.
pub(super) struct Writer {
    turn: Arc<Mutex<Batch>>,
    waiting: AtomicUsize,
    patience: Duration,
    health: Arc<Health>,
}

/// The connection, and the transactions that its next COMMIT makes durable.
struct Batch {
    connection: Connection,
    health: Arc<Health>,
    /// Whether the outer transaction has begun.
    is_open: bool,
    members: Vec<Member>,
    /// How long the last COMMIT took.
    last_commit: Duration,
}

/// Where a transaction that is committed hears what came of it.
type Member = oneshot::Sender<Result<()>>;

impl Writer {
    pub fn new(connection: Connection, health: Arc<Health>, patience: Duration) -> Self {
        let batch = Batch {
            connection,
            health: health.clone(),
            is_open: false,
            members: Vec::new(),
            last_commit: Duration::MAX,
        };
        Self {
            turn: Arc::new(Mutex::new(batch)),
            waiting: AtomicUsize::new(0),
            patience,
            health,
        }
    }

    /// Waits for the turn, and begins a transaction in the batch.
    pub async fn begin(self: &Arc<Self>) -> Result<Turn> {
        let batch = match self.turn.clone().try_lock_owned() {
            Ok(batch) => batch,
            Err(_) => {
                // Declared first: whatever ends this block lets go of the lock before the count.
                let _waiting = Waiting::new(self);
                let locked = timeout(self.patience, self.turn.clone().lock_owned()).await;
                locked.map_err(|_| waited_too_long())?
            }
        };
        let mut turn = Turn {
            writer: self.clone(),
            batch: Some(batch),
            undo: None,
        };
        turn.open().map_err(|error| self.health.translate(&error))?;
        Ok(turn)
    }

    fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Finishes a batch that nobody holds and nobody waits for. Called by whoever let go of it.
    fn finish_if_orphaned(&self) {
        // What was written before (the lock let go, the count) is visible before we look: of two
        // who do this at the same time, one at least sees what the other did.
        fence(Ordering::SeqCst);
        if !self.is_awaited()
            && let Ok(batch) = self.turn.clone().try_lock_owned()
        {
            finish(batch);
        }
    }
}

/// Counts somebody who waits for the turn.
struct Waiting<'a>(&'a Writer);

impl<'a> Waiting<'a> {
    fn new(writer: &'a Writer) -> Self {
        writer.waiting.fetch_add(1, Ordering::SeqCst);
        Self(writer)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        self.0.finish_if_orphaned();
    }
}

/// The turn to write: one transaction, rolled back unless it is committed.
pub(super) struct Turn {
    writer: Arc<Writer>,
    /// None only while it is dropped.
    batch: Option<OwnedMutexGuard<Batch>>,
    undo: Option<Undo>,
}

/// What undoes a transaction.
#[derive(Clone, Copy)]
enum Undo {
    /// Nobody was in the batch before it.
    Batch,
    Savepoint,
}

impl Turn {
    /// None only while it is dropped.
    pub fn connection(&self) -> Option<&Connection> {
        self.batch.as_ref().map(|batch| &batch.connection)
    }

    /// What is known of the database.
    pub fn health(&self) -> &Health {
        &self.writer.health
    }

    /// Makes the transaction durable, together with others if there are.
    pub async fn commit(mut self) -> Result<()> {
        let joined = self.join();
        // Dropped before waiting, also if it failed: that passes the turn on.
        drop(self);
        joined?
            .await
            .unwrap_or_else(|_| Err(Error::Unavailable("the writer is gone".into())))
    }

    fn open(&mut self) -> rusqlite::Result<()> {
        let Some(batch) = &mut self.batch else {
            return Ok(());
        };
        if batch.is_open {
            run(&batch.connection, "SAVEPOINT member", [])?;
            self.undo = Some(Undo::Savepoint);
        } else {
            run(&batch.connection, "BEGIN IMMEDIATE", [])?;
            batch.is_open = true;
            self.undo = Some(Undo::Batch);
        }
        Ok(())
    }

    fn join(&mut self) -> Result<oneshot::Receiver<Result<()>>> {
        let Some(batch) = &mut self.batch else {
            return Err(Error::Unavailable("no turn".into()));
        };
        if let Some(Undo::Savepoint) = self.undo {
            let released = run(&batch.connection, "RELEASE member", []);
            released.map_err(|error| self.writer.health.translate(&error))?;
        }
        self.undo = None;
        let (sender, receiver) = oneshot::channel();
        batch.members.push(sender);
        Ok(receiver)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(mut batch) = self.batch.take() else {
            return;
        };
        match self.undo {
            Some(Undo::Batch) => {
                batch.roll_back();
                batch.is_open = false;
            }
            Some(Undo::Savepoint) => batch.roll_back_member(),
            None => {}
        }
        if batch.is_sound() && batch.members.len() < MAX_MEMBERS && self.writer.is_awaited() {
            drop(batch);
            self.writer.finish_if_orphaned();
        } else {
            finish(batch);
        }
    }
}

/// Ends a batch and lets go of the turn; where the disk is slow, not on this thread.
fn finish(batch: OwnedMutexGuard<Batch>) {
    let has_members = !batch.members.is_empty();
    let is_short = batch.last_commit < SHORT;
    let finish = Finish(Some(batch));
    if has_members
        && let Ok(runtime) = Handle::try_current()
        && !(is_short && runtime.metrics().num_workers() > 1)
    {
        // A runtime that shuts down drops the closure without running it; that finishes it, too.
        runtime.spawn_blocking(move || drop(finish));
    }
}

/// Ends the batch when it is dropped.
struct Finish(Option<OwnedMutexGuard<Batch>>);

impl Drop for Finish {
    fn drop(&mut self) {
        let Some(mut batch) = self.0.take() else {
            return;
        };
        let (members, result) = batch.end();
        // Before the answers: whoever hears that it is done finds the turn free.
        drop(batch);
        for member in members {
            // Whoever no longer waits for the answer does not need it.
            let _ = member.send(result.clone());
        }
    }
}

impl Batch {
    /// Whether the outer transaction is as we left it: SQLite has not rolled it back.
    fn is_sound(&self) -> bool {
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

    /// Ends the outer transaction; answers who has to be told what came of it.
    fn end(&mut self) -> (Vec<Member>, Result<()>) {
        let members = std::mem::take(&mut self.members);
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
        self.is_open = false;
        (members, result)
    }
}
