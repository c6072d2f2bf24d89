//! Ends statements that run for too long, or whose callers are gone.
//!
//! Every so many steps of a statement SQLite calls a function of its connection (a progress handler),
//! on the thread that runs the statement, and ends the statement if that says so. Here the answer
//! depends on what this thread runs at the moment and on nothing else, so it never ends a statement of
//! another call that uses the connection later. Invariants:
//! - Only what runs inside of [`Watch::over`] is ended.
//! - A statement that writes runs there only if no other caller's writes are in its outer transaction:
//!   when SQLite interrupts a write it rolls all of them back.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// About a tenth of a millisecond.
const STEPS: c_int = 4_000;

thread_local! {
    /// What this thread runs that may be ended.
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

struct Running {
    watch: Arc<Watch>,
    until: Instant,
}

/// Lets the statements of a connection be ended.
pub(super) fn allow(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(must_end))
}

fn must_end() -> bool {
    RUNNING.with_borrow(|running| {
        running
            .as_ref()
            .is_some_and(|Running { watch, until }| watch.is_stopped() || Instant::now() >= *until)
    })
}

/// What tells the statements of one task to end.
pub(super) struct Watch {
    stopped: AtomicBool,
    longest: Duration,
}

impl Watch {
    /// Statements under it take at most so long.
    pub fn new(longest: Duration) -> Arc<Self> {
        Arc::new(Self {
            stopped: AtomicBool::new(false),
            longest,
        })
    }

    /// Ends the statement that runs now, and every later one.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Runs statements that may be ended.
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
            until: Instant::now() + watch.longest,
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
