//! The connections that read.
//!
//! Invariant: a transaction waits for a permit to look up before it begins. Before its first scan it waits for a permit
//! to scan, which replaces the first. A transaction with a permit to scan waits for no other permit.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connection::connect;
use super::health::Health;
use super::metrics;
use super::statements::run;
use portico_storage::driver::{WAIT_TIMEOUT, failed_before, waited_too_long};
use portico_storage::{Error, Result};

/// How many transactions read at the same time. Reads take microseconds: more would not be faster.
const MAX_READERS: usize = 16;

/// At most this many of them may scan many records. The others are left to look-ups, which take microseconds: each
/// request begins with one.
pub(super) const MAX_SCANS: usize = MAX_READERS / 2;

/// How many idle connections stay open. More are rarely in use at the same time: a read occupies a thread while it
/// works.
const MAX_IDLE: usize = MAX_READERS / 2;

/// Connections to read with, opened when they are needed.
pub(super) struct Readers {
    health: Arc<Health>,
    look_ups: Arc<Semaphore>,
    scans: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    is_closed: bool,
}

impl Readers {
    /// Readers, of which this many may scan at the same time.
    pub fn new(health: Arc<Health>, scans: usize) -> Self {
        Self {
            health,
            look_ups: Arc::new(Semaphore::new(MAX_READERS - scans)),
            scans: Arc::new(Semaphore::new(scans)),
            idle: Mutex::default(),
        }
    }

    /// A reader whose transaction sees one state from its first read on: the newest.
    pub async fn take(self: &Arc<Self>) -> Result<Reader> {
        let guard = self.begin(acquire(&self.look_ups).await?)?;
        Ok(Reader {
            guard: Some(guard),
            has_read: false,
        })
    }

    /// Begins a read transaction that has this permit.
    fn begin(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Result<ReadGuard> {
        let idle = self.lock().connections.pop();
        let connection = idle.map_or_else(|| self.open(), Ok);
        let begun = connection.and_then(|connection| {
            run(&connection, "BEGIN", [])?;
            Ok(connection)
        });
        let connection = begun.map_err(|error| self.health.translate(&error))?;
        Ok(ReadGuard {
            connection: Some(connection),
            readers: self.clone(),
            permit,
        })
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        connect(self.health.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Ends a connection's transaction, and leaves the connection to the next reader.
    fn take_back(&self, connection: Connection) {
        if run(&connection, "ROLLBACK", []).is_ok() {
            let mut idle = self.lock();
            if idle.connections.len() < MAX_IDLE && !idle.is_closed {
                idle.connections.push(connection);
            }
        }
    }

    /// Closes the idle connections. From now on a connection that is given back is closed.
    pub fn close(&self) {
        let _closed = {
            let mut idle = self.lock();
            idle.is_closed = true;
            take(&mut idle.connections)
        };
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn acquire(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    if let Ok(permit) = permits.clone().try_acquire_owned() {
        return Ok(permit);
    }
    let started = Instant::now();
    let waited = timeout(WAIT_TIMEOUT, permits.clone().acquire_owned()).await;
    let permit = waited.map_err(|_| {
        metrics::READING.refused.increment();
        waited_too_long()
    })?;
    metrics::READING.time.observe(started.elapsed());
    permit.map_err(|_| Error::Unavailable("the storage is closed".into()))
}

/// What one transaction reads with.
pub(super) struct Reader {
    /// `None` once a statement has failed.
    guard: Option<ReadGuard>,
    /// Whether this transaction has read, and so must continue in the state that it has seen.
    has_read: bool,
}

impl Reader {
    /// The connection, to read with; `None` once a statement has failed.
    pub fn read(&mut self) -> Option<&Connection> {
        self.has_read = true;
        self.connection()
    }

    /// Waits for a permit to scan. While it waits, a reader that has read nothing yet gives its connection back, which
    /// leaves it to look-ups.
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

    /// The connection; `None` once a statement has failed.
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

/// A connection in a read transaction. Dropping it gives the connection back.
struct ReadGuard {
    /// `None` once it is given back or closed.
    connection: Option<Connection>,
    readers: Arc<Readers>,
    /// To look up or to scan.
    permit: OwnedSemaphorePermit,
}

impl ReadGuard {
    fn may_scan(&self) -> bool {
        Arc::ptr_eq(self.permit.semaphore(), &self.readers.scans)
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers.take_back(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, poll};
    use tempfile::TempDir;

    use super::*;
    use crate::database::create;

    fn readers() -> (TempDir, Arc<Readers>) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("portico.db");
        create(&path).unwrap();
        let readers = Readers::new(Arc::new(Health::new(path)), MAX_SCANS);
        (directory, Arc::new(readers))
    }

    #[tokio::test]
    async fn after_closing_no_connection_is_kept() {
        let (_directory, readers) = readers();
        drop(readers.take().await.unwrap());
        assert_eq!(readers.lock().connections.len(), 1);
        let taken = readers.take().await.unwrap();
        readers.close();
        drop(taken);
        assert!(readers.lock().connections.is_empty());
    }

    #[tokio::test]
    async fn a_scan_that_has_its_permit_waits_for_no_look_up() {
        let (_directory, readers) = readers();
        let mut scanning = Vec::new();
        for _ in 0..MAX_SCANS {
            let mut reader = readers.take().await.unwrap();
            reader.begin_scan().await.unwrap();
            scanning.push(reader);
        }
        let mut next = readers.take().await.unwrap();
        let mut next_scan = Box::pin(next.begin_scan());
        assert!(poll!(&mut next_scan).is_pending());
        // All others have read and wait for a scan to end, so they keep their connections.
        let mut waiting = Vec::new();
        while let Some(Ok(mut reader)) = readers.take().now_or_never() {
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
}
