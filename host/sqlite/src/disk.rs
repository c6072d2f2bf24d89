//! What to do about disks that do not take what is written.

use std::io::{self, ErrorKind};

/// The file named before stands on a full disk.
pub const FULL: &str = "the disk that holds it is full; free some space";

/// What to do about an error of a file that was to be written, if something can be done.
pub fn advice(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::StorageFull => FULL,
        ErrorKind::QuotaExceeded => "the quota of its disk is used up; free some space",
        ErrorKind::ReadOnlyFilesystem => "its file system is mounted read-only; mount it writable",
        ErrorKind::PermissionDenied => "it may not be written; see to its owner and permissions",
        _ => return None,
    })
}
