//! What goes wrong below the driver: commits that fail, disks that are full, connections that break.
//! These tests need the connections themselves; all others are in `tests/storage`.

mod blocking;
#[expect(dead_code, reason = "two of its records are for other tests")]
#[path = "../../../tests/support/records.rs"]
mod records;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, poll};
use rusqlite::{Connection, StatementStatus};
use tempfile::TempDir;
use tokio::time::timeout;

use super::batch::Deferred;
use super::database::open_file;
use super::migrations;
use super::statements::{self, run};
use super::writer::WritePermit;
use super::{Health, SqliteStorage, Writer, readers};
use portico_sql::Value;
use portico_storage::{Access, Authentication, CallContext, DashboardStorage, Error, Result};

struct Store {
    storage: SqliteStorage,
    directory: TempDir,
}

impl Store {
    async fn reader(&self) -> readers::Reader {
        self.storage.readers.take().await.unwrap()
    }
}

fn store() -> Store {
    let directory = TempDir::new().unwrap();
    let storage = SqliteStorage::open(&directory.path().join("portico.db")).unwrap();
    Store { storage, directory }
}

fn context() -> CallContext {
    CallContext {
        views_by_shares: false,
        user_id: None,
        authentication: Authentication::None,
        request_id: "test".into(),
        audit: None,
        new_token: None,
    }
}

fn insert(permit: &WritePermit, id: &str, icon_url: &str) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO app (id, name, name_key, icon_url) VALUES (?1, ?1, ?1, ?2)";
    run(permit.connection().unwrap(), sql, [id, icon_url])
}

/// A transaction that has written and waits for the batch's commit, and another that holds the permit.
async fn batch_of_two(writer: &Arc<Writer>) -> (BoxFuture<'static, Result<()>>, WritePermit) {
    let first = writer.begin().await.unwrap();
    insert(&first, "first", "icon").unwrap();
    let mut second = Box::pin(writer.begin());
    assert!(poll!(&mut second).is_pending());
    let mut first: BoxFuture<_> = Box::pin(first.commit());
    assert!(poll!(&mut first).is_pending());
    (first, second.await.unwrap())
}

/// The insertions of a transaction that only creates an app.
fn inserting(id: &'static str) -> Vec<Deferred> {
    let [into, ..] = portico_sql::inserts();
    let texts = [id, "", ""].map(Value::from).into_iter();
    let values = texts.chain([Value::Text(None), "".into(), Value::Text(None), Value::Text(None)]);
    vec![Deferred {
        into,
        rows: vec![values.collect()],
    }]
}

fn apps(store: &Store) -> Vec<String> {
    let database = Connection::open(store.directory.path().join("portico.db")).unwrap();
    let mut statement = database.prepare("SELECT id FROM app ORDER BY id").unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(|id| id.unwrap())
        .collect()
}

fn is_unavailable(result: &Result<()>) -> bool {
    matches!(result, Err(Error::Unavailable(_)))
}

/// The next transaction succeeds.
async fn assert_works(store: &Store) {
    let permit = store.storage.writer.begin().await.unwrap();
    insert(&permit, "after", "icon").unwrap();
    permit.commit().await.unwrap();
    assert_eq!(apps(store), ["after"]);
}

#[tokio::test]
async fn a_commit_that_fails_fails_every_member_and_nothing_else() {
    let store = store();
    let writer = &store.storage.writer;
    let (first, second) = batch_of_two(writer).await;
    insert(&second, "second", "icon").unwrap();
    // A breach that SQLite finds only in the outer COMMIT.
    let db = second.connection().unwrap();
    db.execute_batch("PRAGMA defer_foreign_keys = ON").unwrap();
    run(
        db,
        "INSERT INTO board_user (board_id, user_id) VALUES ('no', 'no')",
        [],
    )
    .unwrap();
    let second = second.commit().await;
    assert!(is_unavailable(&second), "{second:?}");
    let first = first.await;
    assert!(is_unavailable(&first), "{first:?}");
    assert_eq!(apps(&store), Vec::<String>::new());
    assert_works(&store).await;
}

#[tokio::test]
async fn a_full_disk_fails_the_batch_that_sqlite_rolled_back_and_nothing_else() {
    let store = store();
    let writer = &store.storage.writer;
    let (first, second) = batch_of_two(writer).await;
    let mut third = Box::pin(writer.begin());
    assert!(poll!(&mut third).is_pending());
    let db = second.connection().unwrap();
    let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
        .unwrap();
    // A table without triggers: a statement that may write many rows would be undone alone.
    let sql = "INSERT INTO user_group (id, name, name_key) VALUES ('second', ?1, 'second')";
    let error = run(db, sql, ["x".repeat(100_000)]).unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DiskFull));
    assert!(
        db.is_autocommit(),
        "SQLite rolled back the whole batch: what this test is about"
    );
    db.query_row("PRAGMA max_page_count = 1000000", [], |_| Ok(()))
        .unwrap();
    drop(second);

    // The first gets its result immediately, although a caller waits that could take over the batch.
    let first = timeout(Duration::from_secs(60), first).await.unwrap();
    assert!(is_unavailable(&first), "{first:?}");
    drop(third.await.unwrap());
    assert_eq!(apps(&store), Vec::<String>::new());
    assert_works(&store).await;
}

#[tokio::test]
async fn queued_transactions_are_no_part_of_a_batch_that_sqlite_rolled_back() {
    let store = store();
    let writer = &store.storage.writer;
    let (first, second) = batch_of_two(writer).await;
    let mut queued = Box::pin(writer.write(inserting("after")));
    assert!(poll!(&mut queued).is_pending());

    second.connection().unwrap().execute_batch("ROLLBACK").unwrap();
    drop(second);
    let first = first.await;
    assert!(is_unavailable(&first), "{first:?}");
    queued.await.unwrap();
    assert_eq!(apps(&store), ["after"]);
}

#[tokio::test]
async fn a_statement_after_a_full_disk_does_not_stand_alone() {
    let store = store();
    let set_limit = async |pages: i64| {
        let permit = store.storage.writer.begin().await.unwrap();
        let sql = format!("PRAGMA max_page_count = {pages}");
        permit
            .connection()
            .unwrap()
            .query_row(&sql, [], |_| Ok(()))
            .unwrap();
    };
    let context = context();

    // Below the current size: SQLite takes the current size.
    set_limit(1).await;
    let begin = store.storage.begin_dashboard(Access::Write, &context);
    let mut writer = begin.await.unwrap();
    writer.insert_group("1", "small", "small").await.unwrap();
    let full = writer.insert_group("2", &"x".repeat(100_000), "large").await;
    assert!(is_unavailable(&full.map(drop)));
    let after = writer.insert_group("3", "alone", "alone").await;
    assert!(is_unavailable(&after.map(drop)));
    let committed = writer.commit().await;
    assert!(is_unavailable(&committed), "{committed:?}");
    set_limit(1_000_000).await;
    let mut reader = store
        .storage
        .begin_dashboard(Access::Read, &context)
        .await
        .unwrap();
    assert_eq!(reader.list_groups().await.unwrap(), []);
    assert_works(&store).await;
}

/// A writer on this connection. Callers wait for its permit for at most this long.
fn writer_on(connection: Connection, path: PathBuf, patience: Duration) -> Arc<Writer> {
    let health = Arc::new(Health::new(path));
    let readers = Arc::new(readers::Readers::new(health.clone(), readers::MAX_SCANS));
    Arc::new(Writer::new(connection, health, readers, patience))
}

/// The same, for at most 50 ms.
fn impatient(connection: Connection, path: PathBuf) -> Arc<Writer> {
    writer_on(connection, path, Duration::from_millis(50))
}

#[tokio::test]
async fn waiting_for_the_permit_ends_after_a_while() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("any.db");
    let writer = impatient(Connection::open(&path).unwrap(), path);
    let permit = writer.begin().await.unwrap();
    let began = Instant::now();
    let late = writer.begin().await.map(drop);
    assert!(is_unavailable(&late), "{late:?}");
    assert!(began.elapsed() >= Duration::from_millis(50));
    drop(permit);
    writer.begin().await.unwrap().commit().await.unwrap();
}

#[tokio::test]
async fn a_transaction_that_is_queued_for_too_long_is_refused_and_does_not_run_later() {
    let store = store();
    let path = store.directory.path().join("portico.db");
    // Long enough for the start of the thread that commits what comes in time.
    let writer = writer_on(open_file(&path).unwrap(), path, Duration::from_secs(1));
    let permit = writer.begin().await.unwrap();
    let late = writer.write(inserting("late")).await;
    assert!(is_unavailable(&late), "{late:?}");
    drop(permit);
    writer.write(inserting("in time")).await.unwrap();
    assert_eq!(apps(&store), ["in time"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_after_a_short_one_runs_on_the_callers_thread() {
    // In memory if there is such a file system, because commits are short there.
    let directory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let storage = SqliteStorage::open(&directory.path().join("portico.db")).unwrap();
    let commit = async |id: String| {
        let permit = storage.writer.begin().await.unwrap();
        insert(&permit, &id, "icon").unwrap();
        permit.commit().await.unwrap();
    };
    let needs_no_other_thread = async {
        for round in 0.. {
            commit(format!("{round}, before")).await;
            // Its first poll finds it durable, unless the previous commit took long.
            let mut committed = Box::pin(commit(format!("{round}, alone")));
            if poll!(&mut committed).is_ready() {
                return;
            }
            committed.await;
        }
    };
    let ended = timeout(Duration::from_secs(60), needs_no_other_thread).await;
    ended.expect("every commit waited for another thread");
}

/// How often a connection has met a lock of another process.
static LOCKS_MET: AtomicUsize = AtomicUsize::new(0);

/// Waits for the lock for a moment only.
fn wait_a_moment(waits: i32) -> bool {
    if waits == 0 {
        LOCKS_MET.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
    }
    waits == 0
}

#[tokio::test]
async fn a_lock_of_another_process_answers_retry_and_all_that_are_queued_wait_for_it_once() {
    let store = store();
    let path = store.directory.path().join("portico.db");
    let mut connection = open_file(&path).unwrap();
    connection.busy_handler(Some(wait_a_moment)).unwrap();
    let writer = writer_on(connection, path.clone(), Duration::from_secs(60));
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writers = ["a", "b", "c", "d", "e", "f"].map(|id| writer.write(inserting(id)));
    for refused in futures_util::future::join_all(writers).await {
        assert!(matches!(refused, Err(Error::Retry)), "{refused:?}");
    }
    // The first may have run alone.
    let met = LOCKS_MET.load(Ordering::SeqCst);
    assert!((1..=2).contains(&met), "{met}");
    let locked = writer.begin().await.map(drop);
    assert!(matches!(locked, Err(Error::Retry)), "{locked:?}");
    other.execute_batch("ROLLBACK").unwrap();
    writer.write(inserting("now")).await.unwrap();
    assert_eq!(apps(&store), ["now"]);
}

#[tokio::test]
async fn more_readers_than_connections_wait_for_one() {
    let store = store();
    let readers = &store.storage.readers;
    let mut taken = Vec::new();
    while let Some(taking) = readers.take().now_or_never() {
        taken.push(taking.unwrap());
    }
    let mut next = Box::pin(readers.take());
    assert!(poll!(&mut next).is_pending());
    // A broken connection makes room for another one, like a connection that is given back.
    let mut broken = taken.remove(0);
    broken.fail(&rusqlite::Error::InvalidQuery);
    drop(broken);
    let next = next.await.unwrap();
    assert!(!next.connection().unwrap().is_autocommit());
    let refused = next
        .connection()
        .unwrap()
        .execute("DELETE FROM app", [])
        .unwrap_err();
    assert_eq!(refused.sqlite_error_code(), Some(rusqlite::ErrorCode::ReadOnly));
}

#[tokio::test]
async fn the_log_starts_over_while_reads_never_pause() {
    let store = store();
    let log = store.directory.path().join("portico.db-wal");
    let icon_url = "i".repeat(60_000);
    let read = async || {
        let reader = store.reader().await;
        let connection = reader.connection().unwrap();
        let count: u32 = connection
            .query_row("SELECT count(*) FROM app", [], |row| row.get(0))
            .unwrap();
        count
    };
    const APPS: u32 = 400;
    for written in 0..APPS {
        for _ in 0..3 {
            assert_eq!(read().await, written);
        }
        let permit = store.storage.writer.begin().await.unwrap();
        insert(&permit, &format!("app {written}"), &icon_url).unwrap();
        permit.commit().await.unwrap();
    }
    let length = std::fs::metadata(&log).unwrap().len();
    let all = u64::from(APPS) * 60_000;
    assert!(length < all / 3, "{length} bytes of {all}");
    read().await;
    read().await;
    drop(store.storage);
    // The thread that made the last COMMIT may hold the connection a moment longer.
    let began = Instant::now();
    while log.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "a log is left");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_failed_reader_is_not_kept() {
    let store = store();
    let readers = &store.storage.readers;
    let mut broken = readers.take().await.unwrap();
    broken.fail(&rusqlite::Error::InvalidQuery);
    drop(broken);
    let next = readers.take().await.unwrap();
    assert!(next.connection().is_some());
}

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let store = store();
    let reader = store.reader().await;
    let connection = reader.connection().unwrap();
    for sql in portico_sql::statements() {
        let prepared = statements::prepare(connection, sql);
        prepared.unwrap_or_else(|error| panic!("{error}: {}", sql.text));
    }
    for insert in portico_sql::inserts() {
        let prepared = statements::prepare_insert(connection, insert);
        prepared.unwrap_or_else(|error| panic!("{error}: {}", insert.table));
    }
}

#[tokio::test]
async fn the_statement_that_every_request_runs_is_compiled_once() {
    let store = store();
    let find = portico_sql::statements().find(|sql| sql.text.contains("secret_hash, credential.user_id"));
    let find = find.expect("the statement that finds a key");
    let reader = store.reader().await;
    let connection = reader.connection().unwrap();
    for id in ["one", "two", "three"] {
        statements::fold(connection, find, &[id.into()], (), |(), _| Ok(())).unwrap();
    }
    let statement = statements::prepare(connection, find).unwrap();
    assert_eq!(statement.get_status(StatementStatus::Run), 3);
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

#[tokio::test]
async fn the_connection_is_set_up_for_durability() {
    let store = store();
    let permit = store.storage.writer.begin().await.unwrap();
    let reader = store.reader().await;
    for db in [permit.connection().unwrap(), reader.connection().unwrap()] {
        let number = |pragma: &str| {
            db.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!(number("synchronous"), 2, "FULL");
        assert_eq!(number("foreign_keys"), 1);
        assert_eq!(number("trusted_schema"), 0);
        assert_eq!(number("busy_timeout"), 2000);
    }
}

#[test]
fn before_its_tables_change_a_database_is_copied_next_to_it() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("portico.db");
    let old = migrations::build(migrations::FIRST).unwrap();
    let app = "INSERT INTO app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i.svg')";
    old.execute_batch(app).unwrap();
    old.execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();

    let copy = format!("portico-before-version-{}.db", migrations::NEWEST);
    let copy = directory.path().join(copy);
    drop(SqliteStorage::open(&path).unwrap());
    let number = |sql: &str| migrations::number(&Connection::open(&copy).unwrap(), sql).unwrap();
    assert_eq!(number("PRAGMA user_version"), migrations::FIRST as i64);
    assert_eq!(number("SELECT count(*) FROM app"), 1);
    std::fs::remove_file(&copy).unwrap();
    drop(SqliteStorage::open(&path).unwrap());
    assert!(!copy.exists(), "there is nothing to upgrade");
}
