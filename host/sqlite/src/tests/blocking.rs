//! Statements on the pool: cancelled, interrupted, too long, and alongside others.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::poll;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::super::SqliteStorage;
use super::super::interrupts::StatementLimits;
use super::super::readers::MAX_SCANS;
use super::super::statements::{Failure, run};
use super::super::transaction::SqliteTransaction;
use super::context;
use portico_model::App;
use portico_sql::{Database, Lock, Span, Sql};
use portico_storage::{
    Access, AppFilter, Board, BoardItem, BoardSummary, DashboardStorage, Error, Result, Share, Shares,
    Storage, StoredApp, Transaction,
};

const ENDLESS: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

const ENDLESS_WRITE: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    INSERT INTO user_group (id, name, name_key) SELECT 'many ' || i, 'x', 'many ' || i FROM n";

fn store() -> (SqliteStorage, TempDir) {
    store_with(MAX_SCANS, StatementLimits::default())
}

fn store_with(scans: usize, limits: StatementLimits) -> (SqliteStorage, TempDir) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("portico.db");
    (SqliteStorage::open_with(&path, scans, limits).unwrap(), directory)
}

async fn reading(storage: &SqliteStorage) -> Result<SqliteTransaction> {
    storage.open_transaction(Access::Read).await
}

async fn writing(storage: &SqliteStorage) -> SqliteTransaction {
    let mut writing = storage.open_transaction(Access::Write).await.unwrap();
    writing.acquire_permit().await.unwrap();
    writing
}

static INSERT_GROUP: Sql = Sql {
    text: "INSERT INTO ~user_group (id, name, name_key) VALUES ($1, $1, $1)",
    span: Span::Short,
    lock: Lock::Alone,
};

async fn insert_group(transaction: &mut SqliteTransaction, id: &str) {
    let inserted = transaction.execute(&INSERT_GROUP, vec![id.into()]).await;
    assert_eq!(inserted, Ok(1));
}

/// A transaction that has inserted a group and waits for its commit, and another that shares the commit.
async fn batch_of_two(storage: &SqliteStorage) -> (BoxFuture<'static, Result<()>>, SqliteTransaction) {
    let mut first = writing(storage).await;
    insert_group(&mut first, "first").await;
    let mut second = Box::pin(writing(storage));
    assert!(poll!(&mut second).is_pending());
    let mut committed: BoxFuture<'static, _> = Box::pin(first.commit());
    assert!(poll!(&mut committed).is_pending());
    (committed, second.await)
}

fn read_endlessly(db: &Connection) -> std::result::Result<i64, Failure> {
    Ok(db.query_row(ENDLESS, [], |row| row.get(0))?)
}

fn write_endlessly(db: &Connection) -> rusqlite::Result<usize> {
    run(db, ENDLESS_WRITE, [])
}

async fn groups(storage: &SqliteStorage) -> Vec<String> {
    let mut reading = storage.begin_dashboard(Access::Read, &context()).await.unwrap();
    let groups = reading.list_groups().await.unwrap();
    groups.into_iter().map(|group| group.id).collect()
}

/// How many tasks run on threads of the storage.
fn running(storage: &SqliteStorage) -> usize {
    let resources = &storage.resources;
    resources.scanning.running() + resources.writing.running()
}

/// Waits until this many tasks run on threads of the storage.
async fn until_running(storage: &SqliteStorage, count: usize) {
    let began = Instant::now();
    while running(storage) != count {
        assert!(began.elapsed() < Duration::from_secs(60), "not {count} tasks");
        sleep(Duration::from_millis(1)).await;
    }
}

/// Drops this future once its statement runs on the pool.
async fn cancel<T>(storage: &SqliteStorage, mut waiting: Pin<Box<impl Future<Output = T>>>) {
    assert!(poll!(&mut waiting).is_pending());
    until_running(storage, 1).await;
    drop(waiting);
}

#[tokio::test]
async fn a_scan_does_not_block_the_callers_thread_and_ends_with_its_call() {
    let (storage, _directory) = store();
    // More than there are threads and connections: no thread or connection is lost.
    for _ in 0..20 {
        let mut reading = reading(&storage).await.unwrap();
        // The test has one thread. If the scan blocked it, the timeout could not fire.
        let late = timeout(Duration::from_millis(5), reading.scan(read_endlessly)).await;
        assert!(late.is_err());
        let after = reading.scan(read_endlessly).await;
        assert!(matches!(after, Err(Error::Unavailable(_))), "{after:?}");
    }
    until_running(&storage, 0).await;
    assert_eq!(groups(&storage).await, [""; 0]);
}

#[tokio::test]
async fn look_ups_get_a_connection_while_many_scans_wait() {
    let (storage, _directory) = store_with(4, StatementLimits::default());
    let storage = Arc::new(storage);
    let scan = async |storage: Arc<SqliteStorage>| {
        let mut reading = reading(&storage).await?;
        reading.scan(read_endlessly).await
    };
    let scans: Vec<_> = (0..100).map(|_| tokio::spawn(scan(storage.clone()))).collect();
    until_running(&storage, 4).await;
    for _ in 0..100 {
        let look_up = async {
            let mut reading = storage.begin(Access::Lookup, &context()).await?;
            reading.has_users().await
        };
        let found = timeout(Duration::from_secs(20), look_up).await;
        assert_eq!(found.expect("a look-up waits for scans"), Ok(false));
    }
    scans.iter().for_each(|scan| scan.abort());
    until_running(&storage, 0).await;
    assert_eq!(groups(&storage).await, [""; 0]);
}

#[tokio::test]
async fn cancelling_a_scan_ends_nothing_else_on_its_connection() {
    let (storage, _directory) = store();
    let count = "
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
        SELECT count(*) FROM n";
    let count = move |db: &Connection| Ok(db.query_row(count, [], |row| row.get::<_, i64>(0))?);
    for round in 0..200 {
        let mut cancelled = reading(&storage).await.unwrap();
        // At a different moment each time, sometimes when it has just ended.
        let _ = timeout(Duration::from_micros(round * 20), cancelled.scan(count)).await;
        drop(cancelled);
        let mut reading = reading(&storage).await.unwrap();
        assert_eq!(reading.scan(count).await, Ok(20_000), "round {round}");
    }
}

#[tokio::test]
async fn a_cancelled_write_undoes_itself_and_no_other() {
    let (storage, _directory) = store();
    let (committed, mut second) = batch_of_two(&storage).await;
    cancel(&storage, Box::pin(second.write_on_pool(true, write_endlessly))).await;
    timeout(Duration::from_secs(30), committed)
        .await
        .unwrap()
        .unwrap();
    // The permit is free as soon as the statement has ended.
    drop(second);
    let mut third = timeout(Duration::from_secs(30), writing(&storage)).await.unwrap();
    insert_group(&mut third, "third").await;
    third.commit().await.unwrap();
    assert_eq!(groups(&storage).await, ["first", "third"]);
}

#[tokio::test]
async fn a_cancelled_write_that_shares_its_commit_runs_to_its_end_and_is_undone_alone() {
    // SQLite undoes the whole batch with an insertion that is ended for its time.
    let limits = StatementLimits {
        write: Duration::from_secs(60),
        ..StatementLimits::default()
    };
    let (storage, _directory) = store_with(MAX_SCANS, limits);
    let (committed, mut second) = batch_of_two(&storage).await;
    // It has written, so it can no longer leave the batch of the first.
    insert_group(&mut second, "second").await;
    let many = format!("{ENDLESS_WRITE} LIMIT 100000");
    cancel(
        &storage,
        Box::pin(second.write_on_pool(true, move |db| run(db, &many, []))),
    )
    .await;
    timeout(Duration::from_secs(60), committed)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(groups(&storage).await, ["first"]);
}

#[tokio::test]
async fn cancelling_a_scan_in_a_write_transaction_undoes_the_transaction() {
    let (storage, _directory) = store();
    let mut transaction = writing(&storage).await;
    insert_group(&mut transaction, "a").await;
    cancel(&storage, Box::pin(transaction.scan(read_endlessly))).await;
    let committed = transaction.commit().await;
    assert!(matches!(committed, Err(Error::Unavailable(_))), "{committed:?}");
    let next = timeout(Duration::from_secs(30), writing(&storage)).await.unwrap();
    drop(next);
    assert_eq!(groups(&storage).await, [""; 0]);
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended_with_an_error_that_says_so() {
    let limits = StatementLimits {
        read: Duration::from_millis(20),
        write: Duration::from_secs(60),
    };
    let (storage, _directory) = store_with(1, limits);
    let mut reading = reading(&storage).await.unwrap();
    let ended = timeout(Duration::from_secs(30), reading.scan(read_endlessly)).await;
    assert!(
        matches!(&ended, Ok(Err(Error::Unavailable(message))) if message.contains("took too long")),
        "{ended:?}"
    );
    assert_eq!(groups(&storage).await, [""; 0]);
}

/// Other writers wait for it, so its limit is shorter. This is true even if it only reads, and if it is the first
/// statement, which takes the permit.
#[tokio::test]
async fn a_statement_of_a_write_transaction_has_a_shorter_limit() {
    let limits = StatementLimits {
        read: Duration::from_secs(60),
        write: Duration::from_millis(20),
    };
    let (storage, _directory) = store_with(1, limits);
    for has_permit in [true, false] {
        let begin = async || match has_permit {
            true => writing(&storage).await,
            false => storage.open_transaction(Access::Write).await.unwrap(),
        };
        let mut transaction = begin().await;
        let ended = timeout(
            Duration::from_secs(30),
            transaction.write_on_pool(true, write_endlessly),
        )
        .await;
        assert!(matches!(ended, Ok(Err(Error::Unavailable(_)))), "{ended:?}");
        drop(transaction);
        let mut transaction = begin().await;
        let ended = timeout(Duration::from_secs(30), transaction.scan(read_endlessly)).await;
        assert!(matches!(ended, Ok(Err(Error::Unavailable(_)))), "{ended:?}");
    }
    assert_eq!(groups(&storage).await, [""; 0]);
    let StatementLimits { read, write } = StatementLimits::default();
    assert_eq!((read, write), (Duration::from_secs(30), Duration::from_secs(5)));
}

#[tokio::test]
async fn an_insertion_of_many_records_shares_its_commit() {
    let (storage, _directory) = store();
    let (mut committed, second) = batch_of_two(&storage).await;
    let mut second = storage.sql(second, Access::Write, &context());
    let app = |number: u32| StoredApp {
        app: App {
            id: number.to_string(),
            name: "many".into(),
            description: None,
            icon_url: "icon".into(),
            href: None,
            ping_url: None,
        },
        name_key: "many".into(),
    };
    let apps: Vec<_> = (0..100).map(app).collect();
    second.insert_apps(&apps).await.unwrap();
    assert!(
        poll!(&mut committed).is_pending(),
        "the first had a COMMIT of its own"
    );
    Transaction::commit(second).await.unwrap();
    committed.await.unwrap();
    let mut reading = storage.begin(Access::Read, &context()).await.unwrap();
    assert_eq!(reading.count_apps(&AppFilter::EVERYTHING).await, Ok(100));
}

#[tokio::test]
async fn closing_ends_running_statements_and_refuses_new_ones() {
    let (storage, _directory) = store_with(1, StatementLimits::default());
    let storage = Arc::new(storage);
    let mut readings = Vec::new();
    // One runs, one waits for its permit.
    for _ in 0..2 {
        let storage = storage.clone();
        readings.push(tokio::spawn(async move {
            let mut reading = reading(&storage).await?;
            reading.scan(read_endlessly).await
        }));
    }
    until_running(&storage, 1).await;
    let began = Instant::now();
    storage.close();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(running(&storage), 0);
    for reading in readings {
        let ended = timeout(Duration::from_secs(30), reading).await.unwrap().unwrap();
        assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
    }
}

/// A closed pool refuses what would run on it.
#[tokio::test]
async fn boards_and_shares_of_many_records_are_written_on_the_pool() {
    let (storage, _directory) = store();
    storage.resources.writing.close(Duration::ZERO);
    let begin = async || storage.begin_dashboard(Access::Write, &context()).await.unwrap();
    let board = |id: &str, apps: usize| {
        let board = BoardSummary {
            id: id.into(),
            name: id.into(),
            slug: None,
            is_public: false,
            creator_id: None,
        };
        let app_ids = (0..apps).map(|number| number.to_string()).collect();
        Board::of_items(board, [BoardItem::Bookmarks { app_ids }])
    };
    let mut transaction = begin().await;
    let small = transaction.insert_board(&board("small", 0), "small").await;
    assert!(small.unwrap());
    transaction.commit().await.unwrap();
    let shares = Shares {
        users: (0..17).map(|number| Share::to_view(number.to_string())).collect(),
        groups: Vec::new(),
    };
    let shared = begin().await.share_board("small", &shares).await;
    assert!(matches!(shared, Err(Error::Unavailable(_))), "{shared:?}");
    let inserted = begin().await.insert_board(&board("large", 17), "large").await;
    assert!(matches!(inserted, Err(Error::Unavailable(_))), "{inserted:?}");
    let updated = begin().await.update_board(&board("small", 17), "small").await;
    assert!(matches!(updated, Err(Error::Unavailable(_))), "{updated:?}");
}

#[tokio::test]
async fn a_panic_on_the_pool_is_an_error_for_its_caller_only() {
    let (storage, _directory) = store_with(1, StatementLimits::default());
    let mut reading = reading(&storage).await.unwrap();
    let ended = reading.scan(|_| -> std::result::Result<(), Failure> { panic!("as the test wants it") });
    assert!(matches!(ended.await, Err(Error::Unavailable(_))));
    assert_eq!(groups(&storage).await, [""; 0]);
}
