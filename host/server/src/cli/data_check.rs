//! Whether a host can work in a data directory, without touching it.

use std::{path::Path, time::SystemTime};

use rustix::fs::{Access, access, statvfs};

use super::doctor::Finding::{self, Bad, Doubtful, Good};

/// With less room than this, in bytes, a host soon refuses writes.
const LITTLE: u64 = 100 << 20;

pub fn check(data: &Path) -> Finding {
    let shown = data.display();
    if data.exists() && !data.is_dir() {
        return Bad(format!("{shown} is a file; --data needs a folder"));
    }
    let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let Some(there) = data.ancestors().find(|folder| folder.exists()) else {
        return Bad(format!(
            "{shown} cannot be looked for: choose another folder with --data"
        ));
    };
    if let Err(error) = access(there, Access::WRITE_OK | Access::EXEC_OK) {
        return Bad(format!(
            "this user may not write to {}: {error}: give it to the user that the host runs as, or choose another one \
             with --data",
            there.display()
        ));
    }
    let room = statvfs(there).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if room < LITTLE {
        return Doubtful(format!("only {} MiB are free for {shown}: make room", room >> 20));
    }
    if there != data {
        return Good(format!("{shown} is not there yet; the host creates it"));
    }
    if is_from_the_future(&data) {
        return Doubtful(format!(
            "files in {shown} are from the future: the clock of this machine went back, or was wrong before"
        ));
    }
    Good(format!("{shown} can be written, and {} MiB are free", room >> 20))
}

/// Whether a file was changed later than now.
fn is_from_the_future(data: &Path) -> bool {
    let now = SystemTime::now();
    let files = std::fs::read_dir(data).into_iter().flatten().flatten();
    let changed = files.filter_map(|file| file.metadata().ok()?.modified().ok());
    changed.into_iter().any(|changed| {
        changed
            .duration_since(now)
            .is_ok_and(|ahead| ahead.as_secs() > 60)
    })
}

#[cfg(test)]
mod tests {
    use std::{fs::File, time::Duration};

    use super::*;

    #[test]
    fn a_folder_is_good_whether_it_is_there_or_not_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(check(folder.path()), Good(text) if text.contains("can be written")));
        let later = folder.path().join("a/b");
        assert!(matches!(check(&later), Good(text) if text.contains("is not there yet")));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_and_files_from_the_future_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("portico.db");
        let written = File::create(&file).unwrap();
        assert!(matches!(check(&file), Bad(text) if text.contains("is a file")));
        written
            .set_modified(SystemTime::now() + Duration::from_secs(3600))
            .unwrap();
        assert!(matches!(check(folder.path()), Doubtful(text) if text.contains("from the future")));
    }
}
