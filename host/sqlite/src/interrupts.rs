//! Stops statements that run for too long, or whose callers are gone.
//!
//! SQLite calls a connection's progress handler every few thousand steps of a statement, on the thread that runs it,
//! and stops the statement if the handler says so. For a database of ours, what the handler returns depends only on
//! what that thread runs at the moment, so it never stops a statement of another call that uses the connection later. A
//! file from elsewhere has one deadline for its whole connection. Invariants:
//! - On a connection of ours only statements inside [`CancelToken::run`] are stopped.
//! - A statement that writes runs there only if no other transaction has written in the same batch: when SQLite
//!   interrupts a write, it rolls back the whole batch.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use portico_storage::driver::WAIT_TIMEOUT;

/// Steps of a statement between two calls of the handler: about a tenth of a millisecond.
const STEPS: c_int = 4_000;

thread_local! {
    /// What this thread runs that may be stopped.
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

struct Running {
    token: Arc<CancelToken>,
    deadline: Instant,
}

/// Lets [`CancelToken`] stop the statements of a connection.
pub(super) fn allow(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(must_end))
}

/// Stops every statement of this connection that runs at the deadline or later.
pub(super) fn end_at(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(move || Instant::now() >= deadline))
}

fn must_end() -> bool {
    RUNNING.with_borrow(|running| {
        running
            .as_ref()
            .is_some_and(|Running { token, deadline }| token.is_cancelled() || Instant::now() >= *deadline)
    })
}

/// How long one statement on the pool may take. Most calls, and so their statements, end earlier.
#[derive(Clone, Copy)]
pub(super) struct StatementLimits {
    /// In a read transaction.
    pub read: Duration,
    /// In a write transaction, even if it only reads.
    pub write: Duration,
}

impl Default for StatementLimits {
    fn default() -> Self {
        Self {
            read: Duration::from_secs(30),
            // Half of the time that other writers wait, so that they still get the permit.
            write: WAIT_TIMEOUT / 2,
        }
    }
}

/// Stops the statements of one task.
#[derive(Default)]
pub(super) struct CancelToken {
    is_cancelled: AtomicBool,
}

impl CancelToken {
    /// Stops the statement that runs now, and every later one.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Runs statements on this thread. They stop when they are cancelled, and after this time.
    pub fn run<T>(self: &Arc<Self>, longest: Duration, statements: impl FnOnce() -> T) -> T {
        let _scope = Scope::begin(self, longest);
        statements()
    }
}

/// Until it is dropped, the statements of this thread may be stopped.
struct Scope;

impl Scope {
    fn begin(token: &Arc<CancelToken>, longest: Duration) -> Self {
        let running = Running {
            token: token.clone(),
            deadline: Instant::now() + longest,
        };
        RUNNING.set(Some(running));
        Self
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}
