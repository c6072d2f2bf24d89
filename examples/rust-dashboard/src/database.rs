//! The dashboard's database: SQLite with one writer, and a reader for each concurrent read.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Result};
use tokio::sync::OwnedMutexGuard;

/// How long a write waits for another process that has locked the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens transactions. Clones are the same database.
#[derive(Clone)]
pub struct Database(Arc<Connections>);

struct Connections {
    path: PathBuf,
    writer: Arc<tokio::sync::Mutex<Connection>>,
    /// Idle readers.
    readers: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens the file; creates it, with its tables, if it does not exist.
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

    /// A transaction that reads one state of the database, whatever others write meanwhile.
    pub fn begin_read(&self) -> Result<Open> {
        let idle = self.readers().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => Connection::open_with_flags(&self.0.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        connection.execute_batch("BEGIN")?;
        Ok(Open::Reader(Some(connection), self.clone()))
    }

    /// A transaction that writes. Waits until the previous one has ended.
    pub async fn begin_write(&self) -> Result<Open> {
        let connection = self.0.writer.clone().lock_owned().await;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Open::Writer(connection))
    }

    /// Reads in a transaction.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&*self.begin_read()?)
    }

    /// Writes in a transaction: all of it or nothing.
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

/// A transaction; rolled back when it is dropped.
pub enum Open {
    /// It writes.
    Writer(OwnedMutexGuard<Connection>),
    /// It reads; its connection returns to the database afterwards.
    Reader(Option<Connection>, Database),
}

impl Open {
    /// Returns when everything that was written is on disk.
    pub fn commit(self) -> Result<()> {
        // It takes a while, so the runtime moves the thread's other tasks.
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
