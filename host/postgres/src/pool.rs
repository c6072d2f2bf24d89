//! A bounded number of connections to one database.
//!
//! Invariants:
//! - At most [`MAX_CONNECTIONS`] are open, and one for checks. A connection that is closed keeps its place until the
//!   server has finished what was sent on it (`session.rs`).
//! - Write transactions, which may wait for a lock for seconds, use at most [`MAX_WRITERS`] of them, and steps that
//!   change what hosts share at most [`MAX_STEPS`]. So reads wait neither for waiting writers, nor for commits that a
//!   standby delays.
//! - A connection in the pool has no open transaction once the responses to what was sent on it have arrived.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portico_storage::Result;
use portico_storage::driver::waited_too_long;
use tokio::runtime::Handle;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::Connection;
use super::health::Health;
use super::target::Target;

/// PostgreSQL accepts a hundred by default, and works on no more statements at the same time than it has cores.
pub(super) const MAX_CONNECTIONS: usize = 16;
/// Enough for commits that wait for the disk to share one write of it.
const MAX_WRITERS: usize = 12;
/// Few, because each takes two short round trips.
const MAX_STEPS: usize = 2;

/// What a connection is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    Reading,
    Writing,
    /// A change of what hosts share.
    Step,
}

/// The places that a connection takes until the server has finished with it.
pub(super) type Places = Vec<OwnedSemaphorePermit>;

pub(super) struct Pool {
    pub target: Target,
    pub health: Health,
    places: Arc<Semaphore>,
    places_to_write: Arc<Semaphore>,
    places_to_step: Arc<Semaphore>,
    idle: Mutex<Vec<Arc<Connection>>>,
    /// The runtime of the storage.
    runtime: Handle,
}

impl Pool {
    pub fn new(target: Target) -> Self {
        Self {
            health: Health::new(target.shown()),
            target,
            places: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            places_to_write: Arc::new(Semaphore::new(MAX_WRITERS)),
            places_to_step: Arc::new(Semaphore::new(MAX_STEPS)),
            idle: Mutex::default(),
            runtime: Handle::current(),
        }
    }

    /// Takes a connection that is idle, or opens another. Waits while all of them are in use, or as many as this
    /// purpose may use.
    pub async fn take(self: &Arc<Self>, purpose: For) -> Result<(Arc<Connection>, Places)> {
        let places = timeout(self.target.limits.wait, self.take_places(purpose)).await;
        let places = places.map_err(|_| waited_too_long())?;
        let places = places.map_err(|_| waited_too_long())?;
        let connection = match self.next_idle() {
            Some(connection) => connection,
            // Rare: boxed to keep the common future small.
            None => Box::pin(self.open()).await?,
        };
        Ok((connection, places))
    }

    async fn take_places(&self, purpose: For) -> std::result::Result<Places, AcquireError> {
        let few = match purpose {
            For::Reading => None,
            For::Writing => Some(&self.places_to_write),
            For::Step => Some(&self.places_to_step),
        };
        let mut places = Vec::with_capacity(2);
        for semaphore in few.into_iter().chain([&self.places]) {
            places.push(semaphore.clone().acquire_owned().await?);
        }
        Ok(places)
    }

    /// Opens a connection, whose messages a task moves. The task runs on the storage's runtime, not on the caller's: that
    /// may be the second runtime, where long calls would delay the next transaction on this connection.
    async fn open(self: &Arc<Self>) -> Result<Arc<Connection>> {
        let pool = self.clone();
        // Dropped with its caller, which holds the place for the connection.
        let mut opening = JoinSet::new();
        opening.spawn_on(async move { Connection::open(&pool.target).await }, &self.runtime);
        let opened = opening.join_next().await.and_then(|joined| joined.ok());
        let opened = opened.ok_or_else(|| self.health.unavailable("connecting was aborted"))?;
        Ok(Arc::new(opened.map_err(|error| self.health.unreached(&error))?))
    }

    fn next_idle(&self) -> Option<Arc<Connection>> {
        let mut idle = self.idle();
        // The connection that was used last is the most likely to have its statements in the caches.
        std::iter::from_fn(|| idle.pop()).find(|connection| !connection.is_closed())
    }

    pub fn put_back(&self, connection: Arc<Connection>) {
        if !connection.is_closed() {
            self.idle().push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
