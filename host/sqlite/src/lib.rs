//! The driver for SQLite: one file in the data directory, durable to power loss.
//!
//! Invariants:
//! - One connection writes. Write transactions take the permit for it in order and share commits
//!   (`writer.rs`).
//! - Readers have connections of their own, which cannot write (`readers.rs`). In write-ahead mode they see the last
//!   commit while a write is in progress.
//! - Statements that take longer the more records there are run on a few threads of their own (`pool.rs`), and stop
//!   when their call ends (`interrupts.rs`). Look-ups by key, and writes of few records, run on the caller's thread.
//! - The schema holds references, uniqueness and cascades (`migrations/`). Only `health.rs` turns SQLite's errors into
//!   storage's errors.

mod backup;
mod batch;
mod blocking;
mod connection;
pub mod copying;
mod database;
pub mod disk;
mod files;
pub mod foreign;
mod health;
mod interrupts;
pub mod metrics;
mod migrations;
mod pool;
mod readers;
mod restore;
mod schema;
mod statements;
pub mod temporary;
#[cfg(test)]
mod tests;
mod transaction;
mod writer;

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use tokio::sync::oneshot;

use portico_sql::{Settings, SqlTransaction, Visibility};
use portico_storage::driver::WAIT_TIMEOUT;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Error, Ids, Result, Storage, Transaction,
    nice::lower_priority,
};

pub use backup::{Contents, Step, backup, belongs_to};
pub use restore::{Restored, restore};

use database::{back_up_before_migrating, create, open_file, verify};
use health::Health;
use interrupts::StatementLimits;
use pool::Pool;
use readers::{MAX_SCANS, Readers};
use transaction::{Resources, SqliteTransaction};
use writer::Writer;

/// How long closing the storage waits for statements that were told to stop.
const CLOSING: Duration = Duration::from_secs(2);

/// Storage in a file of SQLite.
pub struct SqliteStorage {
    // Before the writer, which must be the last to close.
    readers: Arc<Readers>,
    writer: Arc<Writer>,
    health: Arc<Health>,
    resources: Resources,
    settings: Settings,
}

impl SqliteStorage {
    /// Opens the database in this file. If there is none, it is created, readable only for its owner.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        // At least four, so that a short scan does not wait for a long one.
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let scans = cores.clamp(4, MAX_SCANS);
        Self::open_with(path, scans, StatementLimits::default()).with_context(|| cannot_use(path))
    }

    /// The same, with this many concurrent scans and these limits.
    fn open_with(path: &Path, scans: usize, limits: StatementLimits) -> anyhow::Result<Self> {
        // Absolute: SQLite takes a name that begins with `file:` for a URI.
        let path = std::path::absolute(path)?;
        if !path.try_exists()? {
            create(&path).map_err(add_advice)?;
        }
        // SQLite would take an empty file for a new database, and anyone could create the first user.
        ensure!(fs::metadata(&path)?.len() > 0, health::EMPTY);
        back_up_before_migrating(&path)?;
        let connection = open_file(&path)?;
        let health = Arc::new(Health::new(path));
        let readers = Arc::new(Readers::new(health.clone(), scans));
        let writer = Writer::new(connection, health.clone(), readers.clone(), WAIT_TIMEOUT);
        Ok(Self {
            readers,
            writer: Arc::new(writer),
            health,
            resources: Resources {
                // As many threads as permits: no task waits for a thread.
                scanning: Pool::new(scans, lower_priority),
                // Other writes wait for this thread, so it keeps its priority.
                writing: Pool::new(1, || ()),
                limits,
            },
            settings: Settings {
                ids: Ids::default(),
                visibility: Visibility::Stored(None),
                has_password_links: true,
            },
        })
    }

    /// Takes the ids of the records that it creates from this source.
    pub fn with_ids(self, ids: Ids) -> Self {
        let settings = Settings { ids, ..self.settings };
        Self { settings, ..self }
    }

    /// Fixes who sees which app, whatever is stored: whether callers see only the apps on boards that they may view.
    pub fn with_apps_by_board(self, by_board: bool) -> Self {
        let settings = self.settings.with_apps_by_board(by_board);
        Self { settings, ..self }
    }

    /// Reads the whole file to see whether it is damaged, which takes a tenth of a second for 100,000
    /// apps. If it is damaged, the error says what to do.
    pub async fn verify(&self) -> anyhow::Result<()> {
        let path = self.health.path().to_owned();
        let (sender, verified) = oneshot::channel();
        // Not as a blocking task of the runtime, which a stop would wait for.
        let thread = thread::Builder::new().name("portico-verify".into());
        thread.spawn(move || {
            lower_priority();
            let _ = sender.send(verify(&path).with_context(|| cannot_use(&path)));
        })?;
        verified.await.context("the check of the database ended early")?
    }

    /// Stops the statements that run on the storage's threads and refuses new ones. The host calls it when it stops,
    /// after it has given up the remaining calls. Blocks for at most two seconds.
    pub fn close(&self) {
        let began = Instant::now();
        self.resources.scanning.close(CLOSING);
        self.resources
            .writing
            .close(CLOSING.saturating_sub(began.elapsed()));
    }

    async fn open_transaction(&self, access: Access) -> Result<SqliteTransaction> {
        let resources = self.resources.clone();
        Ok(match access {
            Access::Lookup | Access::Read => {
                SqliteTransaction::reading(self.readers.take().await?, resources)
            }
            Access::Write => SqliteTransaction::writing(self.writer.clone(), resources),
        })
    }

    fn sql(
        &self,
        transaction: SqliteTransaction,
        access: Access,
        context: &CallContext,
    ) -> Box<SqlTransaction<SqliteTransaction>> {
        Box::new(SqlTransaction::new(
            transaction,
            access,
            context,
            self.settings.clone(),
        ))
    }
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        // A write transaction may never need the permit: creating apps reads nothing.
        Ok(self.sql(self.open_transaction(access).await?, access, context))
    }
}

#[async_trait]
impl DashboardStorage for SqliteStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        let mut transaction = self.open_transaction(access).await?;
        // Almost every write transaction of the dashboard side needs the permit.
        transaction.acquire_permit().await?;
        Ok(self.sql(transaction, access, context))
    }

    async fn check(&self) -> Result<()> {
        let health = self.health.clone();
        if !health.needs_trial() {
            return health.check();
        }
        // It writes a file. Not as a blocking task of the runtime, which panics if the system can start no
        // thread.
        let (sender, checked) = oneshot::channel();
        let thread = thread::Builder::new().name("portico-check".into());
        let started = thread.spawn(move || sender.send(health.check()));
        started.map_err(|error| Error::Unavailable(format!("no thread can be started: {error}")))?;
        let gone = |_| Error::Unavailable("the check was aborted".into());
        checked.await.map_err(gone)?
    }
}

/// Adds what the operator can do about it, if the disk refused a file.
fn add_advice(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().and_then(disk::advice) {
        Some(advice) => error.context(advice),
        None => error,
    }
}

fn cannot_use(path: &Path) -> String {
    format!("cannot use the database {}", path.display())
}
