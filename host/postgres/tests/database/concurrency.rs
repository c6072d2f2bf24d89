//! Concurrent transactions: none fails without need, and exactly one gets what only one may get.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portico_postgres::{Limits, PostgresStorage};
use portico_storage::driver::waited_too_long;
use portico_storage::{Access, AccountKey, Constraint, DashboardStorage, Error, Result, Viewer};
use tokio::sync::Barrier;

use crate::postgresql::Postgresql;
use crate::records::{app, count_apps, dashboard, insert, rename, session, user, write};

async fn open(server: &Postgresql) -> Arc<PostgresStorage> {
    let storage = PostgresStorage::open(&server.create_database("home")).await;
    Arc::new(storage.unwrap())
}

/// Runs this many tasks, all starting at the same time.
async fn all<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    storage: &Arc<PostgresStorage>,
    tasks: usize,
    task: impl Fn(Arc<PostgresStorage>, usize) -> F + Copy + Send + 'static,
) -> Vec<T> {
    let barrier = Arc::new(Barrier::new(tasks));
    let spawned: Vec<_> = (0..tasks)
        .map(|number| {
            let (storage, barrier) = (storage.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                task(storage, number).await
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in spawned {
        results.push(task.await.unwrap());
    }
    results
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_thirty_two_writers_of_apps_none_fails() {
    const ROUNDS: usize = 25;
    let server = Postgresql::shared();
    let storage = open(&server).await;
    insert(&storage, "shared").await.unwrap();
    let results: Vec<Result<()>> = all(&storage, 32, |storage, number| async move {
        for round in 0..ROUNDS {
            let id = format!("{number}-{round}");
            insert(&storage, &id).await?;
            assert!(rename(&storage, &id, "renamed").await?);
            assert!(rename(&storage, "shared", &id).await?);
            if round % 2 == 0 {
                let mut writer = write(&storage).await;
                assert!(writer.delete_app(&id).await?);
                writer.commit().await?;
            }
        }
        Ok(())
    })
    .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(count_apps(&storage).await, Ok(1 + 32 * (ROUNDS as u32 / 2)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn no_change_of_an_app_that_was_read_before_is_lost() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    insert(&storage, "counter").await.unwrap();
    let results: Vec<Result<()>> = all(&storage, 16, |storage, _| async move {
        let mut writer = write(&storage).await;
        let counter = writer
            .get_app("counter", &Viewer::Everything)
            .await?
            .expect("the app");
        writer
            .update_app(&app("counter", &format!("{}+", counter.name)))
            .await?;
        writer.commit().await
    })
    .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let mut reader = dashboard(&storage, Access::Lookup).await;
    let counter = reader
        .get_app("counter", &Viewer::Everything)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(counter.name, format!("counter{}", "+".repeat(16)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_sixteen_changes_of_one_password_one_wins() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let mut writer = write(&storage).await;
    writer.insert_user(&user("ann")).await.unwrap();
    writer.commit().await.unwrap();
    // As `user.changePassword` does it: the hash that was checked is the one that is replaced.
    let results: Vec<Result<bool>> = all(&storage, 16, |storage, number| async move {
        let mut writer = write(&storage).await;
        writer
            .get_account(&AccountKey::Id("ann".into()))
            .await?
            .expect("the user");
        let replaced = writer
            .set_password_if("ann", Some("old"), &format!("new {number}"))
            .await?;
        if replaced {
            writer.commit().await?;
        }
        Ok(replaced)
    })
    .await;
    let winners = results.iter().filter(|result| **result == Ok(true)).count();
    let losers = results.iter().filter(|result| **result == Ok(false)).count();
    assert_eq!((winners, losers), (1, 15), "{results:?}");
    let mut reader = dashboard(&storage, Access::Lookup).await;
    let account = reader.get_account(&AccountKey::Id("ann".into())).await.unwrap();
    assert_eq!(account.unwrap().password_version, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_fifty_first_users_one_is_created() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    // As `user.initUser` does it.
    let results: Vec<Result<bool>> = all(&storage, 50, |storage, number| async move {
        let mut writer = write(&storage).await;
        if writer.has_users().await? {
            return Ok(false);
        }
        let id = format!("user {number}");
        writer.insert_user(&user(&id)).await?;
        writer.grant_admin(&id).await?;
        writer.commit().await?;
        Ok(true)
    })
    .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(results.iter().filter(|result| **result == Ok(true)).count(), 1);
    assert_eq!(server.run("home", "SELECT count(*) FROM user_account"), "1");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_two_administrators_who_delete_themselves_at_once_one_stays() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    for _ in 0..20 {
        let mut writer = write(&storage).await;
        for id in ["ann", "bob"] {
            if writer.get_user(id).await.unwrap().is_none() {
                writer.insert_user(&user(id)).await.unwrap();
            }
            writer.grant_admin(id).await.unwrap();
        }
        writer.commit().await.unwrap();
        let results: Vec<Result<bool>> = all(&storage, 2, |storage, number| async move {
            let id = ["ann", "bob"][number];
            let mut writer = write(&storage).await;
            let goes = writer.delete_user(id).await? && writer.has_another_admin(id).await?;
            if goes {
                writer.commit().await?;
            }
            Ok(goes)
        })
        .await;
        let gone = results.iter().filter(|result| **result == Ok(true)).count();
        assert_eq!(gone, 1, "{results:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn no_session_outlives_the_moment_at_which_its_user_is_disabled() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    for round in 0..40 {
        let id = format!("user {round}");
        let mut writer = write(&storage).await;
        writer.insert_user(&user(&id)).await.unwrap();
        writer.commit().await.unwrap();
        let id = &id;
        let sign_in = async {
            let mut writer = dashboard(&storage, Access::Write).await;
            let inserted = writer.insert_session(&session(id, id), &[round; 32]).await;
            match inserted {
                Ok(()) => writer.commit().await,
                Err(error) => Err(error),
            }
        };
        let disable = async {
            let mut writer = write(&storage).await;
            writer.set_disabled(id, true).await?;
            writer.commit().await
        };
        let (signed_in, disabled) = tokio::join!(sign_in, disable);
        assert!(
            matches!(signed_in, Ok(()) | Err(Error::Constraint(Constraint::Reference))),
            "{signed_in:?}"
        );
        assert_eq!(disabled, Ok(()));
    }
    assert_eq!(server.run("home", "SELECT count(*) FROM session"), "0");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_transaction_that_asks_for_a_rule_waits_for_the_writes_of_others() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let mut first = write(&storage).await;
    first.insert_user(&user("ann")).await.unwrap();
    let asking = tokio::spawn({
        let storage = storage.clone();
        async move { write(&storage).await.has_users().await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!asking.is_finished(), "it did not wait");
    first.commit().await.unwrap();
    assert_eq!(asking.await.unwrap(), Ok(true));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn of_two_that_write_and_then_ask_for_a_rule_one_is_told_to_try_again() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let (mut first, mut second) = (write(&storage).await, write(&storage).await);
    first.insert_user(&user("ann")).await.unwrap();
    second.insert_user(&user("bob")).await.unwrap();
    let (first_asks, second_asks) = tokio::join!(
        async { (first.has_another_admin("ann").await, first.commit().await) },
        async { (second.has_another_admin("bob").await, second.commit().await) },
    );
    let asked = [&first_asks.0, &second_asks.0];
    assert!(
        asked.contains(&&Ok(false)) && asked.contains(&&Err(Error::Retry)),
        "{asked:?}"
    );
    let committed = [first_asks.1.is_ok(), second_asks.1.is_ok()];
    assert_eq!(committed, [first_asks.0.is_ok(), second_asks.0.is_ok()]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn reads_go_on_while_writers_wait_for_another_one() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    let mut holder = write(&storage).await;
    // It holds the lock alone, like a long change of another host.
    assert_eq!(holder.has_users().await, Ok(false));
    let writers: Vec<_> = (0..40)
        .map(|number| {
            let storage = storage.clone();
            tokio::spawn(async move { insert(&storage, &format!("{number}")).await })
        })
        .collect();
    let waiting = "
        SELECT count(*) > 3 FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
    let began = Instant::now();
    while server.run("home", waiting) != "t" {
        assert!(began.elapsed() < Duration::from_secs(60), "writers do not wait");
    }
    for _ in 0..20 {
        // A transaction that waited for the lock would be refused in the end, because the lock is held.
        assert_eq!(count_apps(&storage).await, Ok(0));
    }
    drop(holder);
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(count_apps(&storage).await, Ok(40));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_host_has_seventeen_connections_at_most() {
    let server = Postgresql::shared();
    let storage = open(&server).await;
    insert(&storage, "a").await.unwrap();
    let results = all(&storage, 200, |storage, number| async move {
        match number % 2 {
            0 => count_apps(&storage).await.map(drop),
            _ => insert(&storage, &format!("{number}")).await,
        }
    });
    assert!(results.await.iter().all(Result::is_ok));
    assert_eq!(storage.check().await, Ok(()));
    let sessions = "
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'portico/%'";
    let sessions: usize = server.run("home", sessions).parse().unwrap();
    assert!((2..=17).contains(&sessions), "{sessions}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn where_the_server_has_room_for_few_connections_calls_wait_for_one_of_their_own() {
    let server = Postgresql::shared();
    server.create_database("home");
    let role = server.name("few");
    server.run(
        "home",
        &format!("CREATE ROLE \"{role}\" LOGIN CONNECTION LIMIT 6"),
    );
    server.run("home", &format!("ALTER SCHEMA public OWNER TO \"{role}\""));
    let storage = PostgresStorage::open(&server.url_of(&role, "home")).await;
    let storage = Arc::new(storage.unwrap());
    let results = all(&storage, 200, |storage, number| async move {
        match number % 2 {
            0 => count_apps(&storage).await.map(drop),
            _ => insert(&storage, &format!("{number}")).await,
        }
    });
    for result in results.await {
        assert_eq!(result, Ok(()));
    }
    assert_eq!(storage.check().await, Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_writer_that_needs_the_lock_alone_does_not_wait_for_ever() {
    let server = Postgresql::shared();
    let limits = Limits {
        wait: Duration::from_secs(1),
        ..Limits::default()
    };
    let storage = PostgresStorage::open_with(&server.create_database("home"), limits).await;
    let storage = storage.unwrap();
    let mut holder = write(&storage).await;
    holder.insert_user(&user("ann")).await.unwrap();
    let mut writer = write(&storage).await;
    // Alongside the other one, and then alone.
    writer.insert_user(&user("bob")).await.unwrap();
    assert_eq!(writer.grant_admin("bob").await, Err(waited_too_long()));
    holder.commit().await.unwrap();
}
