//! The records that hosts share.

use std::sync::Arc;
use std::time::Duration;

use portico_postgres::PostgresStorage;
use portico_storage::{Error, RecordKey, RecordKind, SharedRecord, SharedRecords, Turn};

use crate::postgresql::Postgresql;
use crate::records::insert;

/// Later than any test.
const LATER: u64 = u64::MAX >> 2;

/// This many hosts on one database.
async fn hosts(server: &Postgresql, number: usize) -> Vec<Arc<dyn SharedRecords>> {
    let url = server.create_database("home");
    let mut hosts = Vec::new();
    for _ in 0..number {
        let storage = PostgresStorage::open(&url).await.unwrap();
        hosts.push(storage.shared());
    }
    hosts
}

fn record(value: &[u8], rank: i64, ends_at: u64) -> Option<SharedRecord> {
    Some(SharedRecord {
        value: value.to_vec(),
        rank,
        ends_at,
    })
}

fn key(key: &str) -> RecordKey {
    RecordKey::new(RecordKind::KnownSource, key)
}

fn number(record: &Option<SharedRecord>) -> u64 {
    let bytes = record
        .as_ref()
        .map(|record| record.value.as_slice().try_into().unwrap());
    bytes.map_or(0, u64::from_be_bytes)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn steps_of_several_hosts_lose_nothing_and_do_not_wait_in_a_circle() {
    const TASKS: usize = 24;
    const STEPS: usize = 20;
    let server = Postgresql::shared();
    let hosts = hosts(&server, 3).await;
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let host = hosts[task % 3].clone();
            tokio::spawn(async move {
                for step in 0..STEPS {
                    // The same records in every order.
                    let mut keys = vec![key("a"), key("b"), key("c")];
                    keys.rotate_left((task + step) % 3);
                    let count = host.change(&keys, |records, _| {
                        for record in records {
                            *record = self::record(&(number(record) + 1).to_be_bytes(), 1, LATER);
                        }
                    });
                    count.await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let (records, _) = hosts[0].read(&[key("a"), key("b"), key("c")]).await.unwrap();
    let counts: Vec<_> = records.iter().map(number).collect();
    assert_eq!(counts, [(TASKS * STEPS) as u64; 3]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_step_does_not_wait_for_writers_nor_they_for_it() {
    let server = Postgresql::shared();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    let records = storage.shared();
    let mut writer = crate::records::dashboard(&storage, portico_storage::Access::Write).await;
    assert_eq!(writer.insert_group("id", "name", "key").await, Ok(true));
    let change = |value: &'static [u8]| {
        let records = records.clone();
        async move {
            let keys = [key("a")];
            records
                .change(&keys, |records, _| records[0] = record(value, 1, LATER))
                .await
        }
    };
    change(b"1").await.unwrap();
    writer.commit().await.unwrap();
    change(b"2").await.unwrap();
    insert(&storage, "app").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_record_that_has_ended_or_was_removed_is_none_by_the_clock_of_the_server() {
    let server = Postgresql::shared();
    let hosts = hosts(&server, 2).await;
    let keys = [key("lasting"), key("ended"), key("removed")];
    let now = hosts[0].change(&keys, |records, now| {
        records[0] = record(b"1", 1, now + 3_600_000);
        records[1] = record(b"2", 1, now);
        records[2] = record(b"3", 1, LATER);
        now
    });
    let now = now.await.unwrap();
    hosts[1]
        .change(&keys[2..], |records, _| records[0] = None)
        .await
        .unwrap();
    let (records, later) = hosts[1].read(&keys).await.unwrap();
    assert_eq!(records, [record(b"1", 1, now + 3_600_000), None, None]);
    let clock = server.run(
        "home",
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
    );
    let clock: u64 = clock.parse().unwrap();
    assert!(
        now <= later && later <= clock && clock < now + 600_000,
        "{now} {later} {clock}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn what_has_ended_and_what_is_too_much_is_removed() {
    let server = Postgresql::shared();
    let hosts = hosts(&server, 1).await;
    let most = RecordKind::SignIns.most();
    // As if many had been written, of which some have expired.
    let fill = format!(
        "INSERT INTO shared_record (kind, key, value, rank, ends_at)
        SELECT 'sign-ins', int4send(n), ''::bytea, n, {LATER} FROM generate_series(1, {most} + 1000) AS n
        UNION ALL
        SELECT 'turn', int4send(n), ''::bytea, n, 1 FROM generate_series(1, 3000) AS n"
    );
    server.run("home", &fill);
    // A removal begins after ten thousand changes, or a minute.
    let keys: Vec<_> = (0..4).map(|task| [key(&format!("{task}"))]).collect();
    let changing = keys.iter().map(|keys| {
        let host = hosts[0].clone();
        let keys = keys.clone();
        tokio::spawn(async move {
            for step in 0..2500_i64 {
                let change = host.change(&keys, |records, _| records[0] = record(b"", step, LATER));
                change.await.unwrap();
            }
        })
    });
    for changing in changing.collect::<Vec<_>>() {
        changing.await.unwrap();
    }
    let left = "SELECT count(*) || ' ' || min(rank) FROM shared_record WHERE kind = 'sign-ins'";
    let turns = "SELECT count(*) FROM shared_record WHERE kind = 'turn'";
    let removed = async {
        while server.run("home", turns) != "0" || server.run("home", left) != format!("{most} 1001") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let removed = tokio::time::timeout(Duration::from_secs(60), removed).await;
    assert!(
        removed.is_ok(),
        "left: {} {}",
        server.run("home", left),
        server.run("home", turns)
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn one_host_at_a_time_has_a_turn_and_a_turn_ends_by_itself() {
    const LONG: Duration = Duration::from_secs(3600);
    let server = Postgresql::shared();
    let hosts = hosts(&server, 2).await;
    let turn = Turn::take(&hosts[0], "work", LONG)
        .await
        .unwrap()
        .expect("a turn");
    assert!(Turn::take(&hosts[1], "work", LONG).await.unwrap().is_none());
    assert!(Turn::take(&hosts[1], "other work", LONG).await.unwrap().is_some());
    turn.end().await.unwrap();
    let second = Turn::take(&hosts[1], "work", LONG)
        .await
        .unwrap()
        .expect("a turn");
    // Its host was killed, and its time is over.
    server.run("home", "UPDATE shared_record SET ends_at = 1");
    let third = Turn::take(&hosts[0], "work", LONG)
        .await
        .unwrap()
        .expect("a turn");
    second.end().await.unwrap();
    assert!(
        Turn::take(&hosts[1], "work", LONG).await.unwrap().is_none(),
        "it ended another's turn"
    );
    third.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn without_a_server_a_step_fails() {
    let server = Postgresql::start();
    let hosts = hosts(&server, 1).await;
    server.crash();
    let mut was_called = false;
    let failed = hosts[0].change(&[key("a")], |_, _| was_called = true).await;
    assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    assert!(!was_called);
    server.start_again();
    hosts[0]
        .change(&[key("a")], |records, _| records[0] = record(b"1", 1, LATER))
        .await
        .unwrap();
}
