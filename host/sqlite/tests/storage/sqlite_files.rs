//! The file: it survives a restart, and is refused with a clear message if it cannot be used. (The tests of the running
//! service have more unusable files.)

use std::fs;

use portico_sqlite::SqliteStorage;
use portico_storage::AppFilter;
use portico_storage::driver::made_earlier;
use tempfile::TempDir;

use crate::store::{Store, app, places, user};

/// The error about a file that cannot be used.
fn refusal(path: &std::path::Path) -> String {
    let error = SqliteStorage::open(path).err().expect("the file is refused");
    let message = format!("{error:#}");
    assert!(
        message.contains(path.to_str().unwrap()),
        "{message:?} names the file"
    );
    message
}

async fn fill(store: &Store) {
    let mut writer = store.write().await;
    let apps: Vec<_> = (0..500)
        .map(|number| app(&format!("a{number}"), "name"))
        .collect();
    writer.insert_apps(&apps).await.unwrap();
    writer.insert_user(&user("u", "ann")).await.unwrap();
    writer.commit().await.unwrap();
}

#[tokio::test]
async fn committed_records_are_there_after_reopening() {
    let store = Store::sqlite();
    fill(&store).await;
    let store = store.reopened();
    let mut reader = store.read().await;
    assert_eq!(reader.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 500);
    assert_eq!(reader.get_user("u").await.unwrap().unwrap().name, "ann");
    assert_eq!(places(&store.path(), "u"), ["user_account.id"]);
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_one_file() {
    let store = Store::sqlite();
    fill(&store).await;
    assert_eq!(store.count_apps().await, 500);
    let directory = store.close();
    let files: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(files, ["portico.db"]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let store = Store::sqlite();
    fill(&store).await;
    let directory = store.path().parent().unwrap().to_owned();
    let files: Vec<_> = fs::read_dir(directory).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 3, "the database, its log and its index: {files:?}");
    for file in files {
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{file:?}"
        );
    }
}

#[tokio::test]
async fn the_database_is_durable_and_strict() {
    let store = Store::sqlite();
    fill(&store).await;
    let database = rusqlite::Connection::open(store.path()).unwrap();
    let text = |sql: &str| {
        database
            .query_row(sql, [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!(text("PRAGMA journal_mode"), "wal");
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    let loose = "
        SELECT count(*) || '' FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT strict";
    assert_eq!(text(loose), "0");
    // Without an index on a column that refers to another table, every deletion there is slow.
    let slow = "
        SELECT coalesce(group_concat(child.name || '.' || fk.\"from\"), '')
        FROM pragma_table_list AS child, pragma_foreign_key_list(child.name) AS fk
        WHERE fk.seq = 0 AND NOT EXISTS (
            SELECT 1 FROM pragma_index_list(child.name) AS idx, pragma_index_info(idx.name) AS col
            WHERE col.seqno = 0 AND col.name = fk.\"from\"
        )";
    assert_eq!(text(slow), "");
}

#[tokio::test]
async fn a_database_of_an_earlier_build_is_refused_with_what_to_do() {
    let store = Store::sqlite();
    fill(&store).await;
    let directory = store.close();
    let path = directory.path().join("portico.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 11)
        .unwrap();
    let message = refusal(&path);
    assert!(message.ends_with(&made_earlier(11)), "{message}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("portico.db");
    for garbage in [vec![0xA5; 10_000], b"hello".to_vec(), vec![0; 4096]] {
        fs::write(&path, &garbage).unwrap();
        let message = refusal(&path);
        assert!(message.contains("not a database"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), garbage, "it was left alone");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let directory = TempDir::new().unwrap();
    let message = refusal(&directory.path().join("missing").join("portico.db"));
    assert!(message.contains("No such file"), "{message}");
    let message = refusal(directory.path());
    assert!(!message.is_empty());
}

/// A killed first start leaves such files.
#[tokio::test]
async fn an_interrupted_first_start_is_repeated() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("portico.db");
    for left_over in ["", "half a database"] {
        fs::write(directory.path().join("portico.db.new"), left_over).unwrap();
        fs::write(directory.path().join("portico.db.new-wal"), left_over).unwrap();
        drop(SqliteStorage::open(&path).unwrap());
        let files: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        assert_eq!(files, ["portico.db"]);
        fs::remove_file(&path).unwrap();
    }
}
