//! Hosts of several versions on one database.

use portico_postgres::PostgresStorage;
use portico_storage::{DashboardStorage, Error};

use crate::NEWEST;
use crate::postgresql::Postgresql;
use crate::records::{count_apps, insert};

#[tokio::test]
#[ignore = "make test-all"]
async fn a_host_works_beside_a_newer_one_that_lets_it() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    server.run("home", "UPDATE portico_version SET version = 99, oldest = 2");
    let storage = PostgresStorage::open(&url).await.unwrap();
    insert(&storage, "a").await.unwrap();
    assert_eq!(storage.check().await, Ok(()));
    assert_eq!(server.run("home", "SELECT version FROM portico_version"), "99");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_host_that_has_become_too_old_refuses_with_both_versions() {
    let server = Postgresql::shared();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    insert(&storage, "a").await.unwrap();
    // What a newer host does when it migrates.
    let migrate = "
        UPDATE portico_version SET version = 99, oldest = 98;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'portico/%'";
    server.run("home", migrate);
    for _ in 0..2 {
        let refused = count_apps(&storage).await;
        let Err(Error::Unavailable(text)) = &refused else {
            // The first call may still find out that its connection has ended.
            panic!("{refused:?}");
        };
        if !text.contains("version") {
            continue;
        }
        assert!(
            text.contains("version 99") && text.contains(&format!("versions up to {NEWEST}")),
            "{text}"
        );
    }
    let Err(Error::Unavailable(text)) = storage.check().await else {
        panic!("it is ready");
    };
    assert!(
        text.contains("version 99") && text.contains(&format!("versions up to {NEWEST}")),
        "{text}"
    );
    server.run("home", "UPDATE portico_version SET oldest = 2");
    assert_eq!(count_apps(&storage).await, Ok(1));
    assert_eq!(storage.check().await, Ok(()));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn every_text_has_the_collation_c() {
    let server = Postgresql::shared();
    drop(
        PostgresStorage::open(&server.create_database("home"))
            .await
            .unwrap(),
    );
    let others = "
        SELECT attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND atttypid = 'text'::regtype
            AND attcollation <> '\"C\"'::regcollation
        ORDER BY 1";
    assert_eq!(server.run("home", others), "");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_connection_names_portico_and_its_version_after_the_name_in_the_url() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let separator = if url.contains('?') { '&' } else { '?' };
    let storage = PostgresStorage::open(&format!("{url}{separator}application_name=kitchen"))
        .await
        .unwrap();
    insert(&storage, "a").await.unwrap();
    let named = format!(
        "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'kitchen portico/{NEWEST}'"
    );
    assert_eq!(server.run("home", &named), "2");
}
