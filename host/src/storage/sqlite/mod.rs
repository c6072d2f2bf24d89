//! The driver for SQLite: one file in the data directory, durable to power loss.
//!
//! Invariants:
//! - One connection writes; write transactions take turns on it and share commits (`writer.rs`).
//! - Readers have connections of their own, which cannot write (`readers.rs`); WAL lets them see
//!   the last commit while a write goes on.
//! - References, uniqueness and cascades are the schema's (`migrations/`); `error.rs` alone says
//!   what a breach of them is called.

mod apps;
mod boards;
mod credentials;
mod error;
mod groups;
mod invites;
mod migrations;
mod query;
mod readers;
mod search_engines;
#[cfg(test)]
mod tests;
mod transaction;
mod users;
mod values;
mod writer;

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{
    Access, CallContext, DashboardStorage, DashboardTransaction, PATIENCE, Result, Storage, Transaction,
};
use readers::Readers;
use transaction::SqliteTransaction;
use writer::Writer;

/// More than there are statements: none is prepared twice on a connection.
const KEPT_STATEMENTS: usize = 160;

/// For each connection. A statement that finds a lock of another process waits at most so long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA mmap_size = 268435456;
    PRAGMA journal_size_limit = 67108864;
";

/// Storage in a file of SQLite.
pub struct SqliteStorage {
    // Before the writer, which leaves no log behind if it is the last to close.
    readers: Arc<Readers>,
    writer: Arc<Writer>,
}

impl SqliteStorage {
    /// Opens the database in this file; creates it, for its owner's eyes only, if there is none.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_inner(path).with_context(|| format!("cannot use the database {}", path.display()))
    }

    fn open_inner(path: &Path) -> anyhow::Result<Self> {
        // Absolute: SQLite takes a name that begins with `file:` for a URI.
        let path = std::path::absolute(path)?;
        create(&path)?;
        let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
        ensure!(
            !connection.is_readonly("main")?,
            "the file cannot be written: see to its permissions"
        );
        let mode: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(explain)?;
        ensure!(
            mode == "wal",
            "its file system does not do write-ahead logs: choose another data directory"
        );
        migrations::run(&mut connection).map_err(|error| match error.downcast() {
            Ok(error) => explain(error),
            Err(error) => error,
        })?;
        let readers = Arc::new(Readers::new(path));
        Ok(Self {
            readers,
            writer: Arc::new(Writer::new(connection, PATIENCE)),
        })
    }

    async fn open_transaction(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<SqliteTransaction>> {
        let transaction = match access {
            Access::Read => SqliteTransaction::read_only(self.readers.take().await?),
            Access::Write => SqliteTransaction::writing(self.writer.begin().await?, context),
        };
        Ok(Box::new(transaction))
    }
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        Ok(self.open_transaction(access, context).await?)
    }
}

#[async_trait]
impl DashboardStorage for SqliteStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        Ok(self.open_transaction(access, context).await?)
    }
}

/// Creates the file where there is none. SQLite gives its companions (`-wal`, `-shm`) the same mode.
fn create(path: &Path) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // SQLite would take it for a new database, and onboarding would be open to anyone.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            ensure!(
                std::fs::metadata(path)?.len() > 0,
                "the file is empty: restore a backup, or remove the file to begin anew"
            );
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Says what to do about a file that SQLite cannot read.
fn explain(error: rusqlite::Error) -> anyhow::Error {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "the file is not a database: restore a backup, or move it away",
        Some(ErrorCode::DatabaseCorrupt) => "the database is damaged: restore a backup",
        Some(ErrorCode::DatabaseBusy) => "another program holds the database: stop it first",
        Some(ErrorCode::ReadOnly) => "the file cannot be written: see to its permissions",
        Some(ErrorCode::CannotOpen) => "the file cannot be opened: see to the permissions of its directory",
        _ => return error.into(),
    };
    anyhow::Error::new(error).context(advice)
}
