//! What to do about disks that do not take what is written.

use std::io::{self, ErrorKind};

use rustix::process::{Resource, getrlimit};

/// The file named before stands on a full disk.
pub const FULL: &str = "the disk that holds it is full; free some space";

/// Under a limit on the size of files, SQLite does not tell that limit from a disk that fails.
pub const LIMITED: &str = "it reaches the largest size that this process may write (`ulimit -f`; \
    LimitFSIZE= of systemd), so raise that limit; or its disk is full or fails: the log of the system says more";

/// How large a file this process may write; none if there is no limit.
pub fn size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// What to do about an error of a file that was to be written, if something can be done.
pub fn advice(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::StorageFull => FULL,
        ErrorKind::FileTooLarge => {
            "it reaches the largest size that this process may write (`ulimit -f`; LimitFSIZE= of systemd); raise \
             that limit"
        }
        ErrorKind::QuotaExceeded => "the quota of its disk is used up; free some space",
        ErrorKind::ReadOnlyFilesystem => "its file system is mounted read-only; mount it writable",
        ErrorKind::PermissionDenied => "it may not be written; see to its owner and permissions",
        _ => return None,
    })
}
