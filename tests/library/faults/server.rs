//! The service in this process, over storage that fails when told to and whose content a test can compare.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portico_postgres::PostgresStorage;
use portico_sandbox::Limits;
use portico_sqlite::SqliteStorage;
use portico_storage::DashboardStorage;
use portico_storage::copying::{TABLES, Table};
use portico_storage::memory::{self, MemoryStorage};
use portico_tests::postgresql::Postgresql;
use portico_tests::{Anonymous, Listening, TestClock, TestService, wait_until};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::storage::FaultyStorage;

/// The drivers.
pub enum Driver {
    Memory,
    Sqlite,
    Postgresql(Postgresql),
}

impl Driver {
    /// On the server of the run.
    pub fn postgresql() -> Self {
        Self::Postgresql(Postgresql::shared())
    }
}

/// A store whose content can be compared.
pub enum Store {
    Memory(Arc<MemoryStorage>),
    Sqlite {
        storage: Arc<SqliteStorage>,
        /// Looks from outside.
        observer: Connection,
        _folder: TempDir,
    },
    Postgresql {
        storage: Arc<PostgresStorage>,
        /// Looks from outside.
        observer: tokio_postgres::Client,
        runtime: Runtime,
    },
}

/// All that a store holds, byte for byte.
#[derive(PartialEq)]
pub enum Content {
    Memory(memory::Snapshot),
    /// How many commits there were (of any connection but the observer's), and every row.
    Sqlite(i64, Vec<String>),
    /// Every row, by table. PostgreSQL does not count the commits of one database immediately.
    Postgresql(Vec<Option<String>>),
}

impl Store {
    /// A store with nothing in it.
    pub fn new(driver: &Driver) -> Self {
        match driver {
            Driver::Memory => Self::Memory(Arc::new(MemoryStorage::new())),
            Driver::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let path: PathBuf = folder.path().join("portico.db");
                Self::Sqlite {
                    storage: Arc::new(SqliteStorage::open(&path).unwrap()),
                    observer: Connection::open(&path).unwrap(),
                    _folder: folder,
                }
            }
            Driver::Postgresql(server) => {
                static DATABASES: AtomicUsize = AtomicUsize::new(0);
                let name = format!("store_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
                let (url, runtime) = (server.create_database(&name), Runtime::new().unwrap());
                let storage = runtime.block_on(PostgresStorage::open(&url)).unwrap();
                let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
                let (observer, connection) = runtime.block_on(connecting).unwrap();
                runtime.spawn(connection);
                Self::Postgresql {
                    storage: Arc::new(storage),
                    observer,
                    runtime,
                }
            }
        }
    }

    pub fn storage(&self) -> Arc<dyn DashboardStorage> {
        match self {
            Self::Memory(storage) => storage.clone(),
            Self::Sqlite { storage, .. } => storage.clone(),
            Self::Postgresql { storage, .. } => storage.clone(),
        }
    }

    pub fn content(&self) -> Content {
        match self {
            Self::Memory(storage) => Content::Memory(storage.snapshot()),
            Self::Sqlite { observer, .. } => {
                let commits = observer
                    .query_row("PRAGMA data_version", [], |row| row.get(0))
                    .unwrap();
                Content::Sqlite(commits, rows_of_file(observer))
            }
            Self::Postgresql {
                observer, runtime, ..
            } => {
                let rows = runtime
                    .block_on(observer.query(&rows_of_database(), &[]))
                    .unwrap();
                Content::Postgresql(rows.iter().map(|row| row.get(0)).collect())
            }
        }
    }
}

/// Reads the rows of each table as one text: this happens thousands of times.
fn rows_of_database() -> String {
    let table = |table: &Table| {
        let name = table.name;
        format!("SELECT '{name}' || string_agg(one::text, ' ' ORDER BY one::text) FROM \"{name}\" AS one")
    };
    let tables: Vec<_> = TABLES.iter().map(table).collect();
    tables.join(" UNION ALL ")
}

/// Every row of every table.
fn rows_of_file(database: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut tables = database.prepare(sql).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let mut rows = Vec::new();
    for table in tables.map(Result::<String, _>::unwrap) {
        // SQLite writes the texts: it is optimised in every build, and this happens thousands of times.
        let columns = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let values: Vec<_> = columns
            .column_names()
            .map(|column| format!("quote(\"{column}\")"))
            .collect();
        let sql = format!(
            "SELECT '{table} ' || {} FROM \"{table}\"",
            values.join(" || ' ' || ")
        );
        let mut all = database.prepare(&sql).unwrap();
        let texts = all.query_map([], |row| row.get(0)).unwrap();
        rows.extend(texts.map(Result::<String, _>::unwrap));
    }
    rows
}

/// The service, and what is behind it.
pub struct Server {
    pub storage: Arc<FaultyStorage>,
    pub client: Anonymous,
    _runtime: Runtime,
}

impl Server {
    pub fn start(store: &Store) -> Self {
        let storage = Arc::new(FaultyStorage::over(store.storage()));
        let service = TestService::over(storage.clone())
            // A clock that stands: otherwise the use of a session would be noted after a minute, in the
            // background and in the middle of what is tested.
            .clock(TestClock::stopped_now())
            // No other transaction collides here: waiting before another try would only take time.
            .limits(Limits {
                retry_wait: Duration::ZERO,
                ..Limits::default()
            })
            .audit_when_read()
            .call_time(Duration::from_secs(30));
        let Listening { client, runtime, .. } = service.listen();
        Self {
            storage,
            client,
            _runtime: runtime,
        }
    }

    /// Waits until no transaction is open: the answer may be there a moment earlier.
    pub fn assert_nothing_open(&self, what: &str) {
        wait_until(&format!("{what}: the end of every transaction"), || {
            self.storage.open_transactions() == 0
        });
    }
}
