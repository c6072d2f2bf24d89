//! Puts a copy in the place of a database.
//!
//! Invariants:
//! - At every moment `portico.db` is the old database or all of the new one.
//! - The log of the old database is never next to the new one, which SQLite would damage with it: it is written into
//!   the old database first.
//! - The old database stays, under another name.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use rusqlite::{ErrorCode, OpenFlags};

use super::backup::{Contents, Origin, Step, copy_into, is_ours};
use super::connection::{become_one_file, connect, connect_to_foreign};
use super::database::open_file;
use super::files::{
    create_empty, put_in_place, remove_if_there, remove_with_companions, sync_folder_of, with_suffix,
};
use super::health::explain;
use super::{schema, statements};
use portico_model::time::{Clock, SystemClock};
use portico_storage::{AuditEntry, Authentication};

/// The first bytes of every database of SQLite.
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// The result of a restore.
#[derive(Debug)]
pub struct Restored {
    /// What the new database holds.
    pub contents: Contents,
    /// How many sessions the copy held. They end.
    pub sessions: u64,
    /// Where the old database is now; `None` if there was none.
    pub kept: Option<PathBuf>,
}

/// Puts a copy of this file in the place of a database. The caller makes sure that no host uses that database.
///
/// The file may come from anyone: it is refused if its schema is not exactly that of its version (`schema.rs`). If it
/// is older than this binary, its tables are brought to the newest version. All its sessions end. An existing database
/// is touched only if `replace` is true, and stays with `moment` in its name. `go_on` gets the progress and may stop
/// the restore until the database is touched.
pub fn restore(
    file: &Path,
    database: &Path,
    replace: bool,
    moment: &str,
    go_on: &mut dyn FnMut(Step) -> bool,
) -> anyhow::Result<Restored> {
    let shown = file.display();
    looks_right(file).with_context(|| format!("cannot restore {shown}"))?;
    let file = std::fs::canonicalize(file)?;
    let exists = database.try_exists()?;
    ensure!(
        !(exists && std::fs::canonicalize(database)? == file),
        "{shown} is the database itself: give a backup of it"
    );
    ensure!(
        replace || !(exists || with_suffix(database, "-wal").try_exists()?),
        "a database already exists in {}: restore into another data directory (--data), or replace it with --force, \
         which keeps it under another name",
        database.parent().unwrap_or(database).display()
    );

    let new = with_suffix(database, ".restoring");
    let (contents, sessions) = prepare(&file, &new, go_on).map_err(|error| {
        // If this fails, the next restore removes what is left.
        let _ = remove_with_companions(&new);
        schema::explain_interruption(error).context(format!("cannot restore {shown}"))
    })?;
    let kept = set_aside(database, moment)
        .with_context(|| format!("cannot set aside the database {}", database.display()))?;
    // The journal of a database that is damaged or missing: SQLite would apply it to the new one.
    remove_if_there(&with_suffix(database, "-journal"))?;
    put_in_place(&new, database)?;
    Ok(Restored {
        contents,
        sessions,
        kept,
    })
}

fn looks_right(file: &Path) -> anyhow::Result<()> {
    // Opening a pipe would wait for a writer.
    ensure!(
        std::fs::metadata(file)?.is_file(),
        "it is not a regular file but a folder or a device: give the file of a backup"
    );
    ensure!(
        begins_as_database(file)?,
        "it is not a database: give a file that `portico backup` wrote"
    );
    Ok(())
}

fn begins_as_database(file: &Path) -> anyhow::Result<bool> {
    let mut header = [0; HEADER.len()];
    match File::open(file)?.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| header == *HEADER).map_err(Into::into),
    }
}

/// Makes a checked copy, with the newest tables and without sessions. Returns its contents and the number of sessions
/// that it held.
fn prepare(file: &Path, new: &Path, go_on: &mut dyn FnMut(Step) -> bool) -> anyhow::Result<(Contents, u64)> {
    create_empty(new)?;
    let source = connect_to_foreign(file).map_err(explain)?;
    is_ours(&source)?;
    let contents = copy_into(&source, new, Origin::Untrusted, go_on)?;
    let copy = open_file(new)?;
    let sessions = copy.execute("DELETE FROM session", [])? as u64;
    statements::insert(
        &copy,
        &portico_sql::AUDIT,
        &[portico_sql::audit_values(&audit_entry())],
    )?;
    ensure!(become_one_file(&copy)?, "the copy does not become one file");
    copy.close().map_err(|(_, error)| explain(error))?;
    Ok((contents, sessions))
}

/// The row about this restore, in the audit log of the new database.
fn audit_entry() -> AuditEntry {
    AuditEntry {
        time: SystemClock.now(),
        ..AuditEntry::new("restore", "command-line").by(None, &Authentication::Operator)
    }
}

/// Copies the old database to another name, and removes its log. Returns that name.
fn set_aside(database: &Path, moment: &str) -> anyhow::Result<Option<PathBuf>> {
    let log = with_suffix(database, "-wal");
    if !database.try_exists()? {
        // A log without its database.
        if !log.try_exists()? {
            return Ok(None);
        }
        let kept = free_name(database, moment)?;
        std::fs::rename(&log, with_suffix(&kept, "-wal"))?;
        return Ok(Some(kept));
    }
    let kept = free_name(database, moment)?;
    let is_one_file = merge_log(database)?;
    keep_copy(database, database, &kept)?;
    if !is_one_file {
        // It is damaged. It stays as it was, with its log, so that its data may still be rescued.
        if log.try_exists()? {
            keep_copy(&log, database, &with_suffix(&kept, "-wal"))?;
        }
        for companion in [log, with_suffix(database, "-shm")] {
            remove_if_there(&companion)?;
        }
    }
    sync_folder_of(database)?;
    Ok(Some(kept))
}

/// Writes the log of a database into it and removes the log. False if the database is damaged.
fn merge_log(database: &Path) -> anyhow::Result<bool> {
    // SQLite deletes the log next to a file that is too short to be a database.
    if !begins_as_database(database)? {
        return Ok(false);
    }
    let merge = || {
        let connection = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // This must be the only connection to the file.
        let is_one_file = become_one_file(&connection)?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(is_one_file)
    };
    match merge().map_err(|error: rusqlite::Error| (error.sqlite_error_code(), error)) {
        Ok(true) => Ok(true),
        Ok(false) | Err((Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _)) => {
            bail!("another program has it open, perhaps a backup: try again when it is done")
        }
        Err((Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt), _)) => Ok(false),
        Err((_, error)) => Err(explain(error)),
    }
}

/// Makes a copy under this name. A hard link would be cheaper, but an interruption would leave one database with two
/// names, each with a log of its own.
fn keep_copy(file: &Path, database: &Path, name: &Path) -> anyhow::Result<()> {
    let copy = with_suffix(database, ".setting-aside");
    std::fs::copy(file, &copy)?;
    put_in_place(&copy, name)
}

fn free_name(database: &Path, moment: &str) -> anyhow::Result<PathBuf> {
    let first = with_suffix(database, &format!(".before-restore-{moment}"));
    let mut name = first.clone();
    for number in 2.. {
        if !name.try_exists()? && !with_suffix(&name, "-wal").try_exists()? {
            break;
        }
        name = with_suffix(&first, &format!("-{number}"));
    }
    Ok(name)
}
