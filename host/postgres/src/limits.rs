//! How many connections there may be, and how long may take what the server, or what is between, delays.

use std::time::Duration;

use portico_storage::driver::WAIT_TIMEOUT;

/// The number of connections, and the time limits of everything that the server or the network may delay. The defaults
/// are those of docs/scale.md; tests use shorter times.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most connections, in addition to one for checks. At least 2.
    pub connections: usize,
    /// A statement that only reads.
    pub read: Duration,
    /// A statement of a write transaction: half of the time that other writers wait.
    pub write: Duration,
    /// Waiting for a connection, or for the lock of writers.
    pub wait: Duration,
    /// Waiting for a response: longer than the server works on a statement. Only this detects a server or a network
    /// that is silent and keeps its connections open.
    pub answer: Duration,
    /// A check whether the database can be used.
    pub check: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // PostgreSQL accepts a hundred by default, and works on no more statements at the same time than it has
            // cores.
            connections: 16,
            read: Duration::from_secs(30),
            write: Duration::from_secs(5),
            wait: WAIT_TIMEOUT,
            answer: Duration::from_secs(35),
            check: Duration::from_secs(3),
        }
    }
}
