//! A bounded pool of connections.
//!
//! It is our own because a connection goes back while its ROLLBACK is still under way (what the next
//! caller sends is answered after it), and because the place of a connection whose statement is being
//! cancelled stays taken until that has ended.
//!
//! Invariants:
//! - At most [`MAX_CONNECTIONS`] are open, and one for checks.
//! - A connection in the pool has no open transaction once it has answered what was sent to it.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portico_storage::Result;
use portico_storage::driver::{WAIT_TIMEOUT, waited_too_long};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connection::Connection;
use super::health::Health;
use super::target::Target;

/// PostgreSQL takes a hundred by default, and works on no more statements at once than it has cores.
pub(super) const MAX_CONNECTIONS: usize = 16;

/// Connections to one database.
pub(super) struct Pool {
    pub target: Target,
    pub health: Health,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Arc<Connection>>>,
}

impl Pool {
    pub fn new(target: Target) -> Self {
        Self {
            health: Health::new(target.shown()),
            target,
            permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            idle: Mutex::default(),
        }
    }

    /// Takes a connection that is idle, or opens another. Waits while all of them are in use.
    pub async fn take(self: &Arc<Self>) -> Result<Pooled> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let acquired = timeout(WAIT_TIMEOUT, self.permits.clone().acquire_owned()).await;
                let acquired = acquired.ok().and_then(std::result::Result::ok);
                acquired.ok_or_else(waited_too_long)?
            }
        };
        let connection = match self.next_idle() {
            Some(connection) => connection,
            None => {
                let opened = Connection::open(&self.target).await;
                Arc::new(opened.map_err(|error| self.health.unreached(&error))?)
            }
        };
        Ok(Pooled {
            pool: self.clone(),
            connection,
            is_discarded: false,
            _permit: permit,
        })
    }

    fn next_idle(&self) -> Option<Arc<Connection>> {
        let mut idle = self.idle();
        // The one that was used last is the likeliest to have its statements in the caches.
        std::iter::from_fn(|| idle.pop()).find(|connection| !connection.is_closed())
    }

    fn put_back(&self, connection: Arc<Connection>) {
        if !connection.is_closed() {
            self.idle().push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back into its pool when it is dropped.
pub(super) struct Pooled {
    pool: Arc<Pool>,
    connection: Arc<Connection>,
    is_discarded: bool,
    _permit: OwnedSemaphorePermit,
}

impl Pooled {
    /// Closes the connection, instead of putting it back.
    pub fn discard(mut self) {
        self.is_discarded = true;
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

impl Deref for Pooled {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if !self.is_discarded {
            self.pool.put_back(self.connection.clone());
        }
    }
}
