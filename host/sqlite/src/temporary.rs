//! Files that are written under a temporary name and get their own name when they are complete.
//!
//! Invariants:
//! - A file under its own name is complete and on the disk.
//! - A process locks its temporary file until the file has its own name or is removed. A killed process
//!   leaves a file without a lock, which the next run removes.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use tempfile::{Builder, TempPath};

use super::files::{COMPANIONS, sync_folder_of, with_suffix};

/// How many random letters and digits follow the prefix of a name.
const RANDOM: usize = 6;
/// How often making a file is tried: another run may remove it before it is locked.
const TRIES: usize = 16;

/// A file under a temporary name. Dropping it removes it.
pub struct Temporary {
    // Dropped before the file, which holds the lock: so the file is removed while it is locked.
    path: TempPath,
    file: File,
}

impl Temporary {
    /// Creates a file in this folder, with these permissions as far as the umask allows. First removes the
    /// files with this prefix that killed processes have left there.
    pub fn create(folder: &Path, prefix: &str, mode: u32) -> io::Result<Self> {
        remove_left_over(folder, prefix);
        for _ in 0..TRIES {
            let made = Builder::new()
                .prefix(prefix)
                .rand_bytes(RANDOM)
                .permissions(Permissions::from_mode(mode))
                .tempfile_in(folder)?;
            let (file, path) = made.into_parts();
            // If the file system has no locks, no other run can lock the file, and so none removes it.
            let is_locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if is_locked && is_same(&file, &path) {
                return Ok(Self { path, file });
            }
        }
        Err(io::Error::other("other runs keep removing the temporary file"))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to write to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Writes it to the disk and gives it its own name, in the same folder. An existing file of that name is
    /// replaced only if `overwrite` is true.
    pub fn place(self, name: &Path, overwrite: bool) -> io::Result<()> {
        self.file.sync_all()?;
        let placed = if overwrite {
            self.path.persist(name)
        } else {
            self.path.persist_noclobber(name)
        };
        placed.map_err(|error| error.error)?;
        sync_folder_of(name)
    }
}

/// Whether this path still leads to the file.
fn is_same(file: &File, path: &Path) -> bool {
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let here = fs::symlink_metadata(path).map(id);
    here.is_ok_and(|here| file.metadata().map(id).is_ok_and(|of_file| of_file == here))
}

/// Removes this user's temporary files that no process has locked. A file that cannot be removed stays, and is
/// harmless.
fn remove_left_over(folder: &Path, prefix: &str) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(prefix));
        // A companion is removed once its database is gone.
        let companion = COMPANIONS
            .into_iter()
            .find_map(|suffix| random?.strip_suffix(suffix));
        let is_temporary = random.is_some_and(is_random);
        // The metadata of the entry itself, not of what a link points to.
        let is_ours = || {
            let metadata = entry.metadata();
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.uid() == user)
        };
        let path = entry.path();
        if let Some(random) = companion {
            let database = folder.join(format!("{prefix}{random}"));
            if is_random(random) && is_ours() && !database.exists() {
                let _ = fs::remove_file(path);
            }
            continue;
        }
        if !is_temporary || !is_ours() {
            continue;
        }
        if let Ok(file) = OpenOptions::new().read(true).write(true).open(&path)
            && file.try_lock().is_ok()
        {
            for suffix in COMPANIONS {
                let _ = fs::remove_file(with_suffix(&path, suffix));
            }
            let _ = fs::remove_file(path);
        }
    }
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM && text.bytes().all(|letter| letter.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ".portico-test-";

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_another_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let others = [
            ".portico-test-12345",
            ".portico-test-notes.txt",
            ".portico-tests",
            "home.yaml",
        ];
        let left_over = [
            ".portico-test-aB3xYz",
            ".portico-test-aB3xYz-journal",
            ".portico-test-alone1-wal",
        ];
        for name in others.iter().chain(&left_over) {
            fs::write(path(name), "text").unwrap();
        }
        let running = Temporary::create(folder.path(), PREFIX, 0o600).unwrap();
        for name in left_over {
            assert!(!path(name).exists(), "{name}");
        }
        let mut second = Temporary::create(folder.path(), PREFIX, 0o600).unwrap();
        assert!(running.path().exists());
        assert!(
            others.iter().all(|name| path(name).exists()),
            "{:?}",
            names(folder.path())
        );

        io::Write::write_all(second.file(), b"new").unwrap();
        let refused = Temporary::place(running, &path("home.yaml"), false).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(path("home.yaml")).unwrap(), b"text");
        second.place(&path("home.yaml"), true).unwrap();
        assert_eq!(fs::read(path("home.yaml")).unwrap(), b"new");
        let mut left = names(folder.path());
        left.retain(|name| !others.contains(&&name[..]));
        assert_eq!(left, [""; 0]);
    }
}
