//! The one connection that writes, and whose turn it is.
//!
//! A commit costs a write to the disk and little else, so transactions that come at the same time
//! share one (`batch.rs`). A transaction that has to see what is there takes the turn and is
//! carried out where it runs. One that does not (`BlindWrite`) is queued as a whole when it
//! commits: whoever ends a batch runs all that are queued, one after the other, without passing
//! the turn on between them.
//!
//! Invariants:
//! - Whoever holds the turn, and nobody else, touches the connection. Turns are fair.
//! - `commit` and `write` answer only after the outer COMMIT.
//! - An open batch is somebody's: of the holder of the turn, or of somebody who waits for it; and
//!   so is the queue. A holder leaves them only to somebody who waits, and looks again after
//!   letting go; who stops waiting or queues something looks too. So one of them sees that nobody
//!   is left, and finishes the batch.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::batch::{Batch, Blind, BlindWrite, Undo};
use super::health::Health;
use super::readers::Readers;
use portico_storage::driver::waited_too_long;
use portico_storage::{Error, Result};

/// Queued transactions that are run in one go, without a look at who waits for the turn.
const MAX_QUEUED: usize = 64;

/// As long as COMMITs take no longer than this, whoever ends a batch waits for the disk on the
/// spot: to wake another thread for it, and from there those who are told, would take as long again.
/// A disk that was quick and stalls holds up one thread once: the next COMMIT is made elsewhere.
const SHORT: Duration = Duration::from_millis(1);

/// Gives turns to write.
pub(super) struct Writer {
    turn: Arc<Mutex<Batch>>,
    waiting: AtomicUsize,
    queue: std::sync::Mutex<VecDeque<Blind>>,
    numbers: AtomicU64,
    patience: Duration,
    health: Arc<Health>,
}

impl Writer {
    pub fn new(
        connection: Connection,
        health: Arc<Health>,
        readers: Arc<Readers>,
        patience: Duration,
    ) -> Self {
        Self {
            turn: Arc::new(Mutex::new(Batch::new(connection, health.clone(), readers))),
            waiting: AtomicUsize::new(0),
            queue: std::sync::Mutex::default(),
            numbers: AtomicU64::new(0),
            patience,
            health,
        }
    }

    /// Waits for the turn, and begins a transaction in the batch.
    pub async fn begin(self: &Arc<Self>) -> Result<WritePermit> {
        let mut batch = match self.turn.clone().try_lock_owned() {
            Ok(batch) => batch,
            Err(_) => {
                // Declared first: whatever ends this block lets go of the lock before the count.
                let _waiting = Waiting::new(self);
                let locked = timeout(self.patience, self.turn.clone().lock_owned()).await;
                locked.map_err(|_| waited_too_long())?
            }
        };
        let begun = batch.begin().map_err(|error| self.health.translate(&error));
        let turn = WritePermit {
            writer: self.clone(),
            batch: Some(batch),
            undo: begun.as_ref().ok().copied(),
        };
        begun.map(|_| turn)
    }

    /// Carries out a transaction that needs to see nothing, as a whole; done when it is durable.
    pub async fn write(self: &Arc<Self>, writes: Vec<BlindWrite>) -> Result<()> {
        let (member, mut answer) = oneshot::channel();
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let blind = Blind {
            writes,
            member,
            number,
        };
        self.queue().push_back(blind);
        self.finish_if_orphaned();
        match timeout(self.patience, &mut answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(gone())),
            Err(_) if self.withdraw(number) => Err(waited_too_long()),
            // It is being carried out.
            Err(_) => answer.await.unwrap_or_else(|_| Err(gone())),
        }
    }

    /// What is known of the database.
    pub fn health(&self) -> &Health {
        &self.health
    }

    fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Finishes a batch that nobody holds and nobody waits for. Called by whoever let go of it.
    fn finish_if_orphaned(self: &Arc<Self>) {
        // What was written before (the lock let go, the count, the queue) is visible before we look:
        // of two who do this at the same time, one at least sees what the other did.
        fence(Ordering::SeqCst);
        if !self.is_awaited()
            && let Ok(batch) = self.turn.clone().try_lock_owned()
        {
            self.finish(batch);
        }
    }

    /// Ends a batch and lets go of the turn; where the disk is slow, not on this thread.
    fn finish(self: &Arc<Self>, batch: OwnedMutexGuard<Batch>) {
        let has_work = batch.has_members() || self.has_queued();
        let is_short = batch.last_commit() < SHORT;
        let finish = Finish {
            writer: self.clone(),
            batch: Some(batch),
        };
        if has_work
            && let Ok(runtime) = Handle::try_current()
            && !(is_short && runtime.metrics().num_workers() > 1)
        {
            // A runtime that shuts down drops the closure without running it; that finishes it, too.
            runtime.spawn_blocking(move || drop(finish));
        }
    }

    /// Ends a batch, with all that is queued, on this thread; and lets go of the turn.
    fn end(&self, mut batch: OwnedMutexGuard<Batch>) {
        // What SQLite gave up ends by itself: what is queued shall not be told the same.
        let given_up = (!batch.is_sound()).then(|| batch.end());
        batch.run(self.next_queued());
        let ended = batch.end();
        // Before the answers: whoever hears that it is done finds the turn free.
        drop(batch);
        for (members, result) in given_up.into_iter().chain([ended]) {
            for member in members {
                // A member whose caller is gone needs no answer.
                let _ = member.send(result.clone());
            }
        }
    }

    /// The turn, if something is queued that nobody else will carry out.
    fn orphaned_queue(&self) -> Option<OwnedMutexGuard<Batch>> {
        let is_orphaned = self.has_queued() && !self.is_awaited();
        is_orphaned.then(|| self.turn.clone().try_lock_owned().ok())?
    }

    /// Whether something is queued, as of now: also for who let go of the turn just before.
    fn has_queued(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.queue().is_empty()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Blind>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a transaction out of the queue; whether it was there still.
    fn withdraw(&self, number: u64) -> bool {
        let mut queue = self.queue();
        let count = queue.len();
        queue.retain(|blind| blind.number != number);
        queue.len() < count
    }

    /// The next that are queued.
    fn next_queued(&self) -> Vec<Blind> {
        let mut queue = self.queue();
        let count = queue.len().min(MAX_QUEUED);
        queue.drain(..count).collect()
    }
}

fn gone() -> Error {
    Error::Unavailable("the writer is gone".into())
}

/// Counts somebody who waits for the turn.
struct Waiting<'a>(&'a Arc<Writer>);

impl<'a> Waiting<'a> {
    fn new(writer: &'a Arc<Writer>) -> Self {
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
pub(super) struct WritePermit {
    writer: Arc<Writer>,
    /// None only while it is dropped.
    batch: Option<OwnedMutexGuard<Batch>>,
    undo: Option<Undo>,
}

impl WritePermit {
    /// None only while it is dropped.
    pub fn connection(&self) -> Option<&Connection> {
        self.batch.as_ref().map(|batch| batch.connection())
    }

    /// What is known of the database.
    pub fn health(&self) -> &Health {
        &self.writer.health
    }

    /// Whether the batch has only this transaction's writes, so that it can be rolled back as a whole.
    pub fn is_alone(&self) -> bool {
        matches!(self.undo, Some(Undo::Batch))
    }

    /// Commits the batch that others have written in and begins another. Only for a transaction that has
    /// written nothing; what it has read stays true, because it keeps the turn throughout.
    pub fn stand_alone(&mut self) -> Result<()> {
        let (Some(batch), Some(Undo::Savepoint)) = (&mut self.batch, self.undo) else {
            return Ok(());
        };
        self.undo = None;
        batch.undo(Undo::Savepoint);
        let (members, result) = batch.end();
        for member in members {
            // A member whose caller is gone needs no answer.
            let _ = member.send(result.clone());
        }
        // They may have read what is not there now.
        result.map_err(|_| Error::Retry)?;
        let begun = batch
            .begin()
            .map_err(|error| self.writer.health.translate(&error));
        self.undo = Some(begun?);
        Ok(())
    }

    /// Makes the transaction durable, together with others if there are.
    pub async fn commit(mut self) -> Result<()> {
        let joined = self.join();
        // Dropped before waiting, also if it failed: that passes the turn on.
        drop(self);
        joined?.await.unwrap_or_else(|_| Err(gone()))
    }

    fn join(&mut self) -> Result<oneshot::Receiver<Result<()>>> {
        let (Some(batch), Some(undo)) = (&mut self.batch, self.undo) else {
            return Err(Error::Unavailable("no turn".into()));
        };
        let kept = batch.keep(undo);
        kept.map_err(|error| self.writer.health.translate(&error))?;
        self.undo = None;
        let (member, answer) = oneshot::channel();
        batch.join(member);
        Ok(answer)
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        let Some(mut batch) = self.batch.take() else {
            return;
        };
        if let Some(undo) = self.undo {
            batch.undo(undo);
        }
        // Those who are queued get their share, too.
        let may_go_on = batch.has_room() && self.writer.queue().len() < MAX_QUEUED;
        if may_go_on && self.writer.is_awaited() {
            drop(batch);
            self.writer.finish_if_orphaned();
        } else {
            self.writer.finish(batch);
        }
    }
}

/// Ends the batch when it is dropped.
struct Finish {
    writer: Arc<Writer>,
    /// None only while it is dropped.
    batch: Option<OwnedMutexGuard<Batch>>,
}

impl Drop for Finish {
    fn drop(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.writer.end(batch);
        }
        if self.writer.has_queued() {
            let rest = Rest(self.writer.clone());
            // Not on this thread, which has answers to pass on.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn_blocking(move || drop(rest));
            }
        }
    }
}

/// Carries out what is queued, until nothing is, when it is dropped.
struct Rest(Arc<Writer>);

impl Drop for Rest {
    fn drop(&mut self) {
        while let Some(batch) = self.0.orphaned_queue() {
            self.0.end(batch);
        }
    }
}
