//! The threads on which statements run that may take long: a few, so that lists and searches keep no
//! thread from answering other requests, and each other from no more than their share.
//!
//! A task takes what it works on along (a connection, the turn to write) and brings it back with its
//! answer. Invariants:
//! - At most `most` threads, started when they are needed; at most as many tasks as there are
//!   connections.
//! - A task whose caller is gone does not begin; one that has begun is told to end. What it works on is
//!   dropped where the task ends, and that rolls back.
//! - A task that holds the turn to write goes before those that read: others wait for the turn.

use std::collections::VecDeque;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::interrupts::Watch;
use portico_storage::{Error, Result};

/// Runs tasks; ends them when it is dropped.
pub(super) struct Pool {
    shared: Arc<Shared>,
    longest: Duration,
}

struct Shared {
    state: Mutex<State>,
    /// Something is queued, or the pool is closed.
    work: Condvar,
    /// A task has ended.
    ended: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    running: Vec<Arc<Task>>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

struct Task {
    watch: Arc<Watch>,
    /// None once it has begun, or is not to begin any more.
    work: Mutex<Option<Work>>,
}

type Work = Box<dyn FnOnce(&Arc<Watch>) + Send>;

/// Which tasks go first.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rank {
    /// It holds what others wait for.
    HoldsTurn,
    Reads,
}

impl Pool {
    /// At most so many threads, and so long for a statement.
    pub fn new(most: usize, longest: Duration) -> Arc<Self> {
        let shared = Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            ended: Condvar::new(),
            most,
        };
        Arc::new(Self {
            shared: Arc::new(shared),
            longest,
        })
    }

    /// Runs this on one of the threads. If the answer is no longer waited for, the task is told to end.
    pub async fn run<T: Send + 'static>(
        &self,
        rank: Rank,
        work: impl FnOnce(&Arc<Watch>) -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, answer) = oneshot::channel();
        // What a task drops may have to be finished by the runtime.
        let runtime = Handle::try_current().ok();
        let work = move |watch: &Arc<Watch>| {
            let _runtime = runtime.as_ref().map(Handle::enter);
            // If the caller is gone, the answer is dropped here.
            let _ = sender.send(work(watch));
        };
        let task = Arc::new(Task {
            watch: Watch::new(self.longest),
            work: Mutex::new(Some(Box::new(work))),
        });
        let _awaited = Awaited(task.clone());
        self.queue(task, rank)?;
        answer
            .await
            .map_err(|_| Error::Unavailable("a statement did not come to its end".into()))
    }

    fn queue(&self, task: Arc<Task>, rank: Rank) -> Result<()> {
        let mut state = self.shared.lock();
        if state.is_closed {
            return Err(Error::Unavailable("the storage is closed".into()));
        }
        match rank {
            Rank::HoldsTurn => state.queue.push_front(task),
            Rank::Reads => state.queue.push_back(task),
        }
        if state.queue.len() <= state.idle || state.threads == self.shared.most {
            self.shared.work.notify_one();
            return Ok(());
        }
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name("portico-storage".into());
        match thread.spawn(move || shared.work()) {
            Ok(_) => state.threads += 1,
            // The others will come to it.
            Err(_) if state.threads > 0 => {}
            Err(error) => {
                let unqueued = take(&mut state.queue);
                drop(state);
                unqueued.iter().for_each(|task| task.withdraw());
                return Err(Error::Unavailable(format!("no thread can be started: {error}")));
            }
        }
        Ok(())
    }

    /// Ends what runs and refuses what comes; waits at most so long for what has begun.
    pub fn close(&self, patience: Duration) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.running.iter().for_each(|task| task.watch.stop());
        let unqueued = take(&mut state.queue);
        self.shared.work.notify_all();
        drop(state);
        // Not under the lock: what they hold is rolled back.
        unqueued.iter().for_each(|task| task.withdraw());
        let ended = &self.shared.ended;
        let waited =
            ended.wait_timeout_while(self.shared.lock(), patience, |state| !state.running.is_empty());
        drop(waited);
    }

    /// How many tasks have begun and not ended.
    #[cfg(test)]
    pub fn running(&self) -> usize {
        self.shared.lock().running.len()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close(Duration::ZERO);
    }
}

impl Shared {
    /// What each thread does, until the pool is closed.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            let Some(task) = state.queue.pop_front() else {
                if state.is_closed {
                    return;
                }
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            state.running.push(task.clone());
            drop(state);
            if let Some(work) = task.take() {
                // Its caller hears that it did not end.
                let _ = catch_unwind(AssertUnwindSafe(|| work(&task.watch)));
            }
            state = self.lock();
            state.running.retain(|running| !Arc::ptr_eq(running, &task));
            self.ended.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    fn take(&self) -> Option<Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn withdraw(&self) {
        self.watch.stop();
        drop(self.take());
    }
}

/// Withdraws its task when it is dropped: the caller is gone.
struct Awaited(Arc<Task>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.withdraw();
    }
}
