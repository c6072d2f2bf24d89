//! The connections that read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connect;
use super::health::Health;
use super::query::run;
use crate::storage::{Error, PATIENCE, Result, SharedSnapshot, failed_before, waited_too_long};

/// Reads take microseconds: more at once would not make them faster.
pub(super) const MAX_READERS: usize = 16;

/// So many are kept for the next. More at once are rare: reads hold a thread while they work, and what
/// requests keep between their reads leaves half of them to others.
const KEPT_READERS: usize = MAX_READERS / 2;

/// Connections to read with, opened when they are needed.
pub(super) struct Readers {
    health: Arc<Health>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub fn new(health: Arc<Health>) -> Self {
        Self {
            health,
            permits: Arc::new(Semaphore::new(MAX_READERS)),
            idle: Mutex::default(),
        }
    }

    /// A connection in a transaction that sees one state from its first read on: its own, or that in
    /// which the request has read before.
    pub async fn take(self: &Arc<Self>, snapshot: &SharedSnapshot) -> Result<Reader> {
        let kept = snapshot.take::<Loan>();
        let loan = match kept.filter(|loan| Arc::ptr_eq(&loan.readers, self)) {
            Some(loan) => loan,
            None => self.begin().await?,
        };
        Ok(Reader {
            loan: Some(loan),
            snapshot: snapshot.clone(),
        })
    }

    async fn begin(self: &Arc<Self>) -> Result<Loan> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => timeout(PATIENCE, self.permits.clone().acquire_owned())
                .await
                .map_err(|_| waited_too_long())?
                .map_err(|_| Error::Unavailable("the storage is closed".into()))?,
        };
        let idle = self.lock().pop();
        let connection = idle.map_or_else(|| self.open(), Ok);
        let begun = connection.and_then(|connection| {
            run(&connection, "BEGIN", [])?;
            Ok(connection)
        });
        let connection = begun.map_err(|error| self.health.translate(&error))?;
        Ok(Loan {
            connection: Some(connection),
            readers: self.clone(),
            _permit: permit,
        })
    }

    /// One more connection.
    fn open(&self) -> rusqlite::Result<Connection> {
        connect(self.health.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one transaction reads with.
pub(super) struct Reader {
    /// None once it has failed.
    loan: Option<Loan>,
    snapshot: SharedSnapshot,
}

impl Reader {
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
struct Loan {
    /// None when it is given back, or closed.
    connection: Option<Connection>,
    readers: Arc<Readers>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && run(&connection, "ROLLBACK", []).is_ok()
        {
            let mut idle = self.readers.lock();
            if idle.len() < KEPT_READERS {
                idle.push(connection);
            }
        }
    }
}
