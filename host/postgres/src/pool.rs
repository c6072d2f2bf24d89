//! A bounded number of connections to one database.
//!
//! Invariants:
//! - At most [`connections`](super::Limits::connections) are open, and one for checks. A connection that is closed keeps
//!   its place until the server has finished what was sent on it (`session.rs`).
//! - Write transactions, which may wait for a lock for seconds, use at most three quarters of them, and steps that change
//!   what hosts share at most [`MAX_STEPS`]. So reads wait neither for waiting writers, nor for commits that a standby
//!   delays.
//! - Where the server has no room for another connection, callers wait for one of those that are open.
//! - All connections lead to the server that the newest one has reached.
//! - A connection in the pool has no open transaction once the responses to what was sent on it have arrived.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use portico_storage::Result;
use portico_storage::driver::waited_too_long;
use tokio::runtime::Handle;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::connection::Connection;
use super::failure::Unreached;
use super::health::{Health, describe};
use super::metrics;
use super::target::Target;

/// Few, because each takes two short round trips.
const MAX_STEPS: usize = 2;
/// How long a place stays closed after the server had no room for its connection: short, because a host that stops may
/// leave room soon, and long enough that refused connections cost little.
const CLOSED_FOR: Duration = Duration::from_secs(5);

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
    /// All connections, also those in use.
    open: Mutex<Vec<Weak<Connection>>>,
    /// How many connections are being opened.
    opening: AtomicUsize,
    has_warned: AtomicBool,
    /// The runtime of the storage.
    runtime: Handle,
}

impl Pool {
    pub fn new(target: Target) -> Self {
        let connections = target.limits.connections.max(2);
        Self {
            health: Health::new(target.shown()),
            target,
            places: Arc::new(Semaphore::new(connections)),
            places_to_write: Arc::new(Semaphore::new(connections * 3 / 4)),
            places_to_step: Arc::new(Semaphore::new(MAX_STEPS.min(connections / 2))),
            idle: Mutex::default(),
            open: Mutex::default(),
            opening: AtomicUsize::default(),
            has_warned: AtomicBool::default(),
            runtime: Handle::current(),
        }
    }

    /// Takes a connection that is idle, or opens another. Waits while all of them are in use, or as many as this
    /// purpose may use.
    pub async fn take(self: &Arc<Self>, purpose: For) -> Result<(Arc<Connection>, Places)> {
        let started = Instant::now();
        let taken = self.take_or_open(purpose).await;
        match &taken {
            Ok(_) => metrics::POOL.time.observe(started.elapsed()),
            Err(_) => metrics::POOL.refused.increment(),
        }
        taken
    }

    async fn take_or_open(self: &Arc<Self>, purpose: For) -> Result<(Arc<Connection>, Places)> {
        let deadline = Instant::now() + self.target.limits.wait;
        let mut places = in_time(deadline, self.take_places(purpose)).await?;
        loop {
            if let Some(connection) = self.next_idle() {
                return Ok((connection, places));
            }
            // Rare: boxed to keep the common future small.
            match Box::pin(self.open()).await {
                Ok(connection) => return Ok((connection, places)),
                Err(error) if error.is_of_full_server() && self.has_others() => {
                    self.close_place(places.pop(), &error);
                }
                Err(error) => return Err(self.health.unreached(&error)),
            }
            places.push(in_time(deadline, self.places.clone().acquire_owned()).await?);
        }
    }

    /// Closes a place for a while, for which the server has no room.
    fn close_place(&self, place: Option<OwnedSemaphorePermit>, error: &Unreached) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the database's server has no room for another connection, so calls wait for one of those that are \
                 open: {}. Set --database-connections to what it has room for, less one",
                describe(error)
            );
        }
        self.runtime.spawn(async move {
            sleep(CLOSED_FOR).await;
            drop(place);
        });
    }

    /// The places for a connection; the last one is that among all.
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
    async fn open(self: &Arc<Self>) -> std::result::Result<Arc<Connection>, Unreached> {
        let pool = self.clone();
        self.opening.fetch_add(1, Ordering::Relaxed);
        let _opening = Opening(&self.opening);
        // Dropped with its caller, which holds the place for the connection.
        let mut opening = JoinSet::new();
        opening.spawn_on(async move { Connection::open(&pool.target).await }, &self.runtime);
        let opened = opening.join_next().await.and_then(|joined| joined.ok());
        let opened = opened.unwrap_or_else(|| Err(Unreached::Unfit("connecting was aborted".into())))?;
        let opened = Arc::new(opened);
        self.leave_other_servers(&opened);
        self.list().push(Arc::downgrade(&opened));
        Ok(opened)
    }

    /// Closes all connections to another server than that of the newest one, which has taken its place: a former primary
    /// that is silent keeps no call, and one that wakes up gets no more writes.
    pub fn leave_other_servers(&self, newest: &Connection) {
        for connection in self.list().iter().filter_map(Weak::upgrade) {
            connection.leave_unless_with(newest);
        }
    }

    /// Whether there are connections, or will be: then one of them becomes idle.
    fn has_others(&self) -> bool {
        self.opening.load(Ordering::Relaxed) > 0 || !self.list().is_empty()
    }

    /// How many connections are idle, and how many are in use.
    pub fn counts(&self) -> (usize, usize) {
        let idle = self.idle().len();
        (idle, self.list().len().saturating_sub(idle))
    }

    /// The connections that are open.
    fn list(&self) -> MutexGuard<'_, Vec<Weak<Connection>>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|connection| {
            connection
                .upgrade()
                .is_some_and(|connection| !connection.is_closed())
        });
        open
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

/// A connection that is being opened, until this is dropped.
struct Opening<'a>(&'a AtomicUsize);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn in_time<T>(
    deadline: Instant,
    waiting: impl Future<Output = std::result::Result<T, AcquireError>>,
) -> Result<T> {
    let waited = timeout_at(deadline, waiting).await;
    waited
        .map_err(|_| waited_too_long())?
        .map_err(|_| waited_too_long())
}
