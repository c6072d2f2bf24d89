//! What the operator can do when the disk refuses a write.

use std::io::{self, ErrorKind};

use rustix::process::{Resource, getrlimit};

/// Advice for a file on a full disk.
pub(super) const FULL: &str = "the disk that holds it is full; free some space";

/// Advice if the size of files is limited. SQLite reports that limit and a failing disk as the same error.
pub(super) const LIMITED: &str = "it reaches the largest size that this process may write (`ulimit -f`; \
    LimitFSIZE= of systemd), so raise that limit; or its disk is full or fails: the log of the system says more";

/// The size of the largest file that this process may write; `None` if there is no limit.
pub(super) fn size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// What to do about a file that could not be written, if something can be done.
pub fn advice(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::StorageFull => FULL,
        ErrorKind::FileTooLarge => {
            "it reaches the largest size that this process may write (`ulimit -f`; LimitFSIZE= of systemd); raise \
             that limit"
        }
        ErrorKind::QuotaExceeded => "the quota of its disk is used up; free some space",
        ErrorKind::ReadOnlyFilesystem => "its file system is mounted read-only; mount it writable",
        ErrorKind::NotADirectory => "a part of its path is a file, and no folder",
        ErrorKind::PermissionDenied => "it may not be written; check its owner and permissions",
        _ => return None,
    })
}
