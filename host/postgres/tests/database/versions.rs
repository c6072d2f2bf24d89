//! Hosts of several versions on one database.

use std::time::Duration;

use portico_postgres::PostgresStorage;
use portico_storage::{Access, AppFilter, DashboardStorage, Error, Slice, Storage, UserFilter};
use tokio_postgres::{Config, NoTls};

use crate::NEWEST;
use crate::postgresql::Postgresql;
use crate::records::{context, count_apps, insert};

const INITIAL: &str = include_str!("../../src/migrations/0001_initial.sql");
const SEVERAL_HOSTS: &str = include_str!("../../src/migrations/0002_several_hosts.sql");

#[tokio::test]
#[ignore = "make test-all"]
async fn a_host_works_beside_a_newer_one_that_lets_it() {
    let server = Postgresql::start();
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
    let server = Postgresql::start();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    insert(&storage, "a").await.unwrap();
    // What a newer host does when it migrates.
    let migrate = "
        UPDATE portico_version SET version = 99, oldest = 98;
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
async fn a_migration_ends_the_connections_of_hosts_that_are_too_old_for_it() {
    let server = Postgresql::start();
    let url = server.create_database("home");
    make_first_version(&server);
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

/// The tables of version 1, empty.
fn make_first_version(server: &Postgresql) {
    server.run("home", INITIAL);
    server.run(
        "home",
        "CREATE TABLE portico_version (version integer NOT NULL); INSERT INTO portico_version VALUES (1)",
    );
}

#[tokio::test]
#[ignore = "make test-all"]
async fn what_earlier_versions_have_written_is_there_after_the_upgrade() {
    const RECORDS: u32 = 20_000;
    let server = Postgresql::start();
    for version in [1, 2] {
        let url = server.create_database("home");
        make_first_version(&server);
        if version == 2 {
            server.run("home", SEVERAL_HOSTS);
            server.run("home", "UPDATE portico_version SET version = 2, oldest = 2");
        }
        let records = format!(
            "INSERT INTO app (id, name, name_key, icon_url)
            SELECT 'app' || n, 'App ' || n, 'app ' || n, '/x.svg' FROM generate_series(1, {RECORDS}) AS n;
            INSERT INTO user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab)
            SELECT 'user' || n, 'credentials', 'User ' || n, 'user ' || n, 'dark', 1, false, false
            FROM generate_series(1, {RECORDS}) AS n;
            INSERT INTO api_key (id, user_id, secret_hash, created_at) VALUES ('key', 'user1', '1', 0)"
        );
        server.run("home", &records);
        let storage = PostgresStorage::open(&url).await.unwrap();
        insert(&storage, "zzz").await.unwrap();
        assert_eq!(count_apps(&storage).await, Ok(RECORDS + 1));
        let mut reader = storage.begin(Access::Read, &context()).await.unwrap();
        let last = Slice {
            offset: RECORDS,
            limit: Some(5),
        };
        let apps = reader.list_apps(&AppFilter::EVERYTHING, last).await.unwrap();
        assert_eq!(apps.iter().map(|app| &app.id[..]).collect::<Vec<_>>(), ["zzz"]);
        let users = reader.count_users(&UserFilter::default()).await.unwrap();
        assert_eq!(users, RECORDS);
        let found = AppFilter {
            name_contains: Some("app 19999".into()),
            ..AppFilter::EVERYTHING
        };
        let apps = reader.list_apps(&found, Slice::ALL).await.unwrap();
        assert_eq!(
            apps.iter().map(|app| &app.id[..]).collect::<Vec<_>>(),
            ["app19999"]
        );
        assert_eq!(server.run("home", "SELECT count(*) FROM api_key"), "1");
        drop((reader, storage));
        // The tables are those of a new database.
        server.create_database("new");
        drop(PostgresStorage::open(&server.url("new")).await.unwrap());
        assert_eq!(tables(&server, "home"), tables(&server, "new"));
        server.run("postgres", "DROP DATABASE home WITH (FORCE)");
        server.run("postgres", "DROP DATABASE new WITH (FORCE)");
    }
}

/// Everything that a schema holds: columns, constraints, indexes and triggers, a line for each.
fn tables(server: &Postgresql, database: &str) -> String {
    let sql = "
        SELECT concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
            attcollation::regcollation, pg_get_expr(adbin, adrelid))
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        ORDER BY 1";
    server.run(database, sql)
}

#[tokio::test]
#[ignore = "make test-all"]
async fn every_text_that_is_sorted_or_compared_in_order_has_the_collation_c() {
    let server = Postgresql::start();
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
    // No statement compares these but for equality.
    let compared_for_equality = [
        "api_key.imported_hash",
        "board_extras.extras",
        "user_extras.extras",
    ];
    assert_eq!(server.run("home", others), compared_for_equality.join("\n"));
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
