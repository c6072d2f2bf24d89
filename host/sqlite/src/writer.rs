//! The one connection that writes, and the permit to use it.
//!
//! A commit costs a write to the disk and little else, so transactions that come at the same time share
//! one (`batch.rs`). A transaction that reads takes the permit and runs on its caller's thread. One that
//! reads nothing (`Deferred`) is queued as a whole when it commits: the holder of the permit that ends
//! a batch runs everything in the queue, one after the other, without passing the permit on in between.
//!
//! Invariants:
//! - Only the holder of the permit uses the connection. The permit is passed on in order.
//! - `commit` and `write` return only after the outer COMMIT.
//! - An open batch, and what is queued, always has a responsible caller: the holder of the permit, or a caller that
//!   waits for it. A holder leaves them only if a caller waits, and checks again after releasing the permit. A caller
//!   that stops waiting, and one that queues something, checks too. So one of them notices that no other caller is
//!   left, and finishes the batch.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::batch::{Batch, Blind, Deferred, Member, Undo, answer};
use super::health::Health;
use super::readers::Readers;
use portico_storage::driver::waited_too_long;
use portico_storage::{Error, Result};

/// How many queued transactions run before callers that wait for the permit get it.
const MAX_QUEUED: usize = 64;

/// If the last COMMIT took less than this, the next one runs on the thread that ends the batch. Waking another thread
/// for it, which then wakes the callers, would take as long again. A fast disk that stalls blocks one thread once: the
/// next COMMIT runs on a thread of its own.
const SHORT: Duration = Duration::from_millis(1);

/// Owns the connection that writes, and gives out the permit.
pub(super) struct Writer {
    /// Locked by the holder of the permit.
    batch: Arc<Mutex<Batch>>,
    /// How many callers wait for the permit.
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
            batch: Arc::new(Mutex::new(Batch::new(connection, health.clone(), readers))),
            waiting: AtomicUsize::new(0),
            queue: std::sync::Mutex::default(),
            numbers: AtomicU64::new(0),
            patience,
            health,
        }
    }

    /// Waits for the permit and begins a transaction in the batch.
    pub async fn begin(self: &Arc<Self>) -> Result<WritePermit> {
        let mut batch = match self.batch.clone().try_lock_owned() {
            Ok(batch) => batch,
            Err(_) => {
                // Declared first, so that it is dropped last: the lock is released before the count falls.
                let _waiting = Waiting::new(self);
                let locked = timeout(self.patience, self.batch.clone().lock_owned()).await;
                locked.map_err(|_| waited_too_long())?
            }
        };
        let begun = batch.begin().map_err(|error| self.health.translate(&error));
        let permit = WritePermit {
            writer: self.clone(),
            batch: Some(batch),
            undo: begun.as_ref().ok().copied(),
        };
        begun.map(|_| permit)
    }

    /// Runs a whole blind transaction. Returns when it is durable.
    pub async fn write(self: &Arc<Self>, writes: Vec<Deferred>) -> Result<()> {
        let (member, mut committed) = oneshot::channel();
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let blind = Blind {
            writes,
            member,
            number,
        };
        self.queue().push_back(blind);
        self.finish_if_orphaned();
        match timeout(self.patience, &mut committed).await {
            Ok(result) => result.unwrap_or_else(|_| Err(gone())),
            Err(_) if self.withdraw(number) => Err(waited_too_long()),
            // It is already running.
            Err(_) => committed.await.unwrap_or_else(|_| Err(gone())),
        }
    }

    /// What is known of the database.
    pub fn health(&self) -> &Health {
        &self.health
    }

    fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Finishes the batch if no caller holds the permit or waits for it. To be called after releasing the
    /// permit, after ceasing to wait, and after queuing something.
    fn finish_if_orphaned(self: &Arc<Self>) {
        // The caller's own step (lock, count or queue) comes before this check. So of two callers that
        // check at the same time, at least one sees the other's step.
        fence(Ordering::SeqCst);
        if !self.is_awaited()
            && let Ok(batch) = self.batch.clone().try_lock_owned()
        {
            self.finish(batch);
        }
    }

    /// Ends the batch and releases the permit; if the disk is slow, on a thread of its own.
    fn finish(self: &Arc<Self>, batch: OwnedMutexGuard<Batch>) {
        let has_work = batch.has_members() || self.has_queued();
        let is_short = batch.last_commit() < SHORT;
        let finish = Finish(Some((self.clone(), batch)));
        if has_work
            && let Ok(runtime) = Handle::try_current()
            && !(is_short && runtime.metrics().num_workers() > 1)
        {
            drop_elsewhere(finish);
        }
    }

    /// Runs what is queued, ends the batch and releases the permit, on this thread. The members get their results when
    /// the returned value is sent.
    fn end(&self, mut batch: OwnedMutexGuard<Batch>) -> Answers {
        // A batch that SQLite has rolled back ends without the queue, so that the queued transactions do not fail with
        // it.
        let rolled_back = (!batch.is_sound()).then(|| batch.end());
        batch.run(self.next_queued());
        let ended = batch.end();
        // Before the results are sent: a caller that gets one finds the permit free.
        drop(batch);
        Answers(rolled_back.into_iter().chain([ended]).collect())
    }

    /// The batch, if something is queued and no other caller will run it.
    fn orphaned_queue(&self) -> Option<OwnedMutexGuard<Batch>> {
        let is_orphaned = self.has_queued() && !self.is_awaited();
        is_orphaned.then(|| self.batch.clone().try_lock_owned().ok())?
    }

    /// Whether something is queued. Ordered after the caller's previous step, like
    /// [`Writer::finish_if_orphaned`].
    fn has_queued(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.queue().is_empty()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Blind>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a transaction from the queue; false if it was no longer there.
    fn withdraw(&self, number: u64) -> bool {
        let mut queue = self.queue();
        let count = queue.len();
        queue.retain(|blind| blind.number != number);
        queue.len() < count
    }

    /// Removes the next ones from the queue.
    fn next_queued(&self) -> Vec<Blind> {
        let mut queue = self.queue();
        let count = queue.len().min(MAX_QUEUED);
        queue.drain(..count).collect()
    }
}

fn gone() -> Error {
    Error::Unavailable("the writer has shut down".into())
}

/// Counts a caller that waits for the permit.
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

/// The permit to write, with one transaction. Dropping it rolls the transaction back unless it was
/// committed.
pub(super) struct WritePermit {
    writer: Arc<Writer>,
    /// None only while it is dropped.
    batch: Option<OwnedMutexGuard<Batch>>,
    /// None once there is nothing to roll back.
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

    /// Whether the batch holds only this transaction's writes, so that rolling it back undoes no other transaction.
    pub fn is_alone(&self) -> bool {
        matches!(self.undo, Some(Undo::Batch))
    }

    /// Commits what others have written in this batch and begins another. Only for a transaction that has
    /// written nothing. What it has read stays true, because it keeps the permit.
    pub fn stand_alone(&mut self) -> Result<()> {
        let (Some(batch), Some(Undo::Savepoint)) = (&mut self.batch, self.undo) else {
            return Ok(());
        };
        self.undo = None;
        batch.undo(Undo::Savepoint);
        let (members, result) = batch.end();
        answer(members, &result);
        // If it failed, this transaction may have read what the others wrote, which is now rolled back.
        result.map_err(|_| Error::Retry)?;
        let begun = batch
            .begin()
            .map_err(|error| self.writer.health.translate(&error));
        self.undo = Some(begun?);
        Ok(())
    }

    /// Makes the transaction durable, together with the others in its batch.
    pub async fn commit(mut self) -> Result<()> {
        let joined = self.join();
        // Dropped before waiting, even if it failed: this passes the permit on.
        drop(self);
        joined?.await.unwrap_or_else(|_| Err(gone()))
    }

    fn join(&mut self) -> Result<oneshot::Receiver<Result<()>>> {
        let (Some(batch), Some(undo)) = (&mut self.batch, self.undo) else {
            return Err(Error::Unavailable("no permit to write".into()));
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
        // A full queue ends the batch, so that it does not wait behind callers that keep coming.
        let may_go_on = batch.has_room() && self.writer.queue().len() < MAX_QUEUED;
        if may_go_on && self.writer.is_awaited() {
            drop(batch);
            self.writer.finish_if_orphaned();
        } else {
            self.writer.finish(batch);
        }
    }
}

/// Drops what ends batches on another thread, or on this one if the system cannot start a thread.
fn drop_elsewhere(batches: impl Send + 'static) {
    let thread = thread::Builder::new().name("portico-commit".into());
    // If it cannot be started, this drops them.
    let _ = thread.spawn(move || drop(batches));
}

/// Ends the batch when it is dropped. `None` only while it is dropped.
struct Finish(Option<(Arc<Writer>, OwnedMutexGuard<Batch>)>);

impl Drop for Finish {
    fn drop(&mut self) {
        let Some((writer, batch)) = self.0.take() else {
            return;
        };
        let answers = writer.end(batch);
        if !writer.has_queued() {
            // A caller that has its result and drops the storage finds the storage closed.
            drop(writer);
            answers.send();
            return;
        }
        answers.send();
        let rest = Rest(Some(writer.clone()));
        // Not on a thread of the runtime, whose requests would wait.
        if Handle::try_current().is_ok() {
            drop_elsewhere(rest);
        }
    }
}

/// Runs what is queued when it is dropped, until the queue is empty. `None` only while it is dropped.
struct Rest(Option<Arc<Writer>>);

impl Drop for Rest {
    fn drop(&mut self) {
        let Some(writer) = self.0.take() else {
            return;
        };
        let mut next = writer.orphaned_queue();
        let mut last = None;
        while let Some(batch) = next {
            let answers = writer.end(batch);
            next = writer.orphaned_queue();
            match next {
                Some(_) => answers.send(),
                None => last = Some(answers),
            }
        }
        drop(writer);
        last.into_iter().for_each(Answers::send);
    }
}

/// The result of each batch that was ended, for its members.
struct Answers(Vec<(Vec<Member>, Result<()>)>);

impl Answers {
    fn send(self) {
        for (members, result) in self.0 {
            answer(members, &result);
        }
    }
}
