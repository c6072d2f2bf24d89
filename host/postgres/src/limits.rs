//! How long may take what the server, or what is between, delays.

use std::time::Duration;

use portico_storage::driver::WAIT_TIMEOUT;

/// How long may take what the server, or what is between, delays. By default what docs/scale.md says; tests need not wait
/// that long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A statement that only reads.
    pub read: Duration,
    /// A statement of a write transaction: half of the time that other writers wait.
    pub write: Duration,
    /// Waiting for a connection, or for the lock of writers.
    pub wait: Duration,
    /// An answer on its way: longer than the server works on a statement. A server, or what is between, that is silent and
    /// keeps its connections open is found out only by this.
    pub answer: Duration,
    /// A check whether the database can be used.
    pub check: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read: Duration::from_secs(30),
            write: Duration::from_secs(5),
            wait: WAIT_TIMEOUT,
            answer: Duration::from_secs(35),
            check: Duration::from_secs(3),
        }
    }
}
