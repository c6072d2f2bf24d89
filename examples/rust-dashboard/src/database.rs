//! The dashboard's database: SQLite with one writer and any number of readers.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Result};
use tokio::sync::OwnedMutexGuard;

/// How long a write waits for another program that writes to the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens transactions. Clones share the database.
#[derive(Clone)]
pub struct Database(Arc<Connections>);

struct Connections {
    path: PathBuf,
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens the file. Creates it, with its tables, if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let writer = Connection::open(path)?;
        writer.pragma_update(None, "journal_mode", "WAL")?;
        writer.pragma_update(None, "synchronous", "FULL")?;
        writer.pragma_update(None, "foreign_keys", true)?;
        writer.busy_timeout(PATIENCE)?;
        writer.execute_batch(include_str!("schema.sql"))?;
        Ok(Self(Arc::new(Connections {
            path: path.to_owned(),
            writer: Arc::new(tokio::sync::Mutex::new(writer)),
            readers: Mutex::default(),
        })))
    }

    /// A read transaction: it sees one state, even if others write meanwhile.
    pub fn begin_read(&self) -> Result<Open> {
        let waiting = self.readers().pop();
        let connection = match waiting {
            Some(connection) => connection,
            None => Connection::open_with_flags(&self.0.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        connection.execute_batch("BEGIN")?;
        Ok(Open::Reader(Some(connection), self.clone()))
    }

    /// A write transaction. Waits until the one before it has ended.
    pub async fn begin_write(&self) -> Result<Open> {
        let connection = self.0.writer.clone().lock_owned().await;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Open::Writer(connection))
    }

    /// Reads in a transaction.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&*self.begin_read()?)
    }

    /// Writes in a transaction: everything or nothing.
    pub async fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let transaction = self.begin_write().await?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transaction. Dropping it rolls it back.
pub enum Open {
    /// A write transaction.
    Writer(OwnedMutexGuard<Connection>),
    /// A read transaction, and the pool to which its connection returns.
    Reader(Option<Connection>, Database),
}

impl Open {
    /// Returns when everything is on the disk.
    pub fn commit(self) -> Result<()> {
        // This blocks, so the thread's other tasks move to other threads.
        tokio::task::block_in_place(|| self.execute_batch("COMMIT"))
    }
}

impl Deref for Open {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Writer(connection) => connection,
            Self::Reader(connection, _) => connection.as_ref().expect("there until it is dropped"),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let is_over = self.is_autocommit() || self.execute_batch("ROLLBACK").is_ok();
        if let Self::Reader(connection, database) = self
            && let Some(connection) = connection.take()
            && is_over
        {
            database.readers().push(connection);
        }
    }
}
