//! The one connection that writes, and the permit to use it.
//!
//! A commit costs a write to the disk and little else, so transactions that come at the same time share one
//! (`batch.rs`). A transaction that reads takes the permit and runs on its caller's thread. One that reads nothing
//! (`Deferred`) is queued as a whole when it commits: the holder of the permit that ends a batch runs everything in the
//! queue, one after the other, without passing the permit on in between.
//!
//! Invariants:
//! - Only the holder of the permit has the batch, and with it the connection. The permit is passed on in order.
//! - The batch is idle only if it is not open, nothing is queued, and no caller waits. One lock decides this, so a
//!   caller that waits, or queues something, has a holder that looks after it.
//! - `commit` and `write` return only after the outer COMMIT.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::batch::{Batch, Blind, Deferred, Member, Undo, send_results};
use super::health::Health;
use super::metrics;
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
    /// Locked only for moments.
    state: Mutex<State>,
    patience: Duration,
    health: Arc<Health>,
}

struct State {
    /// The batch, while no one holds the permit.
    idle: Option<Batch>,
    /// Callers that wait for the permit. Those that have given up are closed.
    waiting: VecDeque<oneshot::Sender<WritePermit>>,
    queue: VecDeque<Blind>,
    /// The number of the last one that was queued.
    number: u64,
}

impl Writer {
    pub fn new(
        connection: Connection,
        health: Arc<Health>,
        readers: Arc<Readers>,
        patience: Duration,
    ) -> Self {
        let state = State {
            idle: Some(Batch::new(connection, health.clone(), readers)),
            waiting: VecDeque::new(),
            queue: VecDeque::new(),
            number: 0,
        };
        Self {
            state: Mutex::new(state),
            patience,
            health,
        }
    }

    /// Waits for the permit and begins a transaction in the batch.
    pub async fn begin(self: &Arc<Self>) -> Result<WritePermit> {
        let mut permit = match self.take_idle_or_wait() {
            Ok(batch) => WritePermit::new(self, batch),
            Err(turn) => {
                let started = Instant::now();
                let waited = timeout(self.patience, turn).await;
                let permit = waited.map_err(|_| {
                    metrics::WRITING.refused.increment();
                    waited_too_long()
                })?;
                metrics::WRITING.time.observe(started.elapsed());
                permit.map_err(|_| gone())?
            }
        };
        permit.begin()?;
        Ok(permit)
    }

    fn take_idle_or_wait(&self) -> std::result::Result<Batch, oneshot::Receiver<WritePermit>> {
        let mut state = self.state();
        state.idle.take().ok_or_else(|| {
            let (sender, turn) = oneshot::channel();
            state.waiting.push_back(sender);
            turn
        })
    }

    /// Runs a whole blind transaction. Returns when it is durable.
    pub async fn write(self: &Arc<Self>, writes: Vec<Deferred>) -> Result<()> {
        let (member, mut committed) = oneshot::channel();
        let (number, idle) = self.queue(writes, member);
        if let Some(batch) = idle {
            self.finish(batch);
        }
        match timeout(self.patience, &mut committed).await {
            Ok(result) => result.unwrap_or_else(|_| Err(gone())),
            Err(_) if self.withdraw(number) => Err(waited_too_long()),
            // It is already running.
            Err(_) => committed.await.unwrap_or_else(|_| Err(gone())),
        }
    }

    /// Queues a transaction. Returns its number, and the batch if no one holds the permit.
    fn queue(&self, writes: Vec<Deferred>, member: Member) -> (u64, Option<Batch>) {
        let mut state = self.state();
        state.number += 1;
        let number = state.number;
        state.queue.push_back(Blind {
            writes,
            member,
            number,
        });
        (number, state.idle.take())
    }

    /// Removes a transaction from the queue; false if it was no longer there.
    fn withdraw(&self, number: u64) -> bool {
        let queue = &mut self.state().queue;
        let count = queue.len();
        queue.retain(|blind| blind.number != number);
        queue.len() < count
    }

    /// What is known of the database.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Gives the permit, with the batch as it is, to the next caller that waits. Returns the batch if none does.
    fn pass_on(self: &Arc<Self>, mut batch: Batch) -> Option<Batch> {
        loop {
            let next = self.state().waiting.pop_front();
            let Some(waiting) = next else {
                return Some(batch);
            };
            // A caller that has given up returns it.
            match waiting.send(WritePermit::new(self, batch)) {
                Ok(()) => return None,
                Err(mut permit) => batch = permit.batch.take()?,
            }
        }
    }

    /// Passes the permit on after a batch was ended, or lets the batch rest. Returns it if something is queued that no
    /// other caller will run.
    fn release(self: &Arc<Self>, mut batch: Batch) -> Option<Batch> {
        loop {
            batch = self.pass_on(batch)?;
            let mut state = self.state();
            match (state.waiting.is_empty(), state.queue.is_empty()) {
                (true, true) => {
                    state.idle = Some(batch);
                    return None;
                }
                (true, false) => return Some(batch),
                // One came meanwhile.
                (false, _) => {}
            }
        }
    }

    /// Ends the batch and releases the permit; if the disk is slow, or more is queued than one batch takes, on a thread
    /// of its own.
    fn finish(self: &Arc<Self>, batch: Batch) {
        let has_work = batch.has_members() || !self.state().queue.is_empty();
        let is_short = batch.last_commit() < SHORT;
        let mut unfinished = Unfinished(Some((self.clone(), batch)));
        // Without a runtime, no requests wait for this thread.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if !has_work || is_short && runtime.metrics().num_workers() > 1 {
            unfinished.end_batch();
        }
        if unfinished.0.is_some() {
            let thread = thread::Builder::new().name("portico-commit".into());
            // If the system cannot start it, this drops the batch here.
            let _ = thread.spawn(move || drop(unfinished));
        }
    }

    /// Removes the next transactions from the queue.
    fn next_queued(&self) -> Vec<Blind> {
        let queue = &mut self.state().queue;
        let count = queue.len().min(MAX_QUEUED);
        queue.drain(..count).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> Error {
    Error::Unavailable("the writer has shut down".into())
}

/// A batch that is to be ended. Dropping it ends it, and then runs what is queued until the queue is empty or a caller
/// takes the permit.
struct Unfinished(Option<(Arc<Writer>, Batch)>);

impl Unfinished {
    /// Runs what is queued, ends the batch, and releases the permit unless more is queued.
    fn end_batch(&mut self) {
        let Some((writer, mut batch)) = self.0.take() else {
            return;
        };
        // A batch that SQLite has rolled back ends without the queue, so that the queued transactions do not fail with
        // it.
        let rolled_back = (!batch.is_sound()).then(|| batch.end());
        batch.run(writer.next_queued());
        let ended = batch.end();
        // Before the members get their results: a caller that has its result finds the permit free, and the storage
        // closed if it drops it.
        self.0 = writer.release(batch).map(|batch| (writer, batch));
        for (members, result) in rolled_back.into_iter().chain([ended]) {
            send_results(members, &result);
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        while self.0.is_some() {
            self.end_batch();
        }
    }
}

/// The permit to write, with one transaction. Dropping it rolls the transaction back unless it was
/// committed.
pub(super) struct WritePermit {
    writer: Arc<Writer>,
    /// None only while it is dropped.
    batch: Option<Batch>,
    /// None if there is nothing to roll back.
    undo: Option<Undo>,
}

impl WritePermit {
    fn new(writer: &Arc<Writer>, batch: Batch) -> Self {
        Self {
            writer: writer.clone(),
            batch: Some(batch),
            undo: None,
        }
    }

    fn begin(&mut self) -> Result<()> {
        let batch = self.batch.as_mut().ok_or_else(gone)?;
        let begun = batch.begin();
        self.undo = Some(begun.map_err(|error| self.writer.health.translate(&error))?);
        Ok(())
    }

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
        send_results(members, &result);
        // If it failed, this transaction may have read what the others wrote, which is now rolled back.
        result.map_err(|_| Error::Retry)?;
        self.begin()
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
        let kept = batch.release(undo);
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
        let may_go_on = batch.has_room() && self.writer.state().queue.len() < MAX_QUEUED;
        let left = match may_go_on {
            true => self.writer.pass_on(batch),
            false => Some(batch),
        };
        if let Some(batch) = left {
            self.writer.finish(batch);
        }
    }
}
