//! Putting a copy in the place of a database: only a sound database of Portico is accepted, and the old one stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use portico_sqlite::{Restored, SqliteStorage, backup, restore};
use portico_storage::driver::made_earlier;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::copies::{add, apps, back_up, database, files, names, put_back, refused};
use crate::store::Store;

/// Restores a file that may have been made so that reading it never ends.
#[track_caller]
fn put_back_what_may_be_endless(file: &Path, database: &Path) -> anyhow::Result<Restored> {
    let (sender, done) = mpsc::channel();
    let (file, database) = (file.to_owned(), database.to_owned());
    thread::spawn(move || sender.send(put_back(&file, &database, true)));
    let done = done.recv_timeout(Duration::from_secs(60));
    done.expect("it ends")
}

#[tokio::test]
async fn a_damaged_or_foreign_database_is_neither_copied_nor_restored() {
    let (home, path) = database(2000).await;
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("bad.db");
    let sound = fs::read(&path).unwrap();
    let target = home.path().join("portico.db");
    let both = |words: &[&str]| {
        refused(back_up(&bad, &folder.path().join("copy.db")), words);
        refused(put_back(&bad, &target, true), words);
        assert!(!folder.path().join("copy.db").exists());
        assert!(fs::read(&target).unwrap() == sound, "the database was touched");
        assert_eq!(names(home.path()), ["portico.db"]);
    };
    Connection::open(&bad)
        .unwrap()
        .execute_batch("CREATE TABLE user (id TEXT)")
        .unwrap();
    both(&["not a Portico database"]);

    let mut damaged = sound.clone();
    let middle = damaged.len() / 2 / 4096 * 4096;
    damaged[middle..middle + 4096].fill(0xA5);
    fs::write(&bad, &damaged).unwrap();
    both(&["damaged"]);
    fs::write(&bad, &sound[..sound.len() / 2]).unwrap();
    both(&["damaged"]);

    fs::write(&bad, &sound).unwrap();
    let torn = Connection::open(&bad).unwrap();
    torn.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO board_user (board_id, user_id) VALUES ('b', 'u')",
    )
    .unwrap();
    torn.close().unwrap();
    both(&["damaged", "board_user refers to a missing record of board"]);

    for text in [
        "",
        "SQLite format 3",
        "some text that is long enough to be something",
    ] {
        fs::write(&bad, text).unwrap();
        refused(put_back(&bad, &target, true), &["bad.db", "not a database"]);
    }
    refused(put_back(folder.path(), &target, true), &["folder"]);
    refused(
        put_back(&folder.path().join("none.db"), &target, true),
        &["none.db", "No such file"],
    );
    refused(put_back(&target, &target, true), &["the database itself"]);
    assert!(fs::read(&target).unwrap() == sound);
}

#[tokio::test]
async fn a_copy_with_a_text_that_is_not_utf_8_is_not_restored() {
    let (home, path) = database(10).await;
    let sound = fs::read(&path).unwrap();
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("bad.db");
    fs::copy(&path, &bad).unwrap();
    let other = Connection::open(&bad).unwrap();
    other
        .execute("UPDATE app SET description = CAST(x'6361669900' AS TEXT)", [])
        .unwrap();
    other.close().unwrap();
    let words = "app.description holds a text that is not UTF-8";
    refused(put_back(&bad, &path, true), &["damaged", words]);
    assert!(fs::read(&path).unwrap() == sound, "the database was touched");
    assert_eq!(names(home.path()), ["portico.db"]);
    // It can be copied, with a warning, so that its data may still be rescued.
    let copied = back_up(&bad, &folder.path().join("copy.db")).unwrap();
    assert!(copied.refused.is_some_and(|refused| refused.contains(words)));
}

#[tokio::test]
async fn a_copy_of_a_newer_version_is_not_restored() {
    let (home, path) = database(10).await;
    let folder = TempDir::new().unwrap();
    let newer = folder.path().join("newer.db");
    fs::copy(&path, &newer).unwrap();
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 1000)
        .unwrap();
    // It can be copied: a copy does not depend on the versions that this binary knows.
    let copy = folder.path().join("copy.db");
    assert_eq!(back_up(&newer, &copy).unwrap().version, 1000);
    refused(put_back(&copy, &path, true), &["version 1000", "newer portico"]);
    assert_eq!(names(home.path()), ["portico.db"]);
}

#[tokio::test]
async fn a_copy_of_an_earlier_build_is_neither_made_nor_restored() {
    let (home, path) = database(10).await;
    let folder = TempDir::new().unwrap();
    let earlier = folder.path().join("earlier.db");
    fs::copy(&path, &earlier).unwrap();
    Connection::open(&earlier)
        .unwrap()
        .pragma_update(None, "user_version", 11)
        .unwrap();
    let words = made_earlier(11);
    refused(back_up(&earlier, &folder.path().join("copy.db")), &[&words]);
    refused(put_back(&earlier, &path, true), &[&words]);
    assert_eq!(names(home.path()), ["portico.db"]);
    assert!(!folder.path().join("copy.db").exists());
}

const ENDLESS: &str = "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
    SELECT x FROM n)";

#[tokio::test]
async fn a_copy_that_another_program_changed_is_not_restored() {
    let (home, path) = database(10).await;
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("copy.db");
    let before = fs::read(&path).unwrap();
    let endless_trigger =
        |event: &str| format!("CREATE TRIGGER evil {event} BEGIN SELECT 1 WHERE ({ENDLESS}) > 0; END");
    let check = "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'outcome        TEXT NOT NULL',
            'outcome        TEXT NOT NULL CHECK (length(hex(zeroblob(40000000))) > 0)') WHERE name = 'audit'";
    for (change, words) in [
        ("DROP INDEX app_by_name", ["\"app_by_name\" is missing", "backup"]),
        ("DROP TABLE audit", ["is missing", "; and "]),
        (
            "DROP TRIGGER audit_is_append_only",
            ["\"audit_is_append_only\" is missing", "trigger"],
        ),
        (
            "CREATE TRIGGER evil AFTER INSERT ON user_account BEGIN
                 INSERT INTO group_member (user_id, group_id) SELECT new.id, id FROM user_group; END",
            ["the trigger \"evil\" is not one of Portico's", "another program"],
        ),
        (
            &endless_trigger("AFTER DELETE ON session"),
            ["\"evil\"", "trigger"],
        ),
        (
            &endless_trigger("BEFORE INSERT ON audit"),
            ["\"evil\"", "trigger"],
        ),
        (
            &format!("CREATE VIEW evil AS {ENDLESS}"),
            ["the view \"evil\"", "not one of Portico's"],
        ),
        (
            "ALTER TABLE app ADD COLUMN more TEXT AS (hex(zeroblob(40000000)))",
            ["the table \"app\" is defined differently", "backup"],
        ),
        (check, ["the table \"audit\" is defined differently", "backup"]),
        (
            "CREATE UNIQUE INDEX evil ON app (name, id)",
            ["the index \"evil\"", "not one of Portico's"],
        ),
        (
            "CREATE TABLE \"a\u{1b}[2J\" (x)",
            ["\"a\\u{1b}[2J\"", "not one of Portico's"],
        ),
        ("PRAGMA user_version = 0", ["not those of version 0", "backup"]),
        ("PRAGMA user_version = -1", ["negative", "version"]),
    ] {
        fs::write(&copy, &before).unwrap();
        Connection::open(&copy).unwrap().execute_batch(change).unwrap();
        refused(put_back_what_may_be_endless(&copy, &path), &words);
        // The operator learns this when the copy is made, not when it is needed.
        if change.starts_with("DROP INDEX") || change.contains("group_member") {
            let again = folder.path().join("again.db");
            let refused = backup(&copy, &again, true, &mut |_| true).unwrap().refused;
            assert!(refused.unwrap().contains(words[0]), "{change}");
        }
        assert!(
            fs::read(&path).unwrap() == before,
            "{change}: the database was touched"
        );
        assert_eq!(names(home.path()), ["portico.db"], "{change}");
    }
}

/// Makes a file whose schema takes forever to read: each page of its tree refers to the next sixty times.
fn make_endless_schema(file: &Path) {
    const PAGE: usize = 512;
    const LEVELS: u32 = 8;
    let database = Connection::open(file).unwrap();
    database
        .execute_batch(
            "PRAGMA page_size = 512; PRAGMA application_id = 0x50727463; PRAGMA user_version = 1;
             CREATE TABLE t (a TEXT UNIQUE)",
        )
        .unwrap();
    database.close().unwrap();
    let mut bytes = fs::read(file).unwrap();
    // The table, its root and that of its index.
    assert_eq!(bytes.len(), 3 * PAGE);
    let schema = bytes[..PAGE].to_vec();
    // A leaf with one of the two entries of the schema.
    let leaf = |pointer: &[u8]| {
        let mut page = schema.clone();
        page[..8].copy_from_slice(&[13, 0, 0, 0, 1, schema[105], schema[106], 0]);
        page[8..10].copy_from_slice(pointer);
        page
    };
    let inner = |children: &[u32], at: usize| {
        let mut page = vec![0; PAGE];
        let (last, others) = children.split_last().unwrap();
        let start = PAGE - 5 * others.len();
        page[at] = 5;
        page[at + 3..at + 5].copy_from_slice(&(others.len() as u16).to_be_bytes());
        page[at + 5..at + 7].copy_from_slice(&(start as u16).to_be_bytes());
        page[at + 8..at + 12].copy_from_slice(&last.to_be_bytes());
        for (number, child) in others.iter().enumerate() {
            let cell = start + 5 * number;
            page[at + 12 + 2 * number..][..2].copy_from_slice(&(cell as u16).to_be_bytes());
            page[cell..cell + 4].copy_from_slice(&child.to_be_bytes());
            page[cell + 4] = 1;
        }
        page
    };
    // Page 4 has the table, page 5 its index; from page 6 on each leads to the next, the last to page 5.
    bytes.extend(leaf(&schema[108..110]));
    bytes.extend(leaf(&schema[110..112]));
    for level in 0..LEVELS {
        let next = if level + 1 < LEVELS { 7 + level } else { 5 };
        bytes.extend(inner(&[next; 60], 0));
    }
    bytes[100..PAGE].copy_from_slice(&inner(&[4, 6], 100)[100..]);
    let pages = (bytes.len() / PAGE) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_file_with_an_endless_schema_is_refused_after_a_while() {
    let (home, path) = database(1).await;
    let folder = TempDir::new().unwrap();
    let endless = folder.path().join("endless.db");
    make_endless_schema(&endless);
    refused(
        put_back_what_may_be_endless(&endless, &path),
        &["endless.db", "takes too long"],
    );
    assert_eq!(names(home.path()), ["portico.db"]);
}

#[tokio::test]
async fn a_restore_leaves_out_the_sessions_of_the_copy() {
    let (_home, path) = database(100).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    back_up(&path, &file).unwrap();
    let home = TempDir::new().unwrap();
    let target = home.path().join("portico.db");
    let restored = put_back(&file, &target, false).unwrap();
    assert_eq!((restored.contents.apps, restored.sessions), (100, 1));
    assert_eq!(restored.kept, None);
    assert_eq!(names(home.path()), ["portico.db"]);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(apps(&target), 100);
    let sessions = Connection::open(&target)
        .unwrap()
        .query_row("SELECT count(*) FROM session", [], |row| row.get(0));
    assert_eq!(sessions, Ok(0));
    SqliteStorage::open(&target).unwrap();
}

#[tokio::test]
async fn a_database_is_replaced_only_with_replace_and_kept_with_its_log() {
    let (_home, path) = database(5).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    back_up(&path, &file).unwrap();

    let store = Store::sqlite();
    add(&store, "old", 70).await;
    // As a killed host leaves it.
    let home = TempDir::new().unwrap();
    for (name, bytes) in files(store.path().parent().unwrap()) {
        fs::write(home.path().join(name), bytes).unwrap();
    }
    let target = home.path().join("portico.db");
    let before = files(home.path());
    assert!(before["portico.db-wal"].len() > 4096);
    refused(
        put_back(&file, &target, false),
        &["a database already exists", "--data", "--force"],
    );
    assert!(files(home.path()) == before);

    let kept = put_back(&file, &target, true).unwrap().kept.unwrap();
    assert_eq!(
        names(home.path()),
        ["portico.db", "portico.db.before-restore-MOMENT"]
    );
    assert_eq!((apps(&target), apps(&kept)), (5, 70));
    // Once more at the same moment: the old database that was set aside stays.
    let second = put_back(&file, &target, true).unwrap().kept.unwrap();
    assert_eq!((apps(&target), apps(&kept), apps(&second)), (5, 70, 5));
    // And back again.
    put_back(&kept, &target, true).unwrap();
    assert_eq!(apps(&target), 70);
}

#[tokio::test]
async fn a_damaged_database_and_its_log_are_kept_as_they_are() {
    let (_home, path) = database(5).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    back_up(&path, &file).unwrap();
    for database in [Some("no database any more"), None] {
        let home = TempDir::new().unwrap();
        let target = home.path().join("portico.db");
        if let Some(text) = database {
            fs::write(&target, text).unwrap();
        }
        fs::write(home.path().join("portico.db-wal"), "a log").unwrap();
        fs::write(home.path().join("portico.db-journal"), "another kind of log").unwrap();
        refused(put_back(&file, &target, false), &["--force"]);
        put_back(&file, &target, true).unwrap();
        let after = files(home.path());
        assert_eq!(after["portico.db.before-restore-MOMENT-wal"], b"a log");
        let kept = after
            .get("portico.db.before-restore-MOMENT")
            .map(|bytes| &bytes[..]);
        assert_eq!(kept, database.map(str::as_bytes));
        for log in ["portico.db-wal", "portico.db-journal"] {
            assert!(!after.contains_key(log), "{:?}", names(home.path()));
        }
        assert_eq!(apps(&target), 5);
    }
}

#[tokio::test]
async fn a_database_that_another_program_has_open_is_not_replaced() {
    let (_home, path) = database(5).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    back_up(&path, &file).unwrap();
    let store = Store::sqlite();
    add(&store, "old", 7).await;
    assert_eq!(store.count_apps().await, 7);
    refused(
        put_back(&file, &store.path(), true),
        &["another program has it open"],
    );
    add(&store, "more", 1).await;
    assert_eq!(store.count_apps().await, 8);
    let folder = store.close();
    assert_eq!(apps(&folder.path().join("portico.db")), 8);
}

/// Left-over files of an interrupted restore do not prevent the next one.
#[tokio::test]
async fn an_interrupted_restore_changes_nothing_and_can_be_repeated() {
    let (home, path) = database(5).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("copy.db");
    back_up(&path, &file).unwrap();
    let before = files(home.path());
    let stopped = restore(&file, &path, true, "MOMENT", &mut |_| false);
    refused(stopped, &["interrupted"]);
    assert!(files(home.path()) == before);
    for left_over in [
        "portico.db.restoring",
        "portico.db.restoring-wal",
        "portico.db.setting-aside",
    ] {
        fs::write(home.path().join(left_over), "half a database").unwrap();
    }
    put_back(&file, &path, true).unwrap();
    assert_eq!(
        names(home.path()),
        ["portico.db", "portico.db.before-restore-MOMENT"]
    );
    assert_eq!(apps(&path), 5);
}
