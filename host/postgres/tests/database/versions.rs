//! Hosts of several versions on one database.

use std::time::Duration;

use portico_postgres::PostgresStorage;
use portico_storage::{DashboardStorage, Error};
use tokio_postgres::{Config, NoTls};

use crate::NEWEST;
use crate::postgresql::Postgresql;
use crate::records::{count_apps, insert};

const INITIAL: &str = include_str!("../../src/migrations/0001_initial.sql");

#[tokio::test]
#[ignore = "make test-all"]
async fn a_host_works_beside_a_newer_one_that_lets_it() {
    let server = Postgresql::start();
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    server.run("home", "UPDATE portico_version SET version = 7, oldest = 2");
    let storage = PostgresStorage::open(&url).await.unwrap();
    insert(&storage, "a").await.unwrap();
    assert_eq!(storage.check().await, Ok(()));
    assert_eq!(server.run("home", "SELECT version FROM portico_version"), "7");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_host_that_has_become_too_old_refuses_with_both_versions() {
    let server = Postgresql::start();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    insert(&storage, "a").await.unwrap();
    // What a newer host does when it migrates.
    let migrate = "
        UPDATE portico_version SET version = 7, oldest = 6;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'portico/%'";
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
            text.contains("version 7") && text.contains(&format!("versions up to {NEWEST}")),
            "{text}"
        );
    }
    let Err(Error::Unavailable(text)) = storage.check().await else {
        panic!("it is ready");
    };
    assert!(
        text.contains("version 7") && text.contains(&format!("versions up to {NEWEST}")),
        "{text}"
    );
    server.run("home", "UPDATE portico_version SET oldest = 2");
    assert_eq!(count_apps(&storage).await, Ok(1));
    assert_eq!(storage.check().await, Ok(()));
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_migration_ends_the_connections_of_hosts_that_are_too_old_for_it() {
    let server = Postgresql::start();
    let url = server.create_database("home");
    server.run("home", INITIAL);
    server.run(
        "home",
        "CREATE TABLE portico_version (version integer NOT NULL); INSERT INTO portico_version VALUES (1)",
    );
    let mut config: Config = url.parse().unwrap();
    let mut connections = Vec::new();
    for name in ["portico/1", "home portico/1", "portico/2", "psql", "portico"] {
        let (client, connection) = config.application_name(name).connect(NoTls).await.unwrap();
        connections.push((name, client, tokio::spawn(connection)));
    }
    // It is in a transaction.
    connections[0]
        .1
        .batch_execute("BEGIN; SELECT id FROM app")
        .await
        .unwrap();
    let opened = tokio::time::timeout(Duration::from_secs(60), PostgresStorage::open(&url)).await;
    insert(&opened.expect("it does not wait").unwrap(), "a")
        .await
        .unwrap();
    let versions = "SELECT version || ' ' || oldest FROM portico_version";
    assert_eq!(server.run("home", versions), format!("{NEWEST} 2"));
    for (name, client, _) in &connections {
        let is_old = name.ends_with("portico/1");
        assert_eq!(client.simple_query("SELECT 1").await.is_err(), is_old, "{name}");
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_connection_names_portico_and_its_version_after_the_name_in_the_url() {
    let server = Postgresql::start();
    let url = server.create_database("home");
    let separator = if url.contains('?') { '&' } else { '?' };
    let storage = PostgresStorage::open(&format!("{url}{separator}application_name=kitchen"))
        .await
        .unwrap();
    insert(&storage, "a").await.unwrap();
    let named =
        format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kitchen portico/{NEWEST}'");
    assert_eq!(server.run("home", &named), "2");
}
