//! The connections that read.
//!
//! A read locks SQLite's log, and unlocks it at its end: two calls of the kernel, made under a mutex
//! for which all readers of the process wait. Where another connection holds the same lock, SQLite
//! only counts. So while reads come soon after each other, one connection that has read stays in its
//! transaction, as the *anchor*: some milliseconds, then another. Nobody reads with it. Invariants:
//! - There is no anchor while somebody writes ([`Way`]), nor, as long as the runtime runs, once nobody
//!   has read for a while: whoever moves the log into the database, or begins it anew, finds what there
//!   would be without anchors, or one that is just ending.

use std::mem::{replace, take};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::connect;
use super::health::Health;
use super::query::run;
use portico_storage::driver::{PATIENCE, failed_before, waited_too_long};
use portico_storage::{Error, Result, SharedSnapshot};

/// Reads take microseconds: more at once would not make them faster.
pub(super) const MAX_READERS: usize = 16;

/// So many of them go through many records at once. The rest is for look-ups, which take microseconds:
/// each request begins with one.
const MAX_SCANS: usize = MAX_READERS / 2;

/// So many are kept for the next, beside the anchor. More at once are rare: reads hold a thread while
/// they work, and what requests keep between their reads leaves half of them to others.
const KEPT_READERS: usize = MAX_READERS / 2;

/// Reads come soon after each other when the next ends within so long.
const SOON: Duration = Duration::from_millis(1);

/// How long a connection is the anchor before another takes its place: what it sees grows old.
const ANCHORED: Duration = Duration::from_millis(10);

/// How long there is an anchor when nobody reads any more, and at most twice as long.
const LINGER: Duration = Duration::from_millis(20);

/// Connections to read with, opened when they are needed.
pub(super) struct Readers {
    health: Arc<Health>,
    permits: Arc<Semaphore>,
    scans: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    /// The anchor, and since when.
    anchor: Option<(Connection, Instant)>,
    /// When a read ended last.
    last: Option<Instant>,
    somebody_writes: bool,
    /// How often somebody has begun or ended to write: who began to read before sees what was before.
    writes: u64,
    is_closed: bool,
    /// Whether somebody sees to it that the anchor does not stay.
    is_watched: bool,
}

impl Idle {
    /// Takes a connection back that is in its transaction still, with the count of writes when that
    /// began. Answers the one whose transaction is to be ended: itself, unless it becomes the anchor.
    fn take_back(&mut self, connection: Connection, writes: u64) -> Option<Connection> {
        let now = Instant::now();
        let last = self.last.replace(now);
        let is_wanted = match &self.anchor {
            Some((_, since)) => now - *since >= ANCHORED,
            None => last.is_some_and(|last| now - last < SOON),
        };
        if !is_wanted || self.somebody_writes || self.writes != writes || self.is_closed {
            return Some(connection);
        }
        let old = self.anchor.replace((connection, now));
        old.map(|(connection, _)| connection)
    }

    fn take_anchor(&mut self) -> Option<Connection> {
        self.anchor.take().map(|(connection, _)| connection)
    }
}

impl Readers {
    pub fn new(health: Arc<Health>) -> Self {
        Self {
            health,
            permits: Arc::new(Semaphore::new(MAX_READERS)),
            scans: Arc::new(Semaphore::new(MAX_SCANS)),
            idle: Mutex::default(),
        }
    }

    /// A connection in a transaction that sees one state from its first read on: its own, or that in
    /// which the request has read before.
    pub async fn take(self: &Arc<Self>, snapshot: &SharedSnapshot) -> Result<Reader> {
        let kept = snapshot.take::<ReadGuard>();
        let loan = match kept.filter(|loan| Arc::ptr_eq(&loan.readers, self)) {
            Some(loan) => loan,
            None => self.begin().await?,
        };
        Ok(Reader {
            loan: Some(loan),
            snapshot: snapshot.clone(),
            has_read: false,
            scan: None,
        })
    }

    async fn begin(self: &Arc<Self>) -> Result<ReadGuard> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => wait_for(&self.permits).await?,
        };
        let (idle, writes) = {
            let mut idle = self.lock();
            (idle.connections.pop(), idle.writes)
        };
        let connection = idle.map_or_else(|| self.open(), Ok);
        let begun = connection.and_then(|connection| {
            run(&connection, "BEGIN", [])?;
            Ok(connection)
        });
        let connection = begun.map_err(|error| self.health.translate(&error))?;
        Ok(ReadGuard {
            connection: Some(connection),
            writes,
            readers: self.clone(),
            _permit: permit,
        })
    }

    /// One more connection.
    fn open(&self) -> rusqlite::Result<Connection> {
        connect(self.health.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Takes a connection back that is in its transaction still.
    fn take_back(self: &Arc<Self>, connection: Connection, writes: u64) {
        let (ended, is_watched) = {
            let mut idle = self.lock();
            let ended = idle.take_back(connection, writes);
            let is_watched = idle.anchor.is_none() || replace(&mut idle.is_watched, true);
            (ended, is_watched)
        };
        if !is_watched {
            let watch = Watch(Arc::downgrade(self));
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(watch.until_nobody_reads());
            }
        }
        self.end(ended);
    }

    /// Ends a connection's transaction, and keeps it for the next.
    fn end(&self, connection: Option<Connection>) {
        if let Some(connection) = connection
            && run(&connection, "ROLLBACK", []).is_ok()
        {
            let mut idle = self.lock();
            if idle.connections.len() < KEPT_READERS && !idle.is_closed {
                idle.connections.push(connection);
            }
        }
    }

    /// Closes what nobody reads with, and keeps nothing any more.
    pub fn close(&self) {
        let _closed = {
            let mut idle = self.lock();
            idle.is_closed = true;
            (take(&mut idle.connections), idle.take_anchor())
        };
    }

    /// From here on, until the answer is dropped, somebody writes: the one who can.
    pub fn make_way(self: &Arc<Self>) -> WriteGuard {
        let anchor = {
            let mut idle = self.lock();
            idle.somebody_writes = true;
            idle.writes += 1;
            idle.take_anchor()
        };
        self.end(anchor);
        WriteGuard(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn wait_for(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    timeout(PATIENCE, permits.clone().acquire_owned())
        .await
        .map_err(|_| waited_too_long())?
        .map_err(|_| Error::Unavailable("the storage is closed".into()))
}

/// For the one who writes: no anchor is in their way.
pub(super) struct WriteGuard(Arc<Readers>);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        let mut idle = self.0.lock();
        idle.somebody_writes = false;
        idle.writes += 1;
    }
}

/// Ends the anchor when nobody has read for a while; at once when it is dropped.
struct Watch(Weak<Readers>);

impl Watch {
    async fn until_nobody_reads(self) {
        while self.is_read() {
            sleep(LINGER).await;
        }
    }

    fn is_read(&self) -> bool {
        let is_recent = |last: Instant| last.elapsed() < LINGER;
        let readers = self.0.upgrade();
        readers.is_some_and(|readers| {
            let idle = readers.lock();
            idle.anchor.is_some() && idle.last.is_some_and(is_recent)
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(readers) = self.0.upgrade() {
            let anchor = {
                let mut idle = readers.lock();
                idle.is_watched = false;
                idle.take_anchor()
            };
            readers.end(anchor);
        }
    }
}

/// What one transaction reads with.
pub(super) struct Reader {
    /// None once it has failed.
    loan: Option<ReadGuard>,
    snapshot: SharedSnapshot,
    /// Whether this transaction has read with it, and so needs the state that it sees.
    has_read: bool,
    /// Its place among those that go through many records.
    scan: Option<OwnedSemaphorePermit>,
}

impl Reader {
    /// The connection, for a statement of this transaction.
    pub fn read(&mut self) -> Option<&Connection> {
        self.has_read = true;
        self.connection()
    }

    /// Waits for a place among those that go through many records. A reader that has read nothing yet
    /// gives its connection back while it waits, so that look-ups find one.
    pub async fn begin_scan(&mut self) -> Result<()> {
        let readers = match &self.loan {
            Some(_) if self.scan.is_some() => return Ok(()),
            Some(loan) => loan.readers.clone(),
            None => return Err(failed_before()),
        };
        let permit = match readers.scans.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                if !self.has_read {
                    self.loan = None;
                }
                let permit = wait_for(&readers.scans).await?;
                if self.loan.is_none() {
                    self.loan = Some(readers.begin().await?);
                }
                permit
            }
        };
        self.scan = Some(permit);
        self.has_read = true;
        Ok(())
    }

    /// Takes the request's snapshot out of it: what is dropped without one is kept for no later read.
    pub fn leave_snapshot(&mut self) -> SharedSnapshot {
        take(&mut self.snapshot)
    }

    /// Puts the request's snapshot back.
    pub fn rejoin(&mut self, snapshot: SharedSnapshot) {
        self.snapshot = snapshot;
    }

    /// None once it has failed.
    pub fn connection(&self) -> Option<&Connection> {
        self.loan.as_ref()?.connection.as_ref()
    }

    /// Closes a connection that failed, and says what it means: the next reader opens another.
    pub fn fail(&mut self, error: &rusqlite::Error) -> Error {
        let Some(mut loan) = self.loan.take() else {
            return failed_before();
        };
        loan.connection = None;
        loan.readers.health.translate(error)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Those who begin must not all have to wait for those who may not even read again.
        if let Some(loan) = self.loan.take()
            && loan.readers.permits.available_permits() >= MAX_READERS / 2
        {
            self.snapshot.keep(loan);
        }
    }
}

/// A connection on loan, in a transaction.
pub(super) struct ReadGuard {
    /// None when it is given back, or closed.
    connection: Option<Connection>,
    /// The count of writes when it began.
    writes: u64,
    readers: Arc<Readers>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers.take_back(connection, self.writes);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tempfile::TempDir;

    use super::*;
    use crate::{create, open_file};

    fn readers() -> (TempDir, Connection, Arc<Readers>) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let writing = open_file(&path).unwrap();
        let readers = Readers::new(Arc::new(Health::new(path)));
        (directory, writing, Arc::new(readers))
    }

    /// Reads once; says how many apps there are.
    fn read(readers: &Arc<Readers>) -> u32 {
        let reader = readers.take(&SharedSnapshot::default()).now_or_never();
        let reader = reader.expect("connections are left").unwrap();
        let connection = reader.connection().unwrap();
        let count = connection.query_row("SELECT count(*) FROM app", [], |row| row.get(0));
        count.unwrap()
    }

    /// Reads until there is an anchor: on a busy machine the next may not come soon enough.
    fn read_until_anchored(readers: &Arc<Readers>) {
        let began = Instant::now();
        while readers.lock().anchor.is_none() {
            assert!(began.elapsed() < Duration::from_secs(10), "no anchor");
            read(readers);
        }
    }

    #[tokio::test]
    async fn reads_that_come_soon_have_an_anchor_until_nobody_reads() {
        let (_directory, _writing, readers) = readers();
        read(&readers);
        assert!(readers.lock().anchor.is_none(), "it was the first");
        read_until_anchored(&readers);
        let last = readers.lock().last.unwrap();
        while readers.lock().anchor.is_some() {
            assert!(last.elapsed() < Duration::from_secs(10), "it stays");
            sleep(Duration::from_millis(1)).await;
        }
        assert!(last.elapsed() >= LINGER, "it went at once");
        read_until_anchored(&readers);
    }

    #[tokio::test]
    async fn no_connection_is_the_anchor_for_long_however_seldom_others_read() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let since = readers.lock().anchor.as_ref().map(|(_, since)| *since).unwrap();
        while since.elapsed() < ANCHORED {
            sleep(2 * SOON).await;
        }
        read(&readers);
        assert!(
            readers
                .lock()
                .anchor
                .as_ref()
                .is_none_or(|(_, newer)| *newer > since)
        );
    }

    #[tokio::test]
    async fn what_may_see_the_state_before_a_write_is_no_anchor() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let before = readers.take(&SharedSnapshot::default()).await.unwrap();
        let way = readers.make_way();
        let meanwhile = readers.take(&SharedSnapshot::default()).await.unwrap();
        drop(way);
        drop(before);
        drop(meanwhile);
        assert!(readers.lock().anchor.is_none());
    }

    #[tokio::test]
    async fn what_is_closed_keeps_no_connection() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let taken = readers.take(&SharedSnapshot::default()).await.unwrap();
        readers.close();
        drop(taken);
        let idle = readers.lock();
        assert!(idle.connections.is_empty() && idle.anchor.is_none());
    }

    #[tokio::test]
    async fn while_somebody_writes_there_is_no_anchor() {
        let (_directory, writing, readers) = readers();
        read_until_anchored(&readers);
        let way = readers.make_way();
        for _ in 0..100 {
            read(&readers);
            assert!(readers.lock().anchor.is_none());
        }
        run(
            &writing,
            "INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'a', 'a', 'a')",
            [],
        )
        .unwrap();
        drop(way);
        assert_eq!(read(&readers), 1);
        read_until_anchored(&readers);
        assert_eq!(read(&readers), 1);
    }

    #[test]
    fn where_nothing_would_end_it_there_is_no_anchor() {
        let (_directory, _writing, readers) = readers();
        for _ in 0..100 {
            read(&readers);
            assert!(readers.lock().anchor.is_none());
        }
    }
}
