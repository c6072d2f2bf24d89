//! Ends statements that run for too long, or whose callers are gone.
//!
//! SQLite calls a connection's progress handler every so many steps of a statement, on the thread that
//! runs it, and ends the statement if the handler says so. For a database of ours the answer depends only
//! on what that thread runs at the moment, so a handler never ends a statement of another call that uses
//! the connection later. A file from elsewhere has one deadline for its whole connection. Invariants:
//! - On a connection of ours only statements inside [`Watch::over`] are ended.
//! - A statement that writes runs there only if no other transaction has written in the same batch: when
//!   SQLite interrupts a write it rolls back the whole batch.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Steps of a statement between two calls of the handler: about a tenth of a millisecond.
const STEPS: c_int = 4_000;

thread_local! {
    /// What this thread runs that may be ended.
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

struct Running {
    watch: Arc<Watch>,
    deadline: Instant,
}

/// Lets the statements of a connection be ended through [`Watch`].
pub(super) fn allow(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(must_end))
}

/// Ends every statement of this connection that runs at the deadline or later.
pub(super) fn end_at(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(move || Instant::now() >= deadline))
}

fn must_end() -> bool {
    RUNNING.with_borrow(|running| {
        running
            .as_ref()
            .is_some_and(|Running { watch, deadline }| watch.is_stopped() || Instant::now() >= *deadline)
    })
}

/// Ends the statements of one task.
pub(super) struct Watch {
    is_stopped: AtomicBool,
    longest: Duration,
}

impl Watch {
    /// Limits the time of each [`Watch::over`].
    pub fn new(longest: Duration) -> Arc<Self> {
        Arc::new(Self {
            is_stopped: AtomicBool::new(false),
            longest,
        })
    }

    /// Ends the statement that runs now, and every later one.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Runs statements on this thread that may be ended.
    pub fn over<T>(self: &Arc<Self>, statements: impl FnOnce() -> T) -> T {
        let _over = Over::begin(self);
        statements()
    }
}

/// Until it is dropped, the statements of this thread may be ended.
struct Over;

impl Over {
    fn begin(watch: &Arc<Watch>) -> Self {
        let running = Running {
            watch: watch.clone(),
            deadline: Instant::now() + watch.longest,
        };
        RUNNING.set(Some(running));
        Self
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}
