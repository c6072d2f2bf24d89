//! How a connection to a database file is opened and set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{interrupts, schema};

/// More than the number of different statements, so that each is prepared once on a connection.
const STATEMENT_CACHE: usize = 200;

/// How long a statement waits for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The file is not mapped into memory: every reader would have to map it again after each commit, which takes longer
/// than reading the few pages that it needs. Each connection may cache 8 MiB of pages: with SQLite's 2 MiB, a page of
/// 100 of 100,000 apps, each with its boards, evicted what the next page needed.
const PRAGMAS: &str = "
    PRAGMA cache_size = -8192;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA journal_size_limit = 67108864;
";

/// A connection to a database of ours. Its statements can be interrupted.
pub(super) fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let mut connection = set_up(Connection::open_with_flags(
        path,
        access | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)?;
    interrupts::allow(&mut connection)?;
    Ok(connection)
}

/// A read-only connection to a file that may come from anyone. The time for reading its schema is limited
/// from the start: the first PRAGMA reads it.
pub(super) fn connect_to_foreign(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, access)?;
    schema::limit_for_schema(&mut connection)?;
    set_up(connection)
}

/// A connection to a file that no other connection uses. It takes no locks: on NFS, where `fcntl` and `flock` share
/// locks, it would wait for the lock that this process holds on its temporary file.
pub(super) fn connect_alone(path: &Path) -> rusqlite::Result<Connection> {
    connect_foreign_alone(path, |_| Ok(()))
}

/// The same for a file that may come from anyone. `limit` is called before anything is read, and limits the time for
/// reading.
pub(super) fn connect_foreign_alone(
    path: &Path,
    limit: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags_and_vfs(path, access, "unix-none")?;
    limit(&mut connection)?;
    // Without locks, write-ahead mode needs this.
    let mode: String = connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |row| row.get(0))?;
    debug_assert_eq!(mode, "exclusive");
    set_up(connection)
}

/// Leaves write-ahead mode: the database is then one file. False if another connection prevents it.
pub(super) fn become_one_file(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    Ok(mode == "delete")
}

fn set_up(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Otherwise SQLite may plan a statement again for other values, which takes longer than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A schema made by an attacker cannot make SQLite damage the file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}
