//! The driver for SQLite: one file in the data directory, durable to power loss.
//!
//! Invariants:
//! - One connection writes; write transactions take turns on it and share commits (`writer.rs`).
//! - Readers have connections of their own, which cannot write (`readers.rs`); WAL lets them see
//!   the last commit while a write goes on.
//! - What takes longer the more there is runs on a few threads of its own (`pool.rs`), and ends when its
//!   call does (`interrupts.rs`). Look-ups by key, and writes of few records, run where they are asked for.
//! - References, uniqueness and cascades are the schema's (`migrations/`); `health.rs` alone
//!   says what a breach of them is called.

mod apps;
mod audit;
mod backup;
mod batch;
mod blocking;
mod boards;
mod credentials;
pub mod disk;
mod groups;
mod health;
mod interrupts;
mod invites;
mod migrations;
mod pool;
mod query;
mod readers;
mod restore;
mod schema;
mod search_engines;
pub mod temporary;
#[cfg(test)]
mod tests;
mod transaction;
mod users;
mod values;
mod writer;

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use async_trait::async_trait;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tracing::{debug, warn};

use portico_storage::priority;

pub use backup::{Contents, Step, backup, belongs_to};
use health::{Health, explain};
use portico_storage::driver::PATIENCE;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Error, Ids, Result, Storage, Transaction,
};
pub use restore::{Restored, restore};

use pool::Pool;
use readers::Readers;
use transaction::SqliteTransaction;
use writer::Writer;

/// More than there are statements: none is prepared twice on a connection.
const KEPT_STATEMENTS: usize = 200;

/// For each connection. A statement that finds a lock of another process waits at most so long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest that a statement takes. Calls end before, as a rule, and their statements with them.
const LONGEST_STATEMENT: Duration = Duration::from_secs(30);

/// How long one who closes the storage waits for statements that were told to end.
const CLOSING: Duration = Duration::from_secs(2);

/// No map of the file into memory: every commit would have all readers map it anew, which costs more
/// than reading the few pages that they need.
const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA journal_size_limit = 67108864;
";

/// Storage in a file of SQLite.
pub struct SqliteStorage {
    // Before the writer, which is the last to close.
    readers: Arc<Readers>,
    writer: Arc<Writer>,
    pool: Arc<Pool>,
    health: Arc<Health>,
    ids: Ids,
}

impl SqliteStorage {
    /// Opens the database in this file; creates it, for its owner's eyes only, if there is none.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_inner(path).with_context(|| cannot_use(path))
    }

    fn open_inner(path: &Path) -> anyhow::Result<Self> {
        // Absolute: SQLite takes a name that begins with `file:` for a URI.
        let path = std::path::absolute(path)?;
        if !path.try_exists()? {
            create(&path).map_err(explain_io)?;
        }
        // SQLite would take it for a new database, and onboarding would be open to anyone.
        ensure!(std::fs::metadata(&path)?.len() > 0, health::EMPTY);
        let connection = open_file(&path)?;
        let health = Arc::new(Health::new(path));
        let readers = Arc::new(Readers::new(health.clone()));
        Ok(Self {
            writer: Arc::new(Writer::new(connection, health.clone(), readers.clone(), PATIENCE)),
            readers,
            // Few enough to leave processors to requests; more than one, for a short one beside a long one.
            pool: Pool::new(
                thread::available_parallelism().map_or(4, |cores| cores.get().max(4)),
                LONGEST_STATEMENT,
            ),
            health,
            ids: Ids::default(),
        })
    }

    /// The same, with ids from there.
    pub fn with_ids(self, ids: Ids) -> Self {
        Self { ids, ..self }
    }

    /// Reads the whole file to see whether it is damaged: a tenth of a second for 100,000
    /// apps. If it is, the error says what to do.
    pub async fn verify(&self) -> anyhow::Result<()> {
        let path = self.health.path().to_owned();
        let (sender, verified) = oneshot::channel();
        // On a thread that nobody has to wait for: whoever stops does not want to know any more.
        let thread = thread::Builder::new().name("portico-verify".into());
        thread.spawn(move || {
            priority::give_way();
            let _ = sender.send(verify(&path).with_context(|| cannot_use(&path)));
        })?;
        verified.await.context("the check of the database ended early")?
    }

    /// Ends the statements that run on its threads, and refuses more. For who stops the host: calls that
    /// were given up are not waited for. Blocks for a moment.
    pub fn close(&self) {
        self.pool.close(CLOSING);
    }

    async fn read(&self, context: &CallContext) -> Result<Box<SqliteTransaction>> {
        let reader = self.readers.take(&context.snapshot).await?;
        let (pool, ids) = (self.pool.clone(), self.ids.clone());
        Ok(Box::new(SqliteTransaction::reading(reader, pool, ids)))
    }
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        match access {
            Access::Read => Ok(self.read(context).await?),
            // It may turn out to need no turn: creating apps is nothing but writing.
            Access::Write => {
                context.snapshot.let_go();
                let (writer, pool, ids) = (self.writer.clone(), self.pool.clone(), self.ids.clone());
                Ok(Box::new(SqliteTransaction::blind(writer, context, pool, ids)))
            }
        }
    }
}

#[async_trait]
impl DashboardStorage for SqliteStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        match access {
            Access::Read => Ok(self.read(context).await?),
            Access::Write => {
                context.snapshot.let_go();
                let turn = self.writer.begin().await?;
                Ok(Box::new(SqliteTransaction::writing(
                    turn,
                    context,
                    self.pool.clone(),
                    self.ids.clone(),
                )))
            }
        }
    }

    async fn check(&self) -> Result<()> {
        let health = self.health.clone();
        let checked = spawn_blocking(move || health.check()).await;
        checked.unwrap_or_else(|error| Err(Error::Unavailable(error.to_string())))
    }
}

/// Makes a new database under another name, and gives it its own when it is whole: whatever
/// interrupts this, the next start begins it anew.
fn create(path: &Path) -> anyhow::Result<()> {
    let log = with_suffix(path, "-wal");
    ensure!(!log.try_exists()?, health::GONE);
    let new = with_suffix(path, ".new");
    create_empty(&new)?;
    // Closing it moves all that is in its log into the file.
    open_file(&new)?.close().map_err(|(_, error)| explain(error))?;
    put_in_place(&new, path)
}

/// Makes an empty file for its owner's eyes only, in place of what an interruption left there.
fn create_empty(path: &Path) -> anyhow::Result<()> {
    remove_with_companions(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // SQLite gives its companions (`-wal`, `-shm`) the same mode.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    Ok(())
}

/// Removes a database, and the files that SQLite may have put beside it.
fn remove_with_companions(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        remove_if_there(&with_suffix(path, suffix))?;
    }
    Ok(())
}

fn remove_if_there(file: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives a whole and closed database its name. Whoever looks finds what was there before, or all
/// of the new one.
fn put_in_place(new: &Path, path: &Path) -> anyhow::Result<()> {
    File::open(new)?.sync_all()?;
    std::fs::rename(new, path)?;
    sync_folder_of(path)
}

/// Makes the names in a file's folder durable.
fn sync_folder_of(path: &Path) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Adds what to do about it, where it is the disk that did not take a file.
fn explain_io(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref().and_then(disk::advice) {
        Some(advice) => error.context(advice),
        None => error,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A connection to a file that is there, to write to it, with the newest tables.
fn open_file(path: &Path) -> anyhow::Result<Connection> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
    ensure!(!connection.is_readonly("main")?, health::READ_ONLY);
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
    Ok(connection)
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let mut connection = set_up(Connection::open_with_flags(
        path,
        access | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)?;
    interrupts::allow(&mut connection)?;
    Ok(connection)
}

/// A connection to a file that anyone may have written, only to read it, and its schema only for a
/// while: the first of the PRAGMAs reads that.
fn connect_to_foreign(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, access)?;
    schema::limit_for_schema(&mut connection)?;
    set_up(connection)
}

/// A connection to a file that no other connection uses. It takes no locks: where the system keeps those of
/// `fcntl` and `flock` in one place (NFS), they would wait for the lock on a temporary file.
fn connect_alone(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(path, access, "unix-none")?;
    // Without locks, write-ahead mode needs this.
    let mode: String = connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |row| row.get(0))?;
    debug_assert_eq!(mode, "exclusive");
    set_up(connection)
}

fn set_up(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A plan that may depend on the values is made anew for each: that costs more than the statement.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A prepared schema cannot make SQLite damage the file or the search index.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

/// Looks at every page. It keeps nothing of what it reads in memory.
fn verify(path: &Path) -> anyhow::Result<()> {
    let look = || {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    };
    let start = Instant::now();
    match look() {
        Ok(found) if found == "ok" => debug!(micros = start.elapsed().as_micros(), "the database is sound"),
        Ok(found) => bail!("{}: {}", health::DAMAGED, found.replace('\n', " ")),
        Err(error) if health::is_damage(&error) => return Err(explain(error)),
        Err(error) => warn!(%error, "the database could not be checked"),
    }
    Ok(())
}

fn cannot_use(path: &Path) -> String {
    format!("cannot use the database {}", path.display())
}
