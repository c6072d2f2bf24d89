//! Database files as files: their names, their companions, and how one gets its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What SQLite adds to the name of a database for the files next to it.
pub(super) const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// The path with this added to its last name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes an empty file that only its owner may read. First removes what an interrupted run left there.
pub(super) fn create_empty(path: &Path) -> anyhow::Result<()> {
    remove_with_companions(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // SQLite gives its companions the same mode.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    Ok(())
}

/// Removes a database and its companions, as far as they exist.
pub(super) fn remove_with_companions(path: &Path) -> io::Result<()> {
    remove_if_there(path)?;
    COMPANIONS
        .into_iter()
        .try_for_each(|suffix| remove_if_there(&with_suffix(path, suffix)))
}

pub(super) fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives a complete, closed database its name. Under that name there is, at every moment, either the
/// old file or all of the new one.
pub(super) fn put_in_place(new: &Path, path: &Path) -> anyhow::Result<()> {
    File::open(new)?.sync_all()?;
    fs::rename(new, path)?;
    sync_folder_of(path)?;
    Ok(())
}

/// Makes the names in a file's folder durable.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
