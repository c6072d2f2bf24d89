//! What a file is, by its beginning.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{bail, ensure};

use crate::limits::other_edition;

/// How much of a file is looked at.
const BEGINNING: u64 = 4096;
/// Where a tar says that it is one, in its first header.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// What the file from an administrator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Database,
    /// A ZIP, as Homarr exports it or as people make it.
    Zip,
    /// A tar.
    Tar,
    /// A tar that is compressed with gzip.
    TarGz,
    /// A folder in which the database is.
    Folder,
}

impl FileKind {
    /// Looks at the beginning of a file, and refuses a file that can be none of these.
    pub fn of(file: &Path) -> anyhow::Result<Self> {
        let metadata = fs::metadata(file)?;
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        // Opening a pipe would wait for a writer.
        ensure!(
            metadata.is_file(),
            "it is neither a file nor a folder but a device: give Homarr's db.sqlite, or the ZIP of its backup"
        );
        let mut start = Vec::new();
        File::open(file)?.take(BEGINNING).read_to_end(&mut start)?;
        ensure!(!start.is_empty(), "it is empty");
        if start.starts_with(b"SQLite format 3\0") {
            return Ok(Self::Database);
        }
        if start.starts_with(b"PK\x03\x04") {
            return Ok(Self::Zip);
        }
        if start.starts_with(b"\x1f\x8b") {
            return Ok(Self::TarGz);
        }
        if start.get(TAR_MAGIC) == Some(b"ustar") {
            return Ok(Self::Tar);
        }
        refuse_what_is_known(&start)?;
        bail!(
            "it is neither a database of SQLite nor a ZIP, tar or folder with one: give Homarr's db.sqlite, or the ZIP of \
             its backup"
        );
    }
}

/// Names a file that holds Homarr's data in a form that is not read, and the way out.
fn refuse_what_is_known(start: &[u8]) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    // `pg_dump` begins its custom format with PGDMP.
    if start.starts_with(b"PGDMP") || has(&["PostgreSQL database"]) {
        bail!(other_edition("PostgreSQL"));
    }
    if has(&["MySQL dump", "MariaDB dump", "mysqldump", "phpMyAdmin SQL Dump"]) {
        bail!(other_edition("MySQL"));
    }
    if text.starts_with("PRAGMA foreign_keys") || text.starts_with("BEGIN TRANSACTION;") {
        bail!(
            "it is a dump of a database of SQLite as SQL: make a database of it (`sqlite3 db.sqlite < dump.sql`), and give \
             that"
        );
    }
    if text.starts_with('{') && has(&["\"configProperties\"", "\"schemaVersion\""]) {
        bail!(
            "it is a board of Homarr 0.15 as JSON: import it into a Homarr 1 (Manage, Boards, Import), and give the \
             db.sqlite of that"
        );
    }
    Ok(())
}
