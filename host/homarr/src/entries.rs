//! Which file in a folder or an archive is Homarr's database, and the folder itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::kinds::{beginning, refuse_dump};
use crate::limits::other_edition;

/// The name of Homarr's database.
pub(crate) const DATABASE: &str = "db.sqlite";
/// What macOS adds to each ZIP: files of the same names that hold no data.
const OF_MACOS: &str = "__MACOSX";
/// How deep folders are looked into, and how many files and folders are looked at.
const DEEPEST: usize = 6;
const MOST_ENTRIES: usize = 20_000;

/// How many files are looked into to say what there is instead of a database.
pub(crate) const MOST_LOOKED_INTO: usize = 20;

/// The only database among the files with these paths. Their parts are separated by `/`. If there is none, `start_of`
/// returns how a file begins, so that the refusal says what there is instead.
pub(crate) fn only_database<'a>(
    paths: impl IntoIterator<Item = &'a str>,
    start_of: impl FnMut(&str) -> Option<Vec<u8>>,
) -> anyhow::Result<&'a str> {
    let is_database = |path: &&str| {
        let mut parts = path.rsplit(['/', '\\']);
        parts.next() == Some(DATABASE) && !parts.any(|part| part == OF_MACOS)
    };
    let paths: Vec<&str> = paths.into_iter().collect();
    let found: Vec<&str> = paths.iter().copied().filter(is_database).take(3).collect();
    match found[..] {
        [] => {
            refuse_other_forms(&paths, start_of)?;
            bail!(
                "there is no {DATABASE} in it: give the backup that Homarr exports (Manage, Tools, Backup), or {DATABASE} \
                 from the folder db in Homarr's data folder"
            )
        }
        [path] => Ok(path),
        [one, two, ..] => bail!(
            "there are several databases in it, such as {one:?} and {two:?}: give the one that is to be imported"
        ),
    }
}

/// Whether a file may be a dump, by its name.
pub(crate) fn may_be_dump(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".sql", ".json", ".dump", ".gz"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Whether a file shows that others are of a server or its dump: the name of Homarr's edition.
fn edition_of(path: &str) -> Option<&'static str> {
    match path.rsplit(['/', '\\']).next()? {
        // `pg_dump` as a folder or a tar, and the server's own folder.
        "toc.dat" | "PG_VERSION" => Some("PostgreSQL"),
        "ibdata1" => Some("MySQL"),
        _ => None,
    }
}

/// Refuses files among which are Homarr's data in a form that is not read.
fn refuse_other_forms(
    paths: &[&str],
    mut start_of: impl FnMut(&str) -> Option<Vec<u8>>,
) -> anyhow::Result<()> {
    if let Some(edition) = paths.iter().find_map(|path| edition_of(path)) {
        bail!(other_edition(edition));
    }
    let dumps = paths.iter().filter(|path| may_be_dump(path));
    for path in dumps.take(MOST_LOOKED_INTO) {
        if let Some(start) = start_of(path) {
            refuse_dump(&start)?;
        }
    }
    Ok(())
}

/// The only database in a folder. Folders in it that belong to others are skipped, as that of Homarr's Redis may.
pub(crate) fn database_in(folder: &Path) -> anyhow::Result<PathBuf> {
    database_below(folder, |folder| fs::read_dir(folder))
}

fn database_below(folder: &Path, list: impl Fn(&Path) -> io::Result<fs::ReadDir>) -> anyhow::Result<PathBuf> {
    let mut paths = Vec::new();
    let mut count = 0;
    let mut unreadable = None;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                let error = anyhow::Error::new(error).context(format!("{} cannot be read", folder.display()));
                if depth == 0 {
                    return Err(error);
                }
                unreadable.get_or_insert(error);
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            count += 1;
            ensure!(
                count <= MOST_ENTRIES,
                "it has more than {MOST_ENTRIES} files: give the file {DATABASE} itself"
            );
            // Of a link, this is the kind of the link: links are not followed.
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < DEEPEST {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name == DATABASE || may_be_dump(&name) || edition_of(&name).is_some() {
                    paths.push(entry.path());
                }
            }
        }
    }
    paths.sort();
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let start_of = |path: &str| beginning(File::open(path).ok()?).ok();
    let found = match (
        only_database(shown.iter().map(String::as_str), start_of),
        unreadable,
    ) {
        (Err(_), Some(unreadable))
            if paths
                .iter()
                .all(|path| path.file_name() != Some(DATABASE.as_ref())) =>
        {
            return Err(unreadable);
        }
        (found, _) => found?,
    };
    let place = shown.iter().position(|path| path == found);
    place
        .map(|place| paths.swap_remove(place))
        .context("the database is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_others_is_skipped_and_named_only_if_there_is_no_database() {
        let data = tempfile::tempdir().unwrap();
        let (db, redis) = (data.path().join("db"), data.path().join("redis"));
        for folder in [&db, &redis] {
            fs::create_dir(folder).unwrap();
        }
        let found = || {
            database_below(data.path(), |folder| match folder == redis {
                true => Err(io::ErrorKind::PermissionDenied.into()),
                false => fs::read_dir(folder),
            })
        };
        let refused = found().unwrap_err().to_string();
        assert!(refused.ends_with("redis cannot be read"), "{refused}");
        fs::write(db.join(DATABASE), "").unwrap();
        assert_eq!(found().unwrap(), db.join(DATABASE));
        let denied = database_below(data.path(), |_| Err(io::ErrorKind::PermissionDenied.into()));
        assert!(denied.unwrap_err().to_string().ends_with("cannot be read"));
    }

    #[test]
    fn a_database_is_found_wherever_it_is_and_two_are_refused() {
        for (paths, found) in [
            (&["db.sqlite", "metadata.json"][..], "db.sqlite"),
            (
                &[
                    "appdata/db/db.sqlite",
                    "__MACOSX/appdata/db/db.sqlite",
                    "appdata/db/._db.sqlite",
                ][..],
                "appdata/db/db.sqlite",
            ),
            (
                &["a/db.sqlite-wal", "./a/db.sqlite", "db.sqlite.bak"][..],
                "./a/db.sqlite",
            ),
        ] {
            assert_eq!(only_database(paths.iter().copied(), |_| None).unwrap(), found);
        }
        let start_of = |path: &str| Some(format!("-- MySQL dump of {path}").into_bytes());
        let refused = |paths: &[&'static str]| {
            let refused = only_database(paths.iter().copied(), start_of);
            refused.unwrap_err().to_string()
        };
        assert!(refused(&["a/x", "xdb.sqlite"]).contains("there is no db.sqlite in it"));
        assert!(refused(&["a/db.sqlite", "b/db.sqlite", "a.sql"]).contains("several databases"));
        for path in ["a/homarr.SQL", "a/homarr.sql.gz", "db/ibdata1"] {
            assert!(
                refused(&["readme.txt", path]).contains("edition for MySQL"),
                "{path}"
            );
        }
        for path in ["dump/toc.dat", "data\\PG_VERSION"] {
            assert!(refused(&[path]).contains("edition for PostgreSQL"), "{path}");
        }
    }
}
