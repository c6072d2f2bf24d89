//! The data directory. Only one host can use it at a time.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};

use portico_sqlite::disk;

/// The mode of the file `lock`.
const OWNER_ONLY: u32 = 0o600;

/// A data directory, locked for as long as this value lives.
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Locks the directory. Creates it, readable only for its owner, if it does not exist.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        require_folder(path)?;
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
            .mode(OWNER_ONLY)
            .open(&lock_file)
            .map_err(|error| refusal(error, &format!("cannot write to the data directory {shown}")))?;
        // A user who can open the file can lock it, and so keep every host out. Earlier versions created
        // it with mode 0644. If it belongs to another user, so does the data, which then cannot be used.
        if lock.metadata()?.permissions().mode() & 0o777 != OWNER_ONLY {
            let _ = lock.set_permissions(Permissions::from_mode(OWNER_ONLY));
        }
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

    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn database(&self) -> PathBuf {
        Self::database_in(&self.path)
    }

    /// The database file of a data directory that is not locked.
    pub fn database_in(path: &Path) -> PathBuf {
        path.join("portico.db")
    }

    /// Whether there is a data directory with a database, which need not be locked.
    pub fn has_database(path: &Path) -> anyhow::Result<bool> {
        require_folder(path)?;
        let database = Self::database_in(path);
        let found = database.try_exists();
        found.with_context(|| format!("cannot use the database {}", database.display()))
    }

    /// The folder of the compiled component, which can be deleted.
    pub fn cache(&self) -> PathBuf {
        self.path.join("cache")
    }

    /// The folder with the indexes of icon sources.
    pub fn icons(&self) -> PathBuf {
        self.path.join("icons")
    }

    /// The folder with the pictures of icons, of a data directory that need not be locked.
    pub fn pictures_in(path: &Path) -> PathBuf {
        path.join("icons").join("pictures")
    }
}

/// Refuses what is there and no folder.
fn require_folder(path: &Path) -> anyhow::Result<()> {
    ensure!(
        path.is_dir() || !path.exists(),
        "{} is a file; --data needs a folder",
        path.display()
    );
    Ok(())
}

/// An error with advice on what to do about it.
fn refusal(error: io::Error, what: &str) -> anyhow::Error {
    let advice = disk::advice(&error).map_or(String::new(), |advice| format!(": {advice}"));
    let message = format!("{what}{advice}, or choose another one with --data");
    anyhow::Error::new(error).context(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_host_at_a_time_can_open_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = DataDir::open(&path).unwrap();
        let refusal = DataDir::open(&path).err().unwrap().to_string();
        assert!(refusal.contains("another portico"), "{refusal}");
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn other_users_cannot_open_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let lock = folder.path().join("lock");
        let mode = || fs::metadata(&lock).unwrap().permissions().mode() & 0o777;
        drop(DataDir::open(folder.path()).unwrap());
        assert_eq!(mode(), 0o600);
        // The mode that earlier versions used.
        fs::set_permissions(&lock, Permissions::from_mode(0o644)).unwrap();
        drop(DataDir::open(folder.path()).unwrap());
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_file_is_refused_in_words() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let expected = format!("{} is a file; --data needs a folder", file.path().display());
        let refusals = [
            DataDir::open(file.path()).err(),
            DataDir::has_database(file.path()).err(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.unwrap().to_string(), expected);
        }
    }

    #[test]
    fn an_error_names_the_database_that_cannot_be_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        // As for a folder without permission, the system says neither that it is there nor that it is not.
        std::os::unix::fs::symlink("portico.db", folder.path().join("portico.db")).unwrap();
        let refusal = DataDir::has_database(folder.path()).err().unwrap().to_string();
        let path = folder.path().display().to_string();
        assert!(refusal.contains(&path), "{refusal}");
    }

    #[test]
    fn an_error_names_the_folder_that_cannot_be_created() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refusal = DataDir::open(&file.path().join("data"))
            .err()
            .unwrap()
            .to_string();
        assert!(
            refusal.contains("cannot create the data directory")
                && refusal.contains("part of its path is a file")
                && refusal.contains("--data"),
            "{refusal}"
        );
    }
}
