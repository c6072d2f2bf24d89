//! The file from an administrator: what it is, and a private copy of the database in it.
//!
//! Invariants:
//! - The file itself is only read. What SQLite opens is a copy, readable only by its owner, which is removed with its
//!   companion files when it is dropped; if the process is killed, the next run removes it.
//! - At most [`MOST_BYTES`] are read or inflated.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use portico_sqlite::temporary::Temporary;

use crate::archive;
use crate::limits::{MOST_BYTES, copy_bounded, other_edition};

/// The name of a copy, before its random letters.
const PREFIX: &str = ".portico-homarr-";

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Database,
    /// A ZIP, as Homarr exports it.
    Archive,
}

impl FileKind {
    /// Looks at the beginning of a file, and refuses a file that can be neither.
    pub fn of(file: &Path) -> anyhow::Result<Self> {
        let metadata = fs::metadata(file)?;
        // Opening a pipe would wait for a writer.
        ensure!(
            metadata.is_file(),
            "it is not a regular file but a folder or a device: give Homarr's db.sqlite, or the ZIP of its backup"
        );
        let mut start = Vec::new();
        File::open(file)?.take(4096).read_to_end(&mut start)?;
        ensure!(!start.is_empty(), "it is empty");
        if start.starts_with(b"SQLite format 3\0") {
            return Ok(Self::Database);
        }
        if start.starts_with(b"PK\x03\x04") {
            return Ok(Self::Archive);
        }
        if let Some(edition) = edition_of_dump(&start) {
            bail!(other_edition(edition));
        }
        bail!(
            "it is neither a database of SQLite nor a ZIP: give Homarr's db.sqlite, or the ZIP of its backup"
        );
    }
}

/// The edition of Homarr whose database a dump comes from.
fn edition_of_dump(start: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(start);
    // `pg_dump` begins its custom format with PGDMP.
    if start.starts_with(b"PGDMP") || text.contains("PostgreSQL database") {
        return Some("PostgreSQL");
    }
    let is_mysql = ["MySQL dump", "MariaDB dump", "mysqldump"];
    is_mysql
        .iter()
        .any(|words| text.contains(words))
        .then_some("MySQL")
}

/// A private copy of a database.
pub struct DatabaseCopy {
    file: Temporary,
    bytes: u64,
}

impl DatabaseCopy {
    /// Copies the database in this file into the folder.
    pub fn of(file: &Path, folder: &Path) -> anyhow::Result<Self> {
        let kind = FileKind::of(file)?;
        let copy =
            Temporary::create(folder, PREFIX, 0o600).context("cannot make a copy in the data directory")?;
        let mut copy = Self { file: copy, bytes: 0 };
        copy.bytes = match kind {
            FileKind::Database => copy.copy_database(file)?,
            FileKind::Archive => archive::extract(file, copy.file.file())?,
        };
        copy.check_header()?;
        Ok(copy)
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// How many bytes it has, including its log.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies a database with its log, in which Homarr's last changes are unless it was stopped properly.
    fn copy_database(&mut self, file: &Path) -> anyhow::Result<u64> {
        let log = with_suffix(file, "-wal");
        let journal = fs::metadata(with_suffix(file, "-journal"));
        ensure!(
            !journal.is_ok_and(|journal| journal.len() > 0),
            "Homarr was stopped in the middle of a change (there is a file {}): start Homarr, stop it, and try again",
            with_suffix(file, "-journal").display()
        );
        let states = || [file, &log].map(|file| fs::metadata(file).ok().map(|found| state(&found)));
        let before = states();
        let mut bytes = copy_bounded(&mut File::open(file)?, self.file.file(), MOST_BYTES)?;
        if before[1].is_some() {
            let mut into = create_private(&self.companion("-wal"))?;
            bytes += copy_bounded(&mut File::open(&log)?, &mut into, MOST_BYTES - bytes)?;
        }
        ensure!(
            states() == before,
            "it changes while it is read: stop Homarr, and try again"
        );
        Ok(bytes)
    }

    /// Refuses a copy that is not a database, or is shorter than its header says.
    fn check_header(&mut self) -> anyhow::Result<()> {
        let mut header = [0; 100];
        let file = self.file.file();
        file.flush()?;
        file.seek(SeekFrom::Start(0))?;
        let read = file.read_exact(&mut header);
        ensure!(
            read.is_ok() && header.starts_with(b"SQLite format 3\0"),
            "the database in it is not one of SQLite"
        );
        Ok(())
    }

    fn companion(&self, suffix: &str) -> PathBuf {
        with_suffix(self.file.path(), suffix)
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        for suffix in ["-wal", "-shm", "-journal"] {
            // The copy itself is removed next. The next run removes what stays.
            let _ = fs::remove_file(self.companion(suffix));
        }
    }
}

/// What changes when a file is written to.
fn state(metadata: &Metadata) -> (u64, Option<std::time::SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
