//! The threads for statements that may take long. Only so can a statement be stopped when its call ends, whatever runtime
//! the call is on. There are few of them, so lists and searches share the processor among themselves.
//!
//! A task owns what it works on (a reader, the permit to write) and returns it with its result. Invariants:
//! - There are at most `max_threads` threads, started when needed. Each task holds a permit, to scan or to write, and
//!   there are as many threads as permits: a task waits only until a thread starts, or until it finishes another task
//!   whose result is already sent.
//! - A task whose caller is gone does not begin, and leaves the queue. If it has begun, its statement is stopped. What
//!   it works on is dropped on its thread, which rolls back.

use std::collections::VecDeque;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::interrupts::CancelToken;
use portico_storage::{Error, Result};

/// Runs tasks, and stops them when it is dropped.
pub(super) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Signalled when a task is queued, and when the pool is closed.
    work: Condvar,
    /// Signalled when a task has ended.
    ended: Condvar,
    max_threads: usize,
    /// What each thread calls first.
    prepare: fn(),
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
    token: Arc<CancelToken>,
    /// `None` once it has begun or was withdrawn.
    work: Mutex<Option<Work>>,
}

type Work = Box<dyn FnOnce(&Arc<CancelToken>) + Send>;

impl Pool {
    /// A pool of at most this many threads, each of which first calls this.
    pub fn new(max_threads: usize, prepare: fn()) -> Arc<Self> {
        let shared = Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            ended: Condvar::new(),
            max_threads,
            prepare,
        };
        Arc::new(Self {
            shared: Arc::new(shared),
        })
    }

    /// Runs this on one of the threads. Dropping the future stops the task.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<CancelToken>) -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, answer) = oneshot::channel();
        // Dropping the permit to write may need the runtime, to finish the batch.
        let runtime = Handle::try_current().ok();
        let work = move |token: &Arc<CancelToken>| {
            let _runtime = runtime.as_ref().map(Handle::enter);
            // If the caller is gone, the result is dropped here.
            let _ = sender.send(work(token));
        };
        let task = Arc::new(Task {
            token: Arc::default(),
            work: Mutex::new(Some(Box::new(work))),
        });
        let _withdraw = WithdrawOnDrop {
            task: task.clone(),
            shared: &self.shared,
        };
        self.queue(task)?;
        answer
            .await
            .map_err(|_| Error::Unavailable("a statement was aborted".into()))
    }

    fn queue(&self, task: Arc<Task>) -> Result<()> {
        let mut state = self.shared.lock();
        if state.is_closed {
            return Err(Error::Unavailable("the storage is closed".into()));
        }
        state.queue.push_back(task);
        if state.queue.len() <= state.idle || state.threads == self.shared.max_threads {
            self.shared.work.notify_one();
            return Ok(());
        }
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name("portico-storage".into());
        match thread.spawn(move || shared.work()) {
            Ok(_) => state.threads += 1,
            // The threads that are running will take it later.
            Err(_) if state.threads > 0 => {}
            Err(error) => {
                let withdrawn = take(&mut state.queue);
                drop(state);
                withdrawn.iter().for_each(|task| task.withdraw());
                return Err(Error::Unavailable(format!("no thread can be started: {error}")));
            }
        }
        Ok(())
    }

    /// Stops the running tasks and refuses new ones. Waits at most this long for tasks to end.
    pub fn close(&self, patience: Duration) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.running.iter().for_each(|task| task.token.cancel());
        let withdrawn = take(&mut state.queue);
        self.shared.work.notify_all();
        drop(state);
        // After the lock is released: dropping what they hold rolls back.
        withdrawn.iter().for_each(|task| task.withdraw());
        let ended = &self.shared.ended;
        let waited =
            ended.wait_timeout_while(self.shared.lock(), patience, |state| !state.running.is_empty());
        drop(waited);
    }

    /// The number of tasks that have begun and not ended.
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
    /// The loop of each thread, until the pool is closed.
    fn work(&self) {
        (self.prepare)();
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
                // If it panics, its caller gets an error.
                let _ = catch_unwind(AssertUnwindSafe(|| work(&task.token)));
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
        self.token.cancel();
        drop(self.take());
    }
}

/// The caller's handle of its task: dropped when the result is there, or when the caller is gone.
struct WithdrawOnDrop<'a> {
    task: Arc<Task>,
    shared: &'a Shared,
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        self.task.token.cancel();
        if let Some(work) = self.task.take() {
            let is_other = |queued: &Arc<Task>| !Arc::ptr_eq(queued, &self.task);
            self.shared.lock().queue.retain(is_other);
            // After the lock is released: dropping what it holds rolls back.
            drop(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn a_task_whose_caller_is_gone_leaves_the_queue_with_what_it_holds() {
        let pool = Pool::new(1, || ());
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let mut running = Box::pin(pool.run(move |_| ended.recv().is_ok()));
        assert!(poll!(&mut running).is_pending());
        while pool.running() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let held = Arc::new(());
        let work = {
            let held = held.clone();
            move |_: &Arc<CancelToken>| drop(held)
        };
        let mut queued = Box::pin(pool.run(work));
        assert!(poll!(&mut queued).is_pending());
        drop(queued);
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(pool.shared.lock().queue.is_empty());
        end.send(()).unwrap();
        assert_eq!(running.await, Ok(true));
    }
}
