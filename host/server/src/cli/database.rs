//! The database of a service: SQLite in the data directory, or PostgreSQL; memory for `portico demo`.

use std::sync::Arc;

use anyhow::{bail, ensure};
use portico_model::time::{Clock, MonotonicClock, SystemClock};
use portico_postgres::{Limits, PostgresStorage};
use portico_server::{data_dir::DataDir, metrics::CountConnections};
use portico_sqlite::SqliteStorage;
use portico_storage::{DashboardStorage, MemoryRecords, SharedRecords, memory::MemoryStorage};
use tokio::task::spawn_blocking;
use tracing::warn;

use super::{
    settings::{Settings, Within},
    starting::patiently,
};

pub enum Database {
    Sqlite(Arc<SqliteStorage>),
    Postgres(Arc<PostgresStorage>),
    /// Nothing is stored.
    Memory(Arc<MemoryStorage>),
}

impl Database {
    /// An empty one in memory.
    pub fn in_memory() -> Self {
        Self::Memory(Arc::new(MemoryStorage::new()))
    }

    /// Refuses settings that do not name a database, before anything is created for them.
    pub fn check(settings: &Settings) -> anyhow::Result<()> {
        let url = settings.database.as_deref();
        // The error does not repeat the text, because it may contain a password.
        ensure!(
            url.is_none_or(PostgresStorage::is_url),
            "the database (--database, PORTICO_DATABASE) is not given as postgres://USER:PASSWORD@HOST/DATABASE; \
             leave it out to use SQLite in the data directory"
        );
        Ok(())
    }

    /// Opens the database that the settings name, or otherwise the file in the data directory.
    pub async fn open(settings: &Settings, data: &DataDir) -> anyhow::Result<Self> {
        let by_board = settings.apps.by_board();
        let Some(url) = &settings.database else {
            let path = data.database();
            let what = format!("the database {}: another program may hold it", path.display());
            let opening = spawn_blocking(move || SqliteStorage::open(&path));
            let storage = patiently(what, opening).await??;
            let storage = match by_board {
                Some(by_board) => storage.with_apps_by_board(by_board),
                None => storage,
            };
            return Ok(Self::Sqlite(Arc::new(storage)));
        };
        let mut limits = Limits::default();
        if let Some(Within(count)) = settings.database_connections {
            limits.connections = usize::try_from(count)?;
        }
        let storage = PostgresStorage::open_with(url, limits).await?;
        if data.database().exists() {
            warn!(
                "{} is not used: the database is {}",
                data.database().display(),
                storage.shown()
            );
        }
        let storage = match by_board {
            Some(by_board) => storage.with_apps_by_board(by_board),
            None => storage,
        };
        Ok(Self::Postgres(Arc::new(storage)))
    }

    /// Whether the database cannot be opened only because it is not there at the moment.
    pub fn is_away(error: &anyhow::Error) -> bool {
        PostgresStorage::is_away(error)
    }

    pub fn storage(&self) -> Arc<dyn DashboardStorage> {
        match self {
            Self::Sqlite(storage) => storage.clone(),
            Self::Postgres(storage) => storage.clone(),
            Self::Memory(storage) => storage.clone(),
        }
    }

    /// The records that its hosts share: in PostgreSQL, or in the memory of the only host.
    pub fn shared(&self) -> Arc<dyn SharedRecords> {
        match self {
            Self::Sqlite(_) | Self::Memory(_) => {
                Arc::new(MemoryRecords::new(Arc::new(MonotonicClock::default())))
            }
            Self::Postgres(storage) => storage.shared(),
        }
    }

    /// The time that its hosts share: that of PostgreSQL's server, or that of the machine.
    pub fn clock(&self) -> Arc<dyn Clock> {
        match self {
            Self::Sqlite(_) | Self::Memory(_) => Arc::new(SystemClock),
            Self::Postgres(storage) => storage.clock(),
        }
    }

    /// Where it is, without a password.
    pub fn shown(&self, data: &DataDir) -> String {
        match self {
            Self::Sqlite(_) => data.path().display().to_string(),
            Self::Postgres(storage) => storage.shown().to_owned(),
            Self::Memory(_) => "memory".into(),
        }
    }

    /// Counts the connections of its pool that are idle, and those in use. Only PostgreSQL has one.
    pub fn pool(&self) -> Option<CountConnections> {
        match self {
            Self::Sqlite(_) | Self::Memory(_) => None,
            Self::Postgres(storage) => {
                let storage = storage.clone();
                Some(Box::new(move || storage.connections()))
            }
        }
    }

    /// Checks whether it is damaged. A PostgreSQL server does that by itself.
    pub async fn verify(&self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(storage) => storage.verify().await,
            Self::Postgres(_) | Self::Memory(_) => Ok(()),
        }
    }

    /// Stops what still runs for calls that were given up. Those on PostgreSQL have already cancelled their statements.
    pub fn close(&self) {
        if let Self::Sqlite(storage) = self {
            storage.close();
        }
    }
}

/// Refuses a command that works on SQLite's file if the database is in PostgreSQL; `instead` says what to do.
pub fn require_file(url: Option<&str>, instead: &str) -> anyhow::Result<()> {
    match url {
        None => Ok(()),
        Some(_) => bail!("the database is PostgreSQL's (--database, PORTICO_DATABASE): {instead}"),
    }
}
