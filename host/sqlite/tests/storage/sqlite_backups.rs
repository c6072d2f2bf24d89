//! Copies of the database: each is one state, complete, and replaces a file only if told to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use portico_sqlite::{Step, backup};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::copies::{add, apps, back_up, database, files, names, refused};
use crate::store::Store;

#[tokio::test]
async fn a_copy_is_one_state_while_others_write() {
    let store = Store::sqlite();
    add(&store, "a", 30_000).await;
    let other = Connection::open(store.path()).unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    let mut steps = 0;
    let contents = backup(&store.path(), &file, false, &mut |step| {
        if matches!(step, Step::Copying(..)) {
            // At the front of the database, which is copied already, and at its end, which is not.
            let change = "BEGIN; DELETE FROM app WHERE id IN (SELECT id FROM app ORDER BY rowid LIMIT 10);
                          UPDATE app SET description = 'later' WHERE rowid > 29000; COMMIT";
            other.execute_batch(change).unwrap();
            steps += 1;
        }
        true
    });
    assert!(
        steps > 1,
        "it was copied in one step: nothing was written meanwhile"
    );
    assert_eq!(contents.unwrap().apps, 30_000);
    assert_eq!(apps(&file), 30_000);
    let copy = Connection::open(&file).unwrap();
    let later = "SELECT count(*) FROM app WHERE description = 'later'";
    assert_eq!(copy.query_row(later, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(apps(&store.path()), 30_000 - 10 * steps);
}

#[tokio::test]
async fn a_copy_is_one_file_for_its_owner_and_the_database_is_as_before() {
    let (home, path) = database(100).await;
    // A thread of the storage may be the last to close it.
    let began = Instant::now();
    while names(home.path()) != ["portico.db"] {
        assert!(began.elapsed() < Duration::from_secs(60), "it stays open");
        thread::yield_now();
    }
    let before = files(home.path());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    let contents = back_up(&path, &file).unwrap();
    assert_eq!((contents.users, contents.apps), (1, 100));
    assert_eq!(contents.refused, None);
    assert_eq!(contents.bytes, fs::metadata(&file).unwrap().len());
    assert_eq!(names(folder.path()), ["copy.db"]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Bytes 18 and 19 say whether the file uses a write-ahead log.
    assert_eq!(fs::read(&file).unwrap()[18..20], [1, 1]);
    assert!(files(home.path()) == before, "{:?}", names(home.path()));
}

#[tokio::test]
async fn a_copy_includes_the_log_of_a_killed_host() {
    let store = Store::sqlite();
    add(&store, "a", 10).await;
    // As a killed host leaves it: the file and its log.
    let killed = TempDir::new().unwrap();
    for (name, bytes) in files(store.path().parent().unwrap()) {
        if !name.ends_with("-shm") {
            fs::write(killed.path().join(name), bytes).unwrap();
        }
    }
    assert_eq!(names(killed.path()), ["portico.db", "portico.db-wal"]);
    let file = killed.path().join("copy.db");
    assert_eq!(
        back_up(&killed.path().join("portico.db"), &file).unwrap().apps,
        10
    );
}

#[tokio::test]
async fn a_copy_replaces_no_file_without_overwrite() {
    let (home, path) = database(10).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    fs::write(&file, "precious").unwrap();
    refused(back_up(&path, &file), &["copy.db already exists", "--force"]);
    // Another process creates the file while the copy is made.
    fs::remove_file(&file).unwrap();
    let late = backup(&path, &file, false, &mut |_| {
        fs::write(&file, "precious").unwrap();
        true
    });
    refused(late, &["copy.db already exists"]);
    assert_eq!(
        files(folder.path()),
        BTreeMap::from([("copy.db".into(), b"precious".to_vec())])
    );
    backup(&path, &file, true, &mut |_| true).unwrap();
    assert_eq!(apps(&file), 10);

    refused(back_up(&path, folder.path()), &["is a folder"]);
    refused(
        back_up(&path, &folder.path().join("no/copy.db")),
        &["does not exist", "create it"],
    );
    for folder in ["cache", "icons"] {
        let own = backup(&path, &home.path().join(folder), true, &mut |_| true);
        refused(own, &["belongs to the data directory"]);
    }
    fs::create_dir_all(home.path().join("icons/pictures")).unwrap();
    for name in ["portico.db", "portico.db-wal", "lock", "icons/pictures/copy.db"] {
        let own = backup(&path, &home.path().join(name), true, &mut |_| true);
        refused(own, &["belongs to the data directory"]);
    }
    assert_eq!(apps(&path), 10);
}

#[tokio::test]
async fn a_copy_that_is_interrupted_leaves_nothing() {
    let (_home, path) = database(10).await;
    let folder = TempDir::new().unwrap();
    for last in [0, 1] {
        let mut steps = 0;
        let outcome = backup(&path, &folder.path().join("copy.db"), false, &mut |_| {
            steps += 1;
            steps <= last
        });
        refused(outcome, &["interrupted"]);
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
