//! The folder that holds all data, for one host at a time.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use portico_sqlite::disk;

/// A data directory that nobody else works on, as long as this value lives.
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Takes the folder; makes it, for its owner only, if it is not there.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        if !path.exists() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path)
                .map_err(|error| refusal(error, &format!("cannot create the data directory {shown}")))?;
        }
        let lock_file = path.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_file)
            .map_err(|error| refusal(error, &format!("cannot write to the data directory {shown}")))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "another portico works on the data directory {shown}: stop it first, choose another one with \
                 --data, or talk to it with --url"
            ),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", lock_file.display()));
            }
        }
        let path = fs::canonicalize(path).with_context(|| format!("cannot find {shown}"))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        Self::database_in(&self.path)
    }

    /// Where the database of a data directory is, for whoever does not need it alone.
    pub fn database_in(path: &Path) -> PathBuf {
        path.join("portico.db")
    }

    /// What can be made again: the compiled component.
    pub fn cache(&self) -> PathBuf {
        self.path.join("cache")
    }

    /// The indexes of icon sources.
    pub fn icons(&self) -> PathBuf {
        self.path.join("icons")
    }
}

/// What happened, and what to do about it.
fn refusal(error: io::Error, what: &str) -> anyhow::Error {
    let advice = disk::advice(&error).map_or(String::new(), |advice| format!(": {advice}"));
    let message = format!("{what}{advice}, or choose another one with --data");
    anyhow::Error::new(error).context(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_at_a_time_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = DataDir::open(&path).unwrap();
        let refusal = DataDir::open(&path).err().unwrap().to_string();
        assert!(refusal.contains("another portico"), "{refusal}");
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refusal = DataDir::open(&file.path().join("data"))
            .err()
            .unwrap()
            .to_string();
        assert!(
            refusal.contains("cannot create the data directory") && refusal.contains("--data"),
            "{refusal}"
        );
    }
}
