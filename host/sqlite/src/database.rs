//! Our own database file: how it is created, opened with the newest tables, and checked.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use rusqlite::{Connection, OpenFlags};
use tracing::{debug, info, warn};

use super::backup::backup;
use super::connection::connect;
use super::files::{create_empty, put_in_place, with_suffix};
use super::health::{self, explain, explain_any};
use super::migrations;

/// Creates a database under another name, and gives it its own name when it is complete. If that is interrupted, the
/// next start begins again.
pub(super) fn create(path: &Path) -> anyhow::Result<()> {
    let log = with_suffix(path, "-wal");
    ensure!(!log.try_exists()?, health::GONE);
    let new = with_suffix(path, ".new");
    create_empty(&new)?;
    // Closing it moves everything from its log into the file.
    open_file(&new)?.close().map_err(|(_, error)| explain(error))?;
    put_in_place(&new, path)
}

/// A writing connection to a database that exists, after its tables were brought to the newest version.
pub(super) fn open_file(path: &Path) -> anyhow::Result<Connection> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
    ensure!(!connection.is_readonly("main")?, health::READ_ONLY);
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(explain)?;
    ensure!(
        mode == "wal",
        "its file system does not do write-ahead logs: choose another data directory"
    );
    migrations::run(&mut connection).map_err(explain_any)?;
    Ok(connection)
}

/// Copies a database whose tables this version changes, next to it: the copy is the way back.
pub(super) fn back_up_before_migrating(path: &Path) -> anyhow::Result<()> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
    if !migrations::are_missing(&connection).map_err(explain_any)? {
        return Ok(());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let copy = path.with_file_name(format!("{stem}-before-version-{}.db", migrations::NEWEST));
    info!(
        "copying the database to {} before its tables change",
        copy.display()
    );
    backup(path, &copy, true, &mut |_| true).context("no copy from before the upgrade")?;
    Ok(())
}

/// Reads every page of the file and fails if it is damaged. The pages do not stay in memory.
pub(super) fn verify(path: &Path) -> anyhow::Result<()> {
    let check = || {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    };
    let start = Instant::now();
    match check() {
        Ok(found) if found == "ok" => debug!(
            micros = start.elapsed().as_micros() as u64,
            "the database is sound"
        ),
        Ok(found) => bail!("{}: {}", health::DAMAGED, found.replace('\n', " ")),
        Err(error) if health::is_damage(&error) => return Err(explain(error)),
        Err(error) => warn!(%error, "the database could not be checked"),
    }
    Ok(())
}
