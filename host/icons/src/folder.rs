//! The folder of pictures: one file for each URL, named by the hash of the URL.
//!
//! Invariants:
//! - A file gets its name when it is complete and on the disk.
//! - The folder stays within its bounds: before a file would exceed them, the files that were used least recently are
//!   removed, until a tenth is free. A second process that writes to the same folder may exceed them by a tenth.
//! - Everything here blocks.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};
use url::Url;

use crate::picture::LARGEST;

/// The prefix of files that are being written.
const TEMPORARY: &str = ".new-";
/// A file that is still being written after this time was left by a process that was killed.
const LONGEST_WRITE: Duration = Duration::from_secs(60 * 60);
/// The use of a file is noted, as its modification time, at most once in this time.
const NOTE_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The name of a picture's file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Name(String);

impl Name {
    pub fn of(url: &Url) -> Self {
        Self::by(url.as_str())
    }

    /// The same for a picture that a provider named: others may be fetched from where these may not.
    pub fn of_named(url: &Url) -> Self {
        Self::by(&format!("named {url}"))
    }

    fn by(text: &str) -> Self {
        let hash = Sha256::digest(text);
        Self(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn is_one(name: &str) -> bool {
        name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// How much the folder may hold.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub bytes: u64,
    pub files: u64,
}

pub(crate) struct Folder {
    path: PathBuf,
    bounds: Bounds,
    /// How much may still be written before the folder has to be scanned.
    room: Mutex<Bounds>,
    /// Counts the files that were written, for temporary names.
    count: AtomicU64,
}

struct StoredFile {
    modified: SystemTime,
    size: u64,
    path: PathBuf,
}

impl Folder {
    /// The folder need not exist.
    pub fn new(path: PathBuf, bounds: Bounds) -> Self {
        Self {
            path,
            bounds,
            // It is scanned before the first write.
            room: Mutex::new(Bounds { bytes: 0, files: 0 }),
            count: AtomicU64::new(0),
        }
    }

    /// Whether there is a file of this name.
    pub fn has(&self, name: &Name) -> bool {
        self.path.join(&name.0).is_file()
    }

    /// The content of a file, if there is one.
    pub fn read(&self, name: &Name) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(self.path.join(&name.0)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let now = SystemTime::now();
        let age = metadata
            .modified()
            .ok()
            .and_then(|then| now.duration_since(then).ok());
        if age.is_none_or(|age| age >= NOTE_INTERVAL) {
            // It may belong to another user. Then files are removed in a less suitable order.
            let _ = file.set_modified(now);
        }
        let mut content = Vec::with_capacity(metadata.len().min(LARGEST as u64) as usize);
        file.take(LARGEST as u64 + 1).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Writes a file, or replaces it.
    pub fn write(&self, name: &Name, content: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        self.make_room(content.len() as u64)?;
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let new = self.path.join(format!("{TEMPORARY}{}-{count}", process::id()));
        let written = write_whole(&new, content).and_then(|()| fs::rename(&new, self.path.join(&name.0)));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    fn make_room(&self, size: u64) -> io::Result<()> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if room.bytes < size || room.files < 1 {
            let free = Bounds {
                bytes: (self.bounds.bytes / 10).max(size),
                files: (self.bounds.files / 10).max(1),
            };
            self.sweep(free)?;
            *room = free;
        }
        room.bytes -= size;
        room.files -= 1;
        Ok(())
    }

    /// Removes the least recently used files until this much is free, and files that killed processes left.
    fn sweep(&self, free: Bounds) -> io::Result<()> {
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            // Another process may have removed it.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if Name::is_one(name) {
                entries.push(StoredFile {
                    modified,
                    size: metadata.len(),
                    path: entry.path(),
                });
            } else if name.starts_with(TEMPORARY)
                && now.duration_since(modified).is_ok_and(|age| age > LONGEST_WRITE)
            {
                remove(&entry.path())?;
            }
        }
        entries.sort_unstable_by_key(|entry| entry.modified);
        let mut bytes: u64 = entries.iter().map(|entry| entry.size).sum();
        let mut files = entries.len() as u64;
        for entry in &entries {
            if bytes + free.bytes <= self.bounds.bytes && files + free.files <= self.bounds.files {
                break;
            }
            remove(&entry.path)?;
            bytes -= entry.size;
            files -= 1;
        }
        Ok(())
    }
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    // A process that had the same id may have left a file of this name.
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    file.sync_data()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn name(number: usize) -> Name {
        Name::of(&Url::parse(&format!("http://example.com/{number}")).unwrap())
    }

    fn folder(path: &TempDir, bytes: u64, files: u64) -> Folder {
        Folder::new(path.path().join("not/there"), Bounds { bytes, files })
    }

    fn total(folder: &Folder) -> (u64, u64) {
        let entries = fs::read_dir(&folder.path).unwrap();
        let sizes = entries.map(|entry| entry.unwrap().metadata().unwrap().len());
        sizes.fold((0, 0), |(bytes, files), size| (bytes + size, files + 1))
    }

    /// Makes a file look as if it had been used this many hours ago.
    fn age(folder: &Folder, name: &Name, hours: u64) {
        let file = File::options()
            .write(true)
            .open(folder.path.join(&name.0))
            .unwrap();
        let then = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
        file.set_modified(then).unwrap();
    }

    #[test]
    fn what_was_written_is_read_also_by_the_next_process() {
        let path = TempDir::new().unwrap();
        let first = folder(&path, 1000, 10);
        assert_eq!(first.read(&name(1)).unwrap(), None);
        first.write(&name(1), b"one").unwrap();
        first.write(&name(1), b"other").unwrap();
        let second = folder(&path, 1000, 10);
        assert!(second.has(&name(1)) && !second.has(&name(2)));
        assert_eq!(second.read(&name(1)).unwrap().as_deref(), Some(&b"other"[..]));
        assert_eq!(total(&second), (5, 1), "nothing else is left");
    }

    #[test]
    fn the_bounds_are_never_exceeded() {
        for (bytes, files) in [(1000, 1_000_000), (1_000_000, 20), (90, 1)] {
            let path = TempDir::new().unwrap();
            let folder = folder(&path, bytes, files);
            for number in 0..100 {
                folder.write(&name(number), &[b'x'; 40]).unwrap();
                let (used, count) = total(&folder);
                assert!(used <= bytes && count <= files, "{used} bytes, {count} files");
                assert!(folder.has(&name(number)));
            }
        }
    }

    #[test]
    fn files_that_were_used_least_recently_go_first() {
        let path = TempDir::new().unwrap();
        let folder = folder(&path, 400, 100);
        for number in 0..4 {
            folder.write(&name(number), &[b'x'; 90]).unwrap();
            age(&folder, &name(number), 100 - number as u64);
        }
        // It is used now.
        folder.read(&name(0)).unwrap();
        folder.write(&name(4), &[b'x'; 90]).unwrap();
        let left: Vec<_> = (0..5).filter(|number| folder.has(&name(*number))).collect();
        assert_eq!(left, [0, 2, 3, 4]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_other_files_stay() {
        let path = TempDir::new().unwrap();
        let folder = folder(&path, 1000, 10);
        fs::create_dir_all(&folder.path).unwrap();
        let there = |name: &str| folder.path.join(name).exists();
        for (file, hours) in [(".new-7-7", 2), (".new-8-8", 0), ("notes.txt", 2)] {
            fs::write(folder.path.join(file), "x").unwrap();
            age(&folder, &Name(file.to_owned()), hours);
        }
        folder.write(&name(1), b"x").unwrap();
        assert!(!there(".new-7-7") && there(".new-8-8") && there("notes.txt"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let path = TempDir::new().unwrap();
        fs::write(path.path().join("not"), "a file").unwrap();
        let folder = folder(&path, 1000, 10);
        assert!(folder.write(&name(1), b"x").is_err());
        assert!(folder.read(&name(1)).is_err());
    }
}
