//! What SQLite's errors mean, to callers and to the operator.

use std::fs::{File, remove_file};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError};

use rusqlite::{ErrorCode, ffi};

use super::disk;
use super::files::with_suffix;
use portico_storage::{Constraint, Error, Result};

/// A message that tells the operator to restore a backup.
macro_rules! restore {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "restore a backup with `portico restore BACKUP --force`",
            $after
        )
    };
}

pub(super) const DAMAGED: &str = restore!("the database is damaged: ", "");
pub(super) const READ_ONLY: &str = "the file or its folder cannot be written: check their permissions, and \
    whether their file system is mounted read-only";
const NOT_A_DATABASE: &str = restore!("the file is not a database: ", ", or move it away");
pub(super) const EMPTY: &str = restore!("the file is empty: ", ", or remove it to start over");
pub(super) const GONE: &str = restore!(
    "the file is gone, but its log (-wal) is there: ",
    ", or remove the log as well to start over"
);

const INTERRUPTED: &str = "a statement was ended: it took too long, or the storage is closing";

/// With this much free space, in bytes, writes continue.
const ROOM: usize = 1 << 20;

/// A database file, and its known faults.
pub(super) struct Health {
    path: PathBuf,
    /// A write has failed, and no check has succeeded since.
    writes_failed: AtomicBool,
    /// Held by the check that runs. Every caller may start one, but only one runs at a time.
    trial: Mutex<()>,
    /// SQLite has found that the file is damaged. Stays set.
    damaged: AtomicBool,
}

impl Health {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            writes_failed: AtomicBool::new(false),
            trial: Mutex::default(),
            damaged: AtomicBool::new(false),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Turns SQLite's errors into storage's errors; nothing else does. The texts name tables and columns, never their
    /// contents.
    pub fn translate(&self, error: &rusqlite::Error) -> Error {
        if let rusqlite::Error::SqliteFailure(failure, message) = error {
            match failure.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => return Error::Retry,
                ErrorCode::OperationInterrupted => {
                    tracing::warn!("{INTERRUPTED}");
                    return Error::Unavailable(INTERRUPTED.into());
                }
                ErrorCode::ConstraintViolation => {
                    let message = message.as_deref().unwrap_or_default();
                    if let Some(constraint) = constraint(failure.extended_code, message) {
                        return Error::Constraint(constraint);
                    }
                }
                _ => {}
            }
        }
        self.unavailable(error)
    }

    /// Logs an error that the caller can do nothing about.
    pub fn unavailable(&self, error: &rusqlite::Error) -> Error {
        use ErrorCode::{DiskFull, ReadOnly, SystemIoFailure};
        if is_damage(error) {
            self.damaged.store(true, Ordering::Relaxed);
        } else if matches!(
            error.sqlite_error_code(),
            Some(DiskFull | SystemIoFailure | ReadOnly)
        ) {
            self.writes_failed.store(true, Ordering::Relaxed);
        }
        let advice = advice(error).unwrap_or("it failed");
        tracing::error!(
            "cannot use the database {}: {advice}: {error}",
            self.path.display()
        );
        Error::Unavailable(error.to_string())
    }

    /// Whether [`Health::check`] will write a file, because a write has failed.
    pub fn needs_trial(&self) -> bool {
        self.writes_failed.load(Ordering::Relaxed)
    }

    /// Fails if changes cannot be stored, as far as is known. After a write has failed, it tests whether there is space
    /// again.
    pub fn check(&self) -> Result<()> {
        if self.damaged.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("the database is damaged".into()));
        }
        if self.writes_failed.load(Ordering::Relaxed) {
            let _alone = match self.trial.try_lock() {
                Ok(alone) => alone,
                Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Unavailable(
                        "changes cannot be kept, as far as is known".into(),
                    ));
                }
            };
            let written = write_beside(&self.path);
            written.map_err(|error| Error::Unavailable(format!("changes cannot be kept: {error}")))?;
            self.writes_failed.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Whether SQLite found the file damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Adds what to do about a file that SQLite cannot use.
pub(super) fn explain(error: rusqlite::Error) -> anyhow::Error {
    match advice(&error) {
        Some(advice) => anyhow::anyhow!("{advice}: {error}"),
        None => error.into(),
    }
}

/// The same for an error that may be one of SQLite's.
pub(super) fn explain_any(error: anyhow::Error) -> anyhow::Error {
    error.downcast().map_or_else(|error| error, explain)
}

/// The first findings about a file, and how many more there are.
pub(super) fn first_few(mut findings: Vec<String>) -> String {
    const NAMED: usize = 3;
    let more = findings.len().saturating_sub(NAMED);
    findings.truncate(NAMED);
    if more > 0 {
        findings.push(format!("and {more} more"));
    }
    findings.join("; ")
}

/// What happened to a file, and what to do about it.
fn advice(error: &rusqlite::Error) -> Option<&'static str> {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return None;
    };
    let is_limited = disk::size_limit().is_some();
    Some(match failure.code {
        ErrorCode::SystemIoFailure if is_limited => disk::LIMITED,
        // SQLite sets the length of the index of its log before it writes to it.
        _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => disk::FULL,
        ErrorCode::DiskFull => disk::FULL,
        ErrorCode::SystemIoFailure => {
            "its disk fails, or there is a limit to what may be written (a quota?): the log of the system says more"
        }
        ErrorCode::NotADatabase => NOT_A_DATABASE,
        ErrorCode::DatabaseCorrupt => DAMAGED,
        ErrorCode::DatabaseBusy => "another program holds the database: stop it first",
        ErrorCode::ReadOnly => READ_ONLY,
        ErrorCode::CannotOpen => {
            "the file cannot be opened: check the permissions of its directory, and the limit of open files"
        }
        _ => return None,
    })
}

/// Tests whether there is space on the disk of a file, by writing another file next to it.
fn write_beside(path: &Path) -> std::io::Result<()> {
    let trial = with_suffix(path, ".trial");
    // The test file is small: the limit matters to the database and its log.
    if let Some(limit) = disk::size_limit() {
        for file in [path, &with_suffix(path, "-wal")] {
            let length = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
            if length.saturating_add(ROOM as u64) > limit {
                return Err(ErrorKind::FileTooLarge.into());
            }
        }
    }
    let written = File::create(&trial).and_then(|mut file| {
        file.write_all(&vec![0; ROOM])?;
        file.sync_all()
    });
    // It may not exist, if it could not be created.
    let _ = remove_file(&trial);
    written
}

fn constraint(extended_code: i32, message: &str) -> Option<Constraint> {
    match extended_code {
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Some(Constraint::Reference),
        // "UNIQUE constraint failed: app.id"
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
            portico_sql::constraint(message.rsplit(": ").next()?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_check_for_room_runs_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let health = Health::new(folder.path().join("portico.db"));
        health.writes_failed.store(true, Ordering::Relaxed);
        let first = health.trial.lock().unwrap();
        health.check().unwrap_err();
        drop(first);
        health.check().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
