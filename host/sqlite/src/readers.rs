//! The connections that read.
//!
//! A read locks SQLite's log and unlocks it at its end. These are two calls of the kernel, made under a
//! mutex that all readers of the process share. While one connection holds that lock, SQLite only counts
//! the others. So while reads follow each other closely, one connection that has finished reading stays
//! in its transaction for some milliseconds, as the *anchor*; then another takes its place. It runs no
//! statements. Without it by-id loses 7 to 12 % (docs/performance.md). Invariants:
//! - A transaction waits for a permit to look up before it begins, and for one to scan before its first
//!   scan, which it keeps instead of the other. One that has a permit to scan waits for no other.
//! - There is no anchor while a batch is open for writing ([`WriteGuard`]), and as long as the runtime runs
//!   none for long after the last read. So a checkpoint, or a restart of the log, finds at most an anchor
//!   that is just ending.

use std::mem::{replace, take};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::connection::connect;
use super::health::Health;
use super::query::run;
use portico_storage::driver::{WAIT_TIMEOUT, failed_before, waited_too_long};
use portico_storage::{Error, Result, SharedSnapshot};

/// How many transactions read at once. Reads take microseconds: more at once would not be faster.
const MAX_READERS: usize = 16;

/// How many of them may scan many records at most. The others are left to look-ups, which take
/// microseconds: each request begins with one.
pub(super) const MAX_SCANS: usize = MAX_READERS / 2;

/// How many idle connections are kept, besides the anchor. More are rarely open at once: a read occupies
/// a thread while it works, and requests keep at most half of the look-ups between their reads.
const MAX_IDLE: usize = MAX_READERS / 2;

/// Two reads follow each other closely if the second ends within this time of the first.
const CLOSE: Duration = Duration::from_millis(1);

/// When another connection replaces the anchor, whose state grows old.
const MAX_ANCHOR_AGE: Duration = Duration::from_millis(10);

/// How long the anchor stays after the last read; at most twice as long.
const LINGER: Duration = Duration::from_millis(20);

/// Connections to read with, opened when they are needed.
pub(super) struct Readers {
    health: Arc<Health>,
    look_ups: Arc<Semaphore>,
    pub(super) max_look_ups: usize,
    scans: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    /// The anchor, and since when it is one.
    anchor: Option<(Connection, Instant)>,
    /// When a read ended last.
    last_read: Option<Instant>,
    /// Whether a batch is open for writing.
    is_writing: bool,
    /// Counts the beginnings and ends of batches. A reader that began at an earlier count may see an
    /// earlier state.
    writes: u64,
    is_closed: bool,
    /// Whether a task runs that ends the anchor after the last read.
    is_watched: bool,
}

impl Idle {
    /// Takes back a connection that is still in its transaction, with the count of writes at its
    /// beginning. Answers the connection whose transaction must be ended: this one, or the old anchor if
    /// this one replaces it, or none.
    fn take_back(&mut self, connection: Connection, writes: u64) -> Option<Connection> {
        let now = Instant::now();
        let last_read = self.last_read.replace(now);
        let needs_anchor = match &self.anchor {
            Some((_, since)) => now - *since >= MAX_ANCHOR_AGE,
            None => last_read.is_some_and(|last_read| now - last_read < CLOSE),
        };
        if !needs_anchor || self.is_writing || self.writes != writes || self.is_closed {
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
    /// Readers of which this many may scan at once.
    pub fn new(health: Arc<Health>, scans: usize) -> Self {
        let max_look_ups = MAX_READERS - scans;
        Self {
            health,
            look_ups: Arc::new(Semaphore::new(max_look_ups)),
            max_look_ups,
            scans: Arc::new(Semaphore::new(scans)),
            idle: Mutex::default(),
        }
    }

    /// A reader whose transaction sees one state from its first read on: that of the request's snapshot
    /// if an earlier read has kept its transaction there, or else the newest.
    pub async fn take(self: &Arc<Self>, snapshot: &SharedSnapshot) -> Result<Reader> {
        let kept = snapshot.take::<ReadGuard>();
        let guard = match kept.filter(|guard| Arc::ptr_eq(&guard.readers, self)) {
            Some(guard) => guard,
            None => self.begin(acquire(&self.look_ups).await?)?,
        };
        Ok(Reader {
            guard: Some(guard),
            snapshot: snapshot.clone(),
            has_read: false,
        })
    }

    /// Begins a read transaction that has this permit.
    fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Result<ReadGuard> {
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
            permit,
        })
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        connect(self.health.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Takes back a connection that is still in its transaction.
    fn take_back(self: &Arc<Self>, connection: Connection, writes: u64) {
        let (ended, is_watched) = {
            let mut idle = self.lock();
            let ended = idle.take_back(connection, writes);
            let is_watched = idle.anchor.is_none() || replace(&mut idle.is_watched, true);
            (ended, is_watched)
        };
        if !is_watched {
            // Without a runtime it is dropped at once, which ends the anchor.
            let watcher = AnchorWatcher(Arc::downgrade(self));
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(watcher.run());
            }
        }
        self.end(ended);
    }

    /// Ends a connection's transaction, and keeps the connection for the next reader.
    fn end(&self, connection: Option<Connection>) {
        if let Some(connection) = connection
            && run(&connection, "ROLLBACK", []).is_ok()
        {
            let mut idle = self.lock();
            if idle.connections.len() < MAX_IDLE && !idle.is_closed {
                idle.connections.push(connection);
            }
        }
    }

    /// Closes the idle connections and the anchor. From now on a connection that is given back is closed.
    pub fn close(&self) {
        let _closed = {
            let mut idle = self.lock();
            idle.is_closed = true;
            (take(&mut idle.connections), idle.take_anchor())
        };
    }

    /// Ends the anchor; there is none until the answer is dropped. Only one connection writes, so there is
    /// one guard at a time.
    pub fn begin_write(self: &Arc<Self>) -> WriteGuard {
        let anchor = {
            let mut idle = self.lock();
            idle.is_writing = true;
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

async fn acquire(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    if let Ok(permit) = permits.clone().try_acquire_owned() {
        return Ok(permit);
    }
    timeout(WAIT_TIMEOUT, permits.clone().acquire_owned())
        .await
        .map_err(|_| waited_too_long())?
        .map_err(|_| Error::Unavailable("the storage is closed".into()))
}

/// While it exists a batch is open for writing, and there is no anchor.
pub(super) struct WriteGuard(Arc<Readers>);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        let mut idle = self.0.lock();
        idle.is_writing = false;
        idle.writes += 1;
    }
}

/// Ends the anchor when it is dropped.
struct AnchorWatcher(Weak<Readers>);

impl AnchorWatcher {
    /// Waits until no read has ended for a while.
    async fn run(self) {
        while self.is_needed() {
            sleep(LINGER).await;
        }
    }

    fn is_needed(&self) -> bool {
        let is_recent = |read: Instant| read.elapsed() < LINGER;
        let readers = self.0.upgrade();
        readers.is_some_and(|readers| {
            let idle = readers.lock();
            idle.anchor.is_some() && idle.last_read.is_some_and(is_recent)
        })
    }
}

impl Drop for AnchorWatcher {
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
    /// None once a statement has failed.
    guard: Option<ReadGuard>,
    snapshot: SharedSnapshot,
    /// Whether this transaction has read, and so must go on in the state that it has seen.
    has_read: bool,
}

impl Reader {
    /// The connection, to read with; none once a statement has failed.
    pub fn read(&mut self) -> Option<&Connection> {
        self.has_read = true;
        self.connection()
    }

    /// Waits for a permit to scan. A reader that has read nothing yet gives its connection back while it
    /// waits, which leaves it to look-ups.
    pub async fn begin_scan(&mut self) -> Result<()> {
        let guard = self.guard.as_mut().ok_or_else(failed_before)?;
        if !guard.may_scan() {
            let readers = guard.readers.clone();
            if let Ok(permit) = readers.scans.clone().try_acquire_owned() {
                guard.permit = permit;
            } else if self.has_read {
                guard.permit = acquire(&readers.scans).await?;
            } else {
                self.guard = None;
                let permit = acquire(&readers.scans).await?;
                self.guard = Some(readers.begin(permit)?);
            }
        }
        self.has_read = true;
        Ok(())
    }

    /// Takes the request's snapshot out. A reader that is dropped without it keeps nothing for later
    /// reads.
    pub fn take_snapshot(&mut self) -> SharedSnapshot {
        take(&mut self.snapshot)
    }

    pub fn restore_snapshot(&mut self, snapshot: SharedSnapshot) {
        self.snapshot = snapshot;
    }

    /// The connection; none once a statement has failed.
    pub fn connection(&self) -> Option<&Connection> {
        self.guard.as_ref()?.connection.as_ref()
    }

    /// Translates an error of the connection and closes it.
    pub fn fail(&mut self, error: &rusqlite::Error) -> Error {
        let Some(mut guard) = self.guard.take() else {
            return failed_before();
        };
        guard.connection = None;
        guard.readers.health.translate(error)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take()
            && let Some(guard) = guard.kept()
        {
            self.snapshot.keep(guard);
        }
    }
}

/// A connection in a read transaction. Dropping it gives the connection back.
pub(super) struct ReadGuard {
    /// None once it is given back or closed.
    connection: Option<Connection>,
    /// The count of writes when the transaction began.
    writes: u64,
    readers: Arc<Readers>,
    /// To look up or to scan.
    permit: OwnedSemaphorePermit,
}

impl ReadGuard {
    fn may_scan(&self) -> bool {
        Arc::ptr_eq(self.permit.semaphore(), &self.readers.scans)
    }

    /// The guard with a permit to look up, for a later read of its request. None if too few are left:
    /// requests that may never read again must leave half of them to others.
    fn kept(mut self) -> Option<Self> {
        if self.may_scan() {
            self.permit = self.readers.look_ups.clone().try_acquire_owned().ok()?;
        }
        (self.readers.look_ups.available_permits() >= self.readers.max_look_ups / 2).then_some(self)
    }
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
    use futures_util::{FutureExt, poll};
    use tempfile::TempDir;

    use super::*;
    use crate::database::{create, open_file};

    fn readers() -> (TempDir, Connection, Arc<Readers>) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let writing = open_file(&path).unwrap();
        let readers = Readers::new(Arc::new(Health::new(path)), MAX_SCANS);
        (directory, writing, Arc::new(readers))
    }

    /// Reads once; answers the number of apps.
    fn read(readers: &Arc<Readers>) -> u32 {
        let reader = readers.take(&SharedSnapshot::default()).now_or_never();
        let reader = reader.expect("connections are left").unwrap();
        let connection = reader.connection().unwrap();
        let count = connection.query_row("SELECT count(*) FROM app", [], |row| row.get(0));
        count.unwrap()
    }

    /// Reads until there is an anchor: on a busy machine two reads may be too far apart.
    fn read_until_anchored(readers: &Arc<Readers>) {
        let began = Instant::now();
        while readers.lock().anchor.is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "no anchor");
            read(readers);
        }
    }

    #[tokio::test]
    async fn reads_that_follow_closely_have_an_anchor_until_a_while_after_the_last() {
        let (_directory, _writing, readers) = readers();
        read(&readers);
        assert!(readers.lock().anchor.is_none(), "it was the first");
        read_until_anchored(&readers);
        let last_read = readers.lock().last_read.unwrap();
        while readers.lock().anchor.is_some() {
            assert!(last_read.elapsed() < Duration::from_secs(60), "it stays");
            sleep(Duration::from_millis(1)).await;
        }
        assert!(last_read.elapsed() >= LINGER, "it went at once");
        read_until_anchored(&readers);
    }

    #[tokio::test]
    async fn an_old_anchor_is_replaced_even_if_reads_are_rare() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let since = readers.lock().anchor.as_ref().map(|(_, since)| *since).unwrap();
        while since.elapsed() < MAX_ANCHOR_AGE {
            sleep(2 * CLOSE).await;
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
    async fn a_reader_that_began_before_or_during_a_write_does_not_become_the_anchor() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let before = readers.take(&SharedSnapshot::default()).await.unwrap();
        let write = readers.begin_write();
        let meanwhile = readers.take(&SharedSnapshot::default()).await.unwrap();
        drop(write);
        drop(before);
        drop(meanwhile);
        assert!(readers.lock().anchor.is_none());
    }

    #[tokio::test]
    async fn after_closing_no_connection_is_kept() {
        let (_directory, _writing, readers) = readers();
        read_until_anchored(&readers);
        let taken = readers.take(&SharedSnapshot::default()).await.unwrap();
        readers.close();
        drop(taken);
        let idle = readers.lock();
        assert!(idle.connections.is_empty() && idle.anchor.is_none());
    }

    #[tokio::test]
    async fn there_is_no_anchor_during_a_write() {
        let (_directory, writing, readers) = readers();
        read_until_anchored(&readers);
        let write = readers.begin_write();
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
        drop(write);
        assert_eq!(read(&readers), 1);
        read_until_anchored(&readers);
        assert_eq!(read(&readers), 1);
    }

    #[tokio::test]
    async fn a_scan_that_has_its_permit_waits_for_no_look_up() {
        let (_directory, _writing, readers) = readers();
        let none = SharedSnapshot::default();
        let mut scanning = Vec::new();
        for _ in 0..MAX_SCANS {
            let mut reader = readers.take(&none).await.unwrap();
            reader.begin_scan().await.unwrap();
            scanning.push(reader);
        }
        let mut next = readers.take(&none).await.unwrap();
        let mut next_scan = Box::pin(next.begin_scan());
        assert!(poll!(&mut next_scan).is_pending());
        // All others have read and wait for a scan to end, so they keep their connections.
        let mut waiting = Vec::new();
        while let Some(Ok(mut reader)) = readers.take(&none).now_or_never() {
            reader.read().unwrap();
            waiting.push(reader);
        }
        assert!(!waiting.is_empty());
        let mut scans: Vec<_> = waiting
            .iter_mut()
            .map(|reader| Box::pin(reader.begin_scan()))
            .collect();
        for scan in &mut scans {
            assert!(poll!(scan).is_pending());
        }
        scanning.pop();
        let ready = next_scan.now_or_never().expect("it waits for a look-up");
        ready.unwrap();
    }

    #[test]
    fn without_a_runtime_to_end_it_there_is_no_anchor() {
        let (_directory, _writing, readers) = readers();
        for _ in 0..100 {
            read(&readers);
            assert!(readers.lock().anchor.is_none());
        }
    }
}
