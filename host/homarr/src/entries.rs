//! Which file in a folder or an archive is Homarr's database, and the folder itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

/// The name of Homarr's database.
pub(crate) const DATABASE: &str = "db.sqlite";
/// What macOS adds to each ZIP: files of the same names that hold no data.
const OF_MACOS: &str = "__MACOSX";
/// How deep folders are looked into, and how many files and folders are looked at.
const DEEPEST: usize = 6;
const MOST_ENTRIES: usize = 20_000;

/// The only database among the files with these paths. Their parts are separated by `/`.
pub(crate) fn only_database<'a>(paths: impl IntoIterator<Item = &'a str>) -> anyhow::Result<&'a str> {
    let is_database = |path: &&str| {
        let mut parts = path.rsplit(['/', '\\']);
        parts.next() == Some(DATABASE) && !parts.any(|part| part == OF_MACOS)
    };
    let found: Vec<&str> = paths.into_iter().filter(is_database).take(3).collect();
    match found[..] {
        [] => bail!(
            "there is no {DATABASE} in it: give the backup that Homarr exports (Manage, Tools, Backup), or {DATABASE} from \
             the folder db in Homarr's data folder"
        ),
        [path] => Ok(path),
        [one, two, ..] => bail!(
            "there are several databases in it, such as {one:?} and {two:?}: give the one that is to be imported"
        ),
    }
}

/// The only database in a folder.
pub(crate) fn database_in(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut paths = Vec::new();
    let mut count = 0;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
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
            } else if kind.is_file() && entry.file_name() == DATABASE {
                paths.push(entry.path());
            }
        }
    }
    paths.sort();
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let found = only_database(shown.iter().map(String::as_str))?;
    let place = shown.iter().position(|path| path == found);
    place
        .map(|place| paths.swap_remove(place))
        .context("the database is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(only_database(paths.iter().copied()).unwrap(), found);
        }
        let refused = |paths: &[&'static str]| only_database(paths.iter().copied()).unwrap_err().to_string();
        assert!(refused(&["a/x", "xdb.sqlite"]).contains("there is no db.sqlite in it"));
        assert!(refused(&["a/db.sqlite", "b/db.sqlite"]).contains("several databases"));
    }
}
