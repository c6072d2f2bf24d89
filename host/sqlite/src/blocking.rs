//! Statements of a transaction that may take long: they run on a thread of the pool, and end early if
//! the call does.
//!
//! A call that ends while one runs leaves its transaction without a place. Nothing more can be done in
//! that, and what it did is rolled back.

use std::mem::replace;

use rusqlite::Connection;

use super::pool::Rank;
use super::transaction::{Place, SqliteTransaction};
use portico_storage::driver::{failed_before, only_reads};
use portico_storage::{Result, SharedSnapshot};

impl SqliteTransaction {
    /// Reads what may take long.
    pub(super) async fn scan<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.take_turn().await?;
        let (rank, snapshot) = match &mut self.place {
            Place::Reader(reader) => {
                let ready = reader.begin_scan().await;
                ready.inspect_err(|_| self.failed = true)?;
                (Rank::Reads, reader.leave_snapshot())
            }
            _ => (Rank::HoldsTurn, SharedSnapshot::default()),
        };
        let (place, failed) = self.leave();
        let pool = self.pool.clone();
        let ran = pool.run(rank, move |watch| {
            let connection = place.connection();
            // One that reads is ended alone, also between writes.
            let result = connection.map(|connection| watch.over(|| read(connection)));
            (place, result)
        });
        let (mut place, result) = ran.await?;
        if let Place::Reader(reader) = &mut place {
            reader.rejoin(snapshot);
        }
        self.come_back(place, failed);
        let result = result.ok_or_else(failed_before)?;
        result.map_err(|error| self.fail(&error))
    }

    /// Writes what may take long. It can be interrupted if no other transaction shares its commit;
    /// the first write of a transaction makes sure of that.
    pub(super) async fn write_blocking<T: Send + 'static>(
        &mut self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        if self.failed {
            return Err(failed_before());
        }
        self.take_turn().await?;
        let has_written = replace(&mut self.has_written, true);
        let (place, failed) = self.leave();
        let Place::Writer(mut turn) = place else {
            self.come_back(place, failed);
            return Err(only_reads());
        };
        let pool = self.pool.clone();
        let ran = pool.run(Rank::HoldsTurn, move |watch| {
            if !has_written && let Err(error) = turn.stand_alone() {
                return (turn, Err(error));
            }
            let is_alone = turn.is_alone();
            let Some(connection) = turn.connection() else {
                return (turn, Err(failed_before()));
            };
            let result = if is_alone {
                watch.over(|| write(connection))
            } else {
                write(connection)
            };
            (turn, Ok(result))
        });
        let (turn, result) = ran.await?;
        self.come_back(Place::Writer(turn), failed || result.is_err());
        result?.map_err(|error| self.fail(&error))
    }

    /// Takes the place out of the transaction, which has failed unless it comes back.
    fn leave(&mut self) -> (Place, bool) {
        let place = replace(&mut self.place, Place::Away);
        (place, replace(&mut self.failed, true))
    }

    fn come_back(&mut self, place: Place, failed: bool) {
        self.place = place;
        self.failed = failed;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use futures_util::poll;
    use tempfile::TempDir;
    use tokio::time::{sleep, timeout};

    use super::super::pool::Pool;
    use super::super::query::{first, run};
    use super::super::readers::ReadGuard;
    use super::super::{LONGEST_STATEMENT, SqliteStorage};
    use super::*;
    use portico_storage::{
        Authentication, CallContext, DashboardTransaction, Error, Ids, Snapshot, Transaction,
    };

    const ENDLESS: &str = "
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

    const ENDLESS_WRITE: &str = "
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        INSERT INTO user_group (id, name, name_key) SELECT 'many ' || i, 'x', 'many ' || i FROM n";

    fn store() -> (SqliteStorage, TempDir) {
        let directory = TempDir::new().unwrap();
        let storage = SqliteStorage::open(&directory.path().join("portico.db")).unwrap();
        (storage, directory)
    }

    fn context() -> CallContext {
        CallContext {
            user_id: None,
            authentication: Authentication::None,
            request_id: "test".into(),
            audit: None,
            snapshot: SharedSnapshot::default(),
            new_token: None,
        }
    }

    async fn writing(storage: &SqliteStorage) -> SqliteTransaction {
        let turn = storage.writer.begin().await.unwrap();
        SqliteTransaction::writing(turn, &context(), storage.pool.clone(), Ids::default())
    }

    fn read_endlessly(db: &Connection) -> rusqlite::Result<i64> {
        first(db, ENDLESS, [], |row| row.get(0)).map(Option::unwrap_or_default)
    }

    fn write_endlessly(db: &Connection) -> rusqlite::Result<usize> {
        run(db, ENDLESS_WRITE, [])
    }

    async fn groups(storage: &SqliteStorage) -> Vec<String> {
        let mut reading = storage.read(&context()).await.unwrap();
        let groups = reading.list_groups().await.unwrap();
        groups.into_iter().map(|group| group.id).collect()
    }

    /// Polls until this many tasks run on the threads.
    async fn until_running(storage: &SqliteStorage, count: usize) {
        let began = Instant::now();
        while storage.pool.running() != count {
            assert!(began.elapsed() < Duration::from_secs(10), "not {count} tasks");
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Lets something begin on a thread, and then no longer waits for it.
    async fn give_up<T>(storage: &SqliteStorage, mut waiting: Pin<Box<impl Future<Output = T>>>) {
        assert!(poll!(&mut waiting).is_pending());
        until_running(storage, 1).await;
        drop(waiting);
    }

    #[tokio::test]
    async fn a_scan_leaves_its_thread_to_others_and_ends_with_its_call() {
        let (storage, _directory) = store();
        // More than there are threads and connections: none is lost.
        for _ in 0..20 {
            let mut reading = storage.read(&context()).await.unwrap();
            // This test has one thread. A scan on it would not let the time run out.
            let late = timeout(Duration::from_millis(5), reading.scan(read_endlessly)).await;
            assert!(late.is_err());
            let after = reading.list_groups().await;
            assert!(matches!(after, Err(Error::Unavailable(_))), "{after:?}");
        }
        until_running(&storage, 0).await;
        assert_eq!(groups(&storage).await, [""; 0]);
    }

    #[tokio::test]
    async fn look_ups_find_a_connection_however_many_scans_wait() {
        let (mut storage, _directory) = store();
        storage.pool = Pool::new(4, LONGEST_STATEMENT);
        let storage = Arc::new(storage);
        let scan = async |storage: Arc<SqliteStorage>| {
            let mut reading = storage.read(&context()).await?;
            reading.scan(read_endlessly).await
        };
        let scans: Vec<_> = (0..100).map(|_| tokio::spawn(scan(storage.clone()))).collect();
        until_running(&storage, 4).await;
        for _ in 0..100 {
            let look_up = async { storage.read(&context()).await?.has_users().await };
            let found = timeout(Duration::from_secs(5), look_up).await;
            assert_eq!(found.expect("a look-up waits for scans"), Ok(false));
        }
        scans.iter().for_each(|scan| scan.abort());
        until_running(&storage, 0).await;
        assert_eq!(groups(&storage).await, [""; 0]);
    }

    #[tokio::test]
    async fn a_scan_that_is_given_up_keeps_nothing_for_its_request() {
        let (storage, _directory) = store();
        let snapshot = Snapshot::default();
        let context = context().within(snapshot.share());
        let mut reading = storage.read(&context).await.unwrap();
        give_up(&storage, Box::pin(reading.scan(read_endlessly))).await;
        until_running(&storage, 0).await;
        drop(reading);
        assert!(
            snapshot.share().take::<ReadGuard>().is_none(),
            "a connection waits for a request that is over"
        );
    }

    #[tokio::test]
    async fn what_ends_a_scan_ends_nothing_else_on_its_connection() {
        let (storage, _directory) = store();
        let count = "
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
            SELECT count(*) FROM n";
        let count = move |db: &Connection| first(db, count, [], |row| row.get::<_, i64>(0));
        for round in 0..200 {
            let mut given_up = storage.read(&context()).await.unwrap();
            // At any moment of it, also when it has just ended.
            let _ = timeout(Duration::from_micros(round * 20), given_up.scan(count)).await;
            drop(given_up);
            let mut reading = storage.read(&context()).await.unwrap();
            assert_eq!(reading.scan(count).await, Ok(Some(20_000)), "round {round}");
        }
    }

    #[tokio::test]
    async fn a_write_that_is_given_up_undoes_itself_and_no_other() {
        let (storage, _directory) = store();
        let mut first = writing(&storage).await;
        assert!(first.insert_group("first", "first", "first").await.unwrap());
        let mut second = Box::pin(writing(&storage));
        assert!(poll!(&mut second).is_pending());
        let mut committed = Box::pin(Box::new(first).commit());
        assert!(
            poll!(&mut committed).is_pending(),
            "it shares its commit with the second"
        );
        let mut second = second.await;
        give_up(&storage, Box::pin(second.write_blocking(write_endlessly))).await;
        let began = Instant::now();
        timeout(Duration::from_secs(10), committed)
            .await
            .unwrap()
            .unwrap();
        // The turn is free as soon as the statement has ended.
        drop(second);
        let mut third = timeout(Duration::from_secs(10), writing(&storage)).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(third.insert_group("third", "third", "third").await.unwrap());
        Box::new(third).commit().await.unwrap();
        assert_eq!(groups(&storage).await, ["first", "third"]);
    }

    #[tokio::test]
    async fn a_write_beside_the_writes_of_others_comes_to_its_end_and_is_undone_alone() {
        let (storage, _directory) = store();
        let mut first = writing(&storage).await;
        assert!(first.insert_group("first", "first", "first").await.unwrap());
        let mut second = Box::pin(writing(&storage));
        assert!(poll!(&mut second).is_pending());
        let mut committed = Box::pin(Box::new(first).commit());
        assert!(poll!(&mut committed).is_pending());
        let mut second = second.await;
        // It has written, so it cannot leave the batch of the first any more.
        assert!(second.insert_group("second", "second", "second").await.unwrap());
        let many = format!("{ENDLESS_WRITE} LIMIT 100000");
        give_up(
            &storage,
            Box::pin(second.write_blocking(move |db| run(db, &many, []))),
        )
        .await;
        timeout(Duration::from_secs(60), committed)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(groups(&storage).await, ["first"]);
    }

    #[tokio::test]
    async fn a_scan_that_is_given_up_leaves_a_write_transaction_undone() {
        let (storage, _directory) = store();
        let mut transaction = writing(&storage).await;
        assert!(transaction.insert_group("a", "a", "a").await.unwrap());
        give_up(&storage, Box::pin(transaction.scan(read_endlessly))).await;
        let committed = Box::new(transaction).commit().await;
        assert!(matches!(committed, Err(Error::Unavailable(_))), "{committed:?}");
        let next = timeout(Duration::from_secs(10), writing(&storage)).await.unwrap();
        drop(next);
        assert_eq!(groups(&storage).await, [""; 0]);
    }

    #[tokio::test]
    async fn a_statement_that_takes_too_long_is_ended_and_says_so() {
        let (mut storage, _directory) = store();
        storage.pool = Pool::new(1, Duration::from_millis(20));
        let mut reading = storage.read(&context()).await.unwrap();
        let ended = reading.scan(read_endlessly).await;
        assert!(
            matches!(&ended, Err(Error::Unavailable(message)) if message.contains("took too long")),
            "{ended:?}"
        );
        let mut transaction = writing(&storage).await;
        let ended = transaction.write_blocking(write_endlessly).await;
        assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
        drop(transaction);
        assert_eq!(groups(&storage).await, [""; 0]);
    }

    #[tokio::test]
    async fn closing_ends_what_runs_and_refuses_what_comes() {
        let (mut storage, _directory) = store();
        storage.pool = Pool::new(1, LONGEST_STATEMENT);
        let storage = Arc::new(storage);
        let mut readings = Vec::new();
        // One runs, one is queued.
        for _ in 0..2 {
            let storage = storage.clone();
            readings.push(tokio::spawn(async move {
                let mut reading = storage.read(&context()).await?;
                reading.scan(read_endlessly).await
            }));
        }
        until_running(&storage, 1).await;
        let began = Instant::now();
        storage.close();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(storage.pool.running(), 0);
        for reading in readings {
            let ended = timeout(Duration::from_secs(10), reading).await.unwrap().unwrap();
            assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
        }
    }

    #[tokio::test]
    async fn what_panics_on_a_thread_costs_its_own_caller_an_error() {
        let (mut storage, _directory) = store();
        storage.pool = Pool::new(1, LONGEST_STATEMENT);
        let mut reading = storage.read(&context()).await.unwrap();
        let ended = reading.scan(|_| -> rusqlite::Result<()> { panic!("as the test wants it") });
        assert!(matches!(ended.await, Err(Error::Unavailable(_))));
        assert_eq!(groups(&storage).await, [""; 0]);
    }
}
