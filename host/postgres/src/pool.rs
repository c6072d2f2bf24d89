//! A bounded pool of connections.
//!
//! It is our own because a connection goes back while its ROLLBACK is still under way (what the next
//! caller sends is answered after it), and because the place of a connection whose statement is being
//! cancelled stays taken until that has ended.
//!
//! Invariants:
//! - At most [`MAX_CONNECTIONS`] are open, and one for checks.
//! - Write transactions, which may wait for a lock for seconds, have at most [`MAX_WRITERS`] of them, and steps that
//!   change what hosts share [`MAX_STEPS`]: reads wait neither for writers that wait, nor for commits that a standby holds up.
//! - A connection in the pool has no open transaction once it has answered what was sent to it.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portico_storage::Result;
use portico_storage::driver::{WAIT_TIMEOUT, waited_too_long};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connection::Connection;
use super::health::Health;
use super::target::Target;

/// PostgreSQL takes a hundred by default, and works on no more statements at once than it has cores.
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

/// Connections to one database.
pub(super) struct Pool {
    pub target: Target,
    pub health: Health,
    places: Arc<Semaphore>,
    places_to_write: Arc<Semaphore>,
    places_to_step: Arc<Semaphore>,
    idle: Mutex<Vec<Arc<Connection>>>,
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
        }
    }

    /// Takes a connection that is idle, or opens another. Waits while all of them are in use, or as many as there may be
    /// for this.
    pub async fn take(self: &Arc<Self>, purpose: For) -> Result<Pooled> {
        // What is rare is boxed, to keep the common future small.
        let places = match self.free_places(purpose) {
            Some(places) => places,
            None => Box::pin(self.wait_for_places(purpose)).await?,
        };
        let connection = match self.next_idle() {
            Some(connection) => connection,
            None => Box::pin(self.open()).await?,
        };
        Ok(Pooled {
            pool: self.clone(),
            connection,
            is_discarded: false,
            _places: places,
        })
    }

    /// The places of which there are fewer for this.
    fn few(&self, purpose: For) -> Option<Arc<Semaphore>> {
        match purpose {
            For::Reading => None,
            For::Writing => Some(self.places_to_write.clone()),
            For::Step => Some(self.places_to_step.clone()),
        }
    }

    fn free_places(&self, purpose: For) -> Option<Places> {
        let few = match self.few(purpose) {
            Some(few) => Some(few.try_acquire_owned().ok()?),
            None => None,
        };
        let place = self.places.clone().try_acquire_owned().ok()?;
        Some(Places { place, few })
    }

    async fn wait_for_places(&self, purpose: For) -> Result<Places> {
        let waiting = async {
            let few = match self.few(purpose) {
                Some(few) => Some(few.acquire_owned().await?),
                None => None,
            };
            let place = self.places.clone().acquire_owned().await?;
            Ok::<_, AcquireError>(Places { place, few })
        };
        let places = timeout(WAIT_TIMEOUT, waiting).await.ok();
        places
            .and_then(std::result::Result::ok)
            .ok_or_else(waited_too_long)
    }

    async fn open(&self) -> Result<Arc<Connection>> {
        let opened = Connection::open(&self.target).await;
        Ok(Arc::new(opened.map_err(|error| self.health.unreached(&error))?))
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
    _places: Places,
}

/// What a connection takes up until it goes back.
struct Places {
    #[expect(dead_code, reason = "held until it is dropped")]
    place: OwnedSemaphorePermit,
    #[expect(dead_code, reason = "held until it is dropped")]
    few: Option<OwnedSemaphorePermit>,
}

impl Pooled {
    /// Closes the connection, instead of putting it back.
    pub fn discard(mut self) {
        self.is_discarded = true;
    }

    pub fn pool(&self) -> &Arc<Pool> {
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
