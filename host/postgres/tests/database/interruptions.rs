//! Calls that end early, statements that take too long, and a server that goes away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use portico_postgres::{Limits, PostgresStorage};
use portico_storage::{Access, DashboardStorage, Error, Result};
use tokio::time::{sleep, timeout};

use crate::postgresql::Postgresql;
use crate::records::{app, count_apps, dashboard, insert, user, write};

/// Far more than any of these waits takes.
const SOON: Duration = Duration::from_secs(60);

async fn open(server: &Postgresql) -> Arc<PostgresStorage> {
    open_with(server, Limits::default()).await
}

async fn open_with(server: &Postgresql, limits: Limits) -> Arc<PostgresStorage> {
    let storage = PostgresStorage::open_with(&server.create_database("home"), limits).await;
    Arc::new(storage.unwrap())
}

/// From now on a list of invites takes a minute. It represents everything that takes longer the more records there are.
fn make_lists_of_invites_slow(server: &Postgresql) {
    let view = "
        DROP TABLE invite CASCADE;
        CREATE VIEW invite AS
            SELECT ''::text AS id, ''::bytea AS token_hash, 1::bigint AS expires_at, NULL::text AS creator_id,
                NULL::text AS note
            FROM pg_sleep(60)";
    server.run("home", view);
}

/// How many sessions of the storage are in this state.
fn sessions(server: &Postgresql, condition: &str) -> usize {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'portico/%' AND {condition}"
    );
    server.run("home", &sql).parse().unwrap()
}

async fn wait_until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, waiting).await.expect("it does not come to that");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_statement_ends_when_its_call_is_dropped() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    make_lists_of_invites_slow(&server);
    for access in [Access::Lookup, Access::Read, Access::Write] {
        for _ in 0..4 {
            let call = {
                let storage = storage.clone();
                tokio::spawn(async move { dashboard(&storage, access).await.list_invites().await })
            };
            let active = "query LIKE '%FROM invite%' AND state = 'active'";
            wait_until(|| sessions(&server, active) == 1).await;
            let pid = format!(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()
                AND pid <> pg_backend_pid() AND {active}"
            );
            let pid = server.run("home", &pid);
            call.abort();
            wait_until(|| sessions(&server, "state <> 'idle'") == 0).await;
            assert_eq!(count_apps(&storage).await, Ok(0));
            // It is closed, because a late signal could stop the statement of another call.
            wait_until(|| sessions(&server, &format!("pid = {pid}")) == 0).await;
        }
    }
    insert(&storage, "a").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_call_that_is_dropped_while_it_waits_for_the_lock_is_done_as_a_whole_or_not_at_all() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let mut holder = write(&storage).await;
    assert_eq!(holder.has_users().await, Ok(false));
    for number in 0..20 {
        // It is undone, because nothing commits it.
        let (mut begun, new) = (write(&storage).await, user(&format!("{number}")));
        let waiting = timeout(Duration::from_millis(30), begun.insert_user(&new)).await;
        assert!(waiting.is_err(), "it did not wait: {waiting:?}");
        // Its COMMIT is sent with it, and may be carried out.
        let pair = async {
            let mut writer = write(&storage).await;
            let apps = ["first", "second"].map(|name| app(&format!("{name} {number}"), name));
            writer.insert_apps(&apps).await?;
            writer.commit().await
        };
        let waiting = timeout(Duration::from_millis(30), pair).await;
        assert!(waiting.is_err(), "it did not wait: {waiting:?}");
    }
    drop(holder);
    wait_until(|| sessions(&server, "state <> 'idle'") == 0).await;
    insert(&storage, "a").await.unwrap();
    assert_eq!(server.run("home", "SELECT count(*) FROM user_account"), "0");
    let of = |name: &str| {
        let sql = format!("SELECT split_part(id, ' ', 2) FROM app WHERE id LIKE '{name} %' ORDER BY 1");
        server.run("home", &sql)
    };
    assert_eq!(of("first"), of("second"));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn statements_and_waits_for_locks_have_the_time_limits_that_the_docs_name() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let limits = "
        DROP TABLE invite CASCADE;
        CREATE VIEW invite AS
            SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') AS id,
                ''::bytea AS token_hash, 1::bigint AS expires_at, NULL::text AS creator_id,
                NULL::text AS note";
    server.run("home", limits);
    for (access, expected) in [
        (Access::Lookup, "30s 10s"),
        (Access::Read, "30s 10s"),
        (Access::Write, "5s 10s"),
    ] {
        let invites = dashboard(&storage, access).await.list_invites().await.unwrap();
        assert_eq!(invites[0].id, expected, "{access:?}");
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_statement_of_a_write_transaction_has_a_limit_of_its_own() {
    let server = Postgresql::shared();
    let limits = Limits {
        // Long enough for the statements that end by themselves.
        write: Duration::from_secs(1),
        ..Limits::default()
    };
    let storage = open_with(&server, limits).await;
    make_lists_of_invites_slow(&server);
    let mut writer = dashboard(&storage, Access::Write).await;
    let ended = writer.list_invites().await;
    assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
    writer.commit().await.unwrap_err();
    insert(&storage, "a").await.unwrap();
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_statement_that_reads_has_a_limit() {
    let server = Postgresql::shared();
    let limits = Limits {
        read: Duration::from_millis(300),
        ..Limits::default()
    };
    let storage = open_with(&server, limits).await;
    make_lists_of_invites_slow(&server);
    for access in [Access::Lookup, Access::Read] {
        let ended = dashboard(&storage, access).await.list_invites().await;
        assert!(
            matches!(ended, Err(Error::Unavailable(_))),
            "{access:?}: {ended:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn while_the_server_is_away_calls_fail_at_once_and_then_they_are_served_again() {
    let server = Postgresql::start();
    let storage = open(&server).await;
    insert(&storage, "a").await.unwrap();
    let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (storage, stop, served) = (storage.clone(), stop.clone(), served.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    match timeout(SOON, count_apps(&storage)).await.expect("an answer") {
                        Ok(1) => _ = served.fetch_add(1, Ordering::Relaxed),
                        Err(Error::Unavailable(_)) => sleep(Duration::from_millis(5)).await,
                        other => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    for _ in 0..2 {
        let before = served.load(Ordering::Relaxed);
        wait_until(|| served.load(Ordering::Relaxed) > before + 100).await;
        assert_eq!(storage.check().await, Ok(()));
        server.crash();
        let failed: Result<u32> = count_apps(&storage).await;
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
        storage.check().await.unwrap_err();
        server.start_again();
        wait_until_ready(&storage).await;
    }
    let before = served.load(Ordering::Relaxed);
    wait_until(|| served.load(Ordering::Relaxed) > before + 100).await;
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    insert(&storage, "b").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_call_that_is_dropped_ends_no_statement_of_another() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    insert(&storage, "a").await.unwrap();
    for round in 0..100 {
        // Dropped before its statement is sent, while it runs, or when it has just ended.
        let brief = Duration::from_micros(round % 10 * 200);
        drop(join_all((0..32).map(|_| timeout(brief, count_apps(&storage)))).await);
        let counts = join_all((0..32).map(|_| count_apps(&storage))).await;
        assert_eq!(counts, vec![Ok(1); 32], "round {round}");
    }
}

async fn wait_until_ready(storage: &PostgresStorage) {
    let ready = async {
        while storage.check().await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, ready).await.expect("it is not ready again");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_a_commit_whose_answer_is_lost_it_is_said_that_it_is_not_known() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    // A commit that takes a minute.
    let slow = "
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON app DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION slow()";
    server.run("home", slow);
    let call = {
        let storage = storage.clone();
        tokio::spawn(async move { insert(&storage, "a").await })
    };
    wait_until(|| sessions(&server, "query = 'COMMIT' AND state = 'active'") == 1).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'COMMIT' AND state = 'active'";
    server.run("home", end);
    let Err(Error::Unavailable(text)) = call.await.unwrap() else {
        panic!("the commit was not ended");
    };
    assert!(
        text.contains("not known whether the transaction was committed"),
        "{text}"
    );
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_server_that_takes_no_writes_is_not_ready() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    assert_eq!(storage.check().await, Ok(()));
    let read_only = format!(
        "ALTER DATABASE \"{}\" SET default_transaction_read_only = on",
        server.name("home")
    );
    server.run("postgres", &read_only);
    let other = PostgresStorage::open(&server.url("home")).await.unwrap();
    let refused = other.check().await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

/// Sessions of the storage that are stopped, as if their machine had frozen. They continue when it is dropped.
struct Stopped(Vec<String>);

impl Stopped {
    fn stop(server: &Postgresql) -> Self {
        let pids = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'portico/%'";
        let pids: Vec<_> = server.run("postgres", pids).lines().map(str::to_owned).collect();
        let stopped = Self(pids);
        stopped.signal("-STOP");
        stopped
    }

    fn signal(&self, signal: &str) {
        for pid in &self.0 {
            let sent = std::process::Command::new("kill").args([signal, pid]).status();
            assert!(sent.is_ok_and(|status| status.success()), "kill {signal} {pid}");
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_server_that_never_answers_is_an_error_and_its_connections_are_not_used_again() {
    let server = Postgresql::start();
    let limits = Limits {
        // Long enough for a new connection.
        answer: Duration::from_secs(4),
        check: Duration::from_secs(3),
        ..Limits::default()
    };
    let storage = open_with(&server, limits).await;
    insert(&storage, "a").await.unwrap();
    let stopped = Stopped::stop(&server);
    let silent = tokio::join!(count_apps(&storage), storage.check());
    assert!(matches!(silent.0, Err(Error::Unavailable(_))), "{silent:?}");
    assert!(matches!(silent.1, Err(Error::Unavailable(_))), "{silent:?}");
    // New connections get responses.
    insert(&storage, "b").await.unwrap();
    assert_eq!(storage.check().await, Ok(()));
    drop(stopped);
    assert_eq!(count_apps(&storage).await, Ok(2));
}
