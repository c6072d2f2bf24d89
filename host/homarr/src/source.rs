//! The file from an administrator: what it is, and a private copy of the database in it.
//!
//! Invariants:
//! - The file itself is only read. What SQLite opens is a copy, readable only by its owner, which is removed with its
//!   companion files when it is dropped; if the process is killed, the next run removes it.
//! - At most [`MOST_BYTES`] are read or inflated.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use portico_sqlite::temporary::Temporary;

use crate::kinds::FileKind;
use crate::limits::{MOST_BYTES, copy_bounded};
use crate::{archive, entries, tar};

/// The name of a copy, before its random letters.
const PREFIX: &str = ".portico-homarr-";

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
        let log = copy.companion("-wal");
        let log = || create_private(&log);
        copy.bytes = match kind {
            FileKind::Database => copy.copy_database(file)?,
            FileKind::Folder => copy.copy_database(&entries::database_in(file)?)?,
            FileKind::Zip => archive::extract(file, copy.file.file(), log)?,
            FileKind::Tar => tar::extract(file, false, copy.file.file(), log)?,
            FileKind::TarGz => tar::extract(file, true, copy.file.file(), log)?,
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
