//! What the tests of backups and of restores share.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use portico_sqlite::{Contents, Restored, backup, restore};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::store::{Store, app, user};

pub fn back_up(database: &Path, file: &Path) -> anyhow::Result<Contents> {
    backup(database, file, false, &mut |_| true)
}

pub fn put_back(file: &Path, database: &Path, replace: bool) -> anyhow::Result<Restored> {
    restore(file, database, replace, "MOMENT", &mut |_| true)
}

/// Asserts that it was refused, with these words.
#[track_caller]
pub fn refused<T>(outcome: anyhow::Result<T>, words: &[&str]) {
    let error = outcome.err().expect("a refusal");
    let message = format!("{error:#}");
    for word in words {
        assert!(message.contains(word), "{word} is not in: {message}");
    }
}

/// Every file in a folder, with its contents.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                fs::read(file.path()).unwrap(),
            )
        })
        .collect()
}

pub fn names(folder: &Path) -> Vec<String> {
    files(folder).into_keys().collect()
}

pub fn apps(database: &Path) -> i64 {
    let database = Connection::open(database).unwrap();
    let check: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    database
        .query_row("SELECT count(*) FROM app", [], |row| row.get(0))
        .unwrap()
}

/// A closed database with this many apps, and one user with a session.
pub async fn database(count: usize) -> (TempDir, PathBuf) {
    let store = Store::sqlite();
    add(&store, "a", count).await;
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    writer.commit().await.unwrap();
    let folder = store.close();
    let path = folder.path().join("portico.db");
    let session = "
        INSERT INTO session (id, token_hash, user_id, created_at, expires_at, last_used_at, ends_at)
        VALUES ('s', x'00', 'u', 0, 9999999999999, 0, 9999999999999)";
    Connection::open(&path).unwrap().execute(session, []).unwrap();
    (folder, path)
}

pub async fn add(store: &Store, prefix: &str, count: usize) {
    let apps: Vec<_> = (0..count)
        .map(|number| app(&format!("{prefix}{number}"), "name"))
        .collect();
    let mut writer = store.write().await;
    writer.insert_apps(&apps).await.unwrap();
    writer.commit().await.unwrap();
}
