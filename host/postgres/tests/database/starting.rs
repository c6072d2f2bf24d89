//! Opening a database: migrations, refusals, the index of trigrams.

use std::time::{Duration, Instant};

use portico_postgres::PostgresStorage;
use portico_storage::driver::made_earlier;
use portico_storage::{Access, AppFilter, Constraint, DashboardStorage, Error, Slice, Viewer};
use tokio::time::sleep;

use crate::postgresql::Postgresql;
use crate::records::{app, count_apps, dashboard, insert, user, write};
use crate::{FIRST, NEWEST};

async fn refusal(url: &str) -> String {
    let opened = PostgresStorage::open(url).await;
    format!("{:#}", opened.err().expect("a refusal"))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn three_that_open_an_empty_database_at_once_migrate_it_once() {
    let server = Postgresql::shared();
    for round in 0..5 {
        let name = format!("round_{round}");
        let url = server.create_database(&name);
        let open = || PostgresStorage::open(&url);
        let (first, second, third) = tokio::join!(open(), open(), open());
        for storage in [first, second, third] {
            insert(&storage.unwrap(), &format!("{:?}", Instant::now()))
                .await
                .unwrap();
        }
        assert_eq!(
            server.run(&name, "SELECT version FROM portico_version"),
            NEWEST.to_string()
        );
        assert_eq!(server.run(&name, "SELECT count(*) FROM app"), "3");
        let index = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'app_by_trigram'::regclass";
        assert_eq!(server.run(&name, index), "t");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn those_that_waited_while_another_migrated_find_nothing_to_do() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    std::thread::scope(|scope| {
        // Holds the lock of migrations until all of them wait for it.
        scope.spawn(|| {
            let hold = "
                SELECT pg_advisory_xact_lock(1349678179, 0);
                DO $$ BEGIN
                    WHILE (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) < 3 LOOP
                        PERFORM pg_sleep(0.02);
                    END LOOP;
                END $$";
            server.run("home", hold);
        });
        let held = "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND locktype = 'advisory' AND granted";
        while server.run("home", held) != "1" {}
        let runtime = tokio::runtime::Handle::current();
        let opening = [0; 3].map(|_| {
            let (runtime, url) = (runtime.clone(), url.clone());
            scope.spawn(move || runtime.block_on(async { PostgresStorage::open(&url).await.map(drop) }))
        });
        for opened in opening {
            opened.join().expect("a thread").unwrap();
        }
    });
    assert_eq!(server.run("home", "SELECT count(*) FROM app"), "0");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_of_a_newer_binary_is_refused_with_both_versions() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    server.run("home", "UPDATE portico_version SET version = 99, oldest = 98");
    let refusal = refusal(&url).await;
    assert!(refusal.contains("version 99"), "{refusal}");
    assert!(refusal.contains(&format!("versions up to {NEWEST}")), "{refusal}");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_of_an_earlier_build_is_refused_with_what_to_do() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    // In the first version there was no column `oldest`.
    server.run(
        "home",
        "CREATE TABLE portico_version (version integer NOT NULL); INSERT INTO portico_version VALUES (1)",
    );
    for version in [1, FIRST - 1] {
        let set = format!("UPDATE portico_version SET version = {version}");
        server.run("home", &set);
        let refusal = refusal(&url).await;
        assert!(refusal.ends_with(&made_earlier(version)), "{refusal}");
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.run("home", tables), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_role_that_may_not_create_tables_is_told_what_to_run() {
    let server = Postgresql::shared();
    server.create_database("home");
    server.run("home", "CREATE ROLE \"a guest\" LOGIN");
    let url = server.url_of("a%20guest", "home");
    let refusal = refusal(&url).await;
    let (_, advice) = refusal.split_once("run: ").expect(&refusal);
    assert_eq!(advice, "GRANT USAGE, CREATE ON SCHEMA public TO \"a guest\";");
    server.run("home", advice);
    insert(&PostgresStorage::open(&url).await.unwrap(), "a")
        .await
        .unwrap();
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_role_without_a_schema_is_told_what_to_run() {
    let server = Postgresql::shared();
    server.create_database("home");
    server.run("home", "DROP SCHEMA public; CREATE ROLE homeless LOGIN");
    let url = server.url_of("homeless", "home");
    let refusal = refusal(&url).await;
    let (_, advice) = refusal.split_once("run: ").expect(&refusal);
    server.run("home", advice);
    let storage = PostgresStorage::open(&url).await.unwrap();
    insert(&storage, "a").await.unwrap();
    assert_eq!(server.run("home", "SELECT count(*) FROM portico.app"), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn tables_of_another_program_are_left_alone() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    server.run("home", "CREATE TABLE session (id integer)");
    let refusal = refusal(&url).await;
    assert!(
        refusal.contains("a table session that is not Portico's"),
        "{refusal}"
    );
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.run("home", tables), "1");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_of_another_encoding_is_refused() {
    let server = Postgresql::shared();
    let create = format!(
        "CREATE DATABASE \"{}\" ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0",
        server.name("old")
    );
    server.run("postgres", &create);
    let refusal = refusal(&server.url("old")).await;
    assert!(refusal.contains("encoding is LATIN1"), "{refusal}");
}

#[tokio::test]
#[ignore = "make test-all"]
async fn without_the_extension_searches_find_the_same() {
    let server = Postgresql::shared();
    let with = PostgresStorage::open(&server.create_database("with"))
        .await
        .unwrap();
    server.create_database("without");
    // Only the owner of a database may add an extension.
    server.run(
        "without",
        "CREATE ROLE guest LOGIN; GRANT CREATE ON SCHEMA public TO guest",
    );
    let without = PostgresStorage::open(&server.url_of("guest", "without"))
        .await
        .unwrap();
    let index = "SELECT to_regclass('app_by_trigram') IS NULL";
    assert_eq!(
        (server.run("with", index), server.run("without", index)),
        ("f".into(), "t".into())
    );

    let names = [
        "100%",
        "100_000",
        "back\\slash",
        "i\u{307}stanbul",
        "οδοσ",
        "🦊🦊🦊",
        "aaa",
        "AAA",
    ];
    for storage in [&with, &without] {
        let mut writer = write(storage).await;
        let apps: Vec<_> = names.iter().map(|name| app(name, name)).collect();
        writer.insert_apps(&apps).await.unwrap();
        writer.commit().await.unwrap();
    }
    let searches = [
        "100",
        "00%",
        "0_0",
        "k\\s",
        "\\\\s",
        "\u{307}st",
        "δοσ",
        "🦊🦊🦊",
        "aaa",
        "a",
        "%",
        "\\",
    ];
    for contains in searches {
        let mut found = Vec::new();
        for storage in [&with, &without] {
            let filter = AppFilter {
                viewer: Viewer::Everything,
                name_contains: Some(contains.into()),
            };
            let mut reader = dashboard(storage, Access::Read).await;
            let apps = reader.list_apps(&filter, Slice::ALL).await.unwrap();
            assert_eq!(reader.count_apps(&filter).await, Ok(apps.len() as u32));
            found.push(apps);
        }
        let expected = names
            .iter()
            .filter(|name| name.to_lowercase().contains(contains))
            .count();
        assert_eq!(found[0], found[1], "{contains}");
        assert_eq!(found[0].len(), expected, "{contains}");
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_rare_text_is_found_through_the_index() {
    let server = Postgresql::shared();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    let mut writer = write(&storage).await;
    let apps: Vec<_> = (0..20_000)
        .map(|number| app(&format!("{number}"), &format!("app {number:05}")))
        .collect();
    writer.insert_apps(&apps).await.unwrap();
    writer.commit().await.unwrap();
    // New names wait in a list next to the index until it is vacuumed, which PostgreSQL does by itself.
    server.run("home", "VACUUM ANALYZE app");
    let scans =
        "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname = 'app_by_trigram'";
    assert_eq!(server.run("home", scans), "0");
    let filter = AppFilter {
        viewer: Viewer::Everything,
        name_contains: Some("12345".into()),
    };
    let mut reader = dashboard(&storage, Access::Lookup).await;
    assert_eq!(
        reader.list_apps(&filter, Slice::first(10)).await.unwrap().len(),
        1
    );
    drop((reader, storage));
    // A session reports what it counted when it ends.
    let began = Instant::now();
    while server.run("home", scans) == "0" {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the index was not used"
        );
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_silent_server_does_not_keep_a_host_from_the_next_one() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    // The machine accepts connections, but nothing sends a response.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let both = format!("postgres://dashboard@{},", silent.local_addr().unwrap());
    let both = url.replace("postgres://dashboard@", &both) + "?connect_timeout=1";
    let storage = PostgresStorage::open(&both).await.unwrap();
    insert(&storage, "a").await.unwrap();
    assert_eq!(storage.check().await, Ok(()));
    assert_eq!(count_apps(&storage).await, Ok(1));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_that_shows_no_password() {
    let refusal = refusal("postgres://ann:s3cret@127.0.0.1:1/home").await;
    assert!(
        refusal.starts_with("cannot use the database postgres://127.0.0.1:1/home: "),
        "{refusal}"
    );
    assert!(
        refusal.contains("Connection refused") && !refusal.contains("s3cret"),
        "{refusal}"
    );
}

#[tokio::test]
#[ignore = "make test-all"]
async fn a_database_that_is_away_is_told_from_settings_that_are_wrong() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    server.run(
        "home",
        "CREATE ROLE busy LOGIN CONNECTION LIMIT 0; CREATE ROLE barred NOLOGIN",
    );
    server.create_database("newer");
    drop(PostgresStorage::open(&server.url("newer")).await.unwrap());
    server.run("newer", "UPDATE portico_version SET version = 99, oldest = 98");
    // It accepts connections, and sends nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    for (url, is_away) in [
        ("postgres://ann@127.0.0.1:1/home".to_owned(), true),
        ("postgres://ann@%2Fis%2Fnowhere/home".to_owned(), true),
        ("postgres://ann@nowhere.invalid/home".to_owned(), true),
        (format!("postgres://ann@{silent}/home?connect_timeout=1"), true),
        (server.url_of("busy", "home"), true),
        (server.url_of("barred", "home"), false),
        (server.url("nowhere"), false),
        (server.url("newer"), false),
        (format!("{url}?sslmode=require"), false),
        (
            "postgres://ann@127.0.0.1:1/home?sslmode=sometimes".to_owned(),
            false,
        ),
    ] {
        let refusal = PostgresStorage::open(&url).await.err().expect("a refusal");
        assert_eq!(PostgresStorage::is_away(&refusal), is_away, "{url}: {refusal:#}");
    }
}

#[tokio::test]
#[ignore = "make test-all"]
async fn what_cannot_be_held_is_refused_and_does_no_more() {
    let server = Postgresql::shared();
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    let mut writer = write(&storage).await;
    writer.insert_user(&user("ann")).await.unwrap();
    writer.commit().await.unwrap();
    // Texts that do not fit into a page of an index, and one that no column accepts.
    for id in ["x".repeat(10_000), "😀".repeat(70_000), "a\0b".into()] {
        assert_eq!(
            insert(&storage, &id).await,
            Err(Error::Constraint(Constraint::Id))
        );
        let mut writer = write(&storage).await;
        let refused = writer.insert_user(&user(&id)).await;
        assert_eq!(refused, Err(Error::Constraint(Constraint::Id)));
        drop(writer);
        let mut reader = dashboard(&storage, Access::Lookup).await;
        assert_eq!(reader.get_app(&id, &Viewer::Everything).await, Ok(None));
        let mut writer = dashboard(&storage, Access::Write).await;
        assert_eq!(writer.insert_group("group", "group", "group").await, Ok(true));
        assert_eq!(writer.add_to_group("ann", &id).await, Ok(false));
        let refused = writer.add_to_group(&id, "group").await.unwrap_err();
        let unknown = Error::Constraint(Constraint::Reference);
        assert!(refused == unknown || id.contains('\0'), "{refused:?}");
    }
    insert(&storage, "a").await.unwrap();
    assert_eq!(count_apps(&storage).await, Ok(1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_host_does_not_go_on_in_another_database_that_has_taken_the_name() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    let storage = PostgresStorage::open(&url).await.unwrap();
    insert(&storage, "a").await.unwrap();
    let (home, old) = (server.name("home"), server.name("old"));
    let replace = [
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{home}'"),
        format!("ALTER DATABASE \"{home}\" RENAME TO \"{old}\""),
    ];
    for sql in replace {
        server.run("postgres", &sql);
    }
    server.create_database("home");
    let other = PostgresStorage::open(&url).await.unwrap();
    insert(&other, "b").await.unwrap();
    // It would not take the same locks as the other host.
    let refused = insert(&storage, "c").await;
    let Err(Error::Unavailable(why)) = refused else {
        panic!("{refused:?}")
    };
    assert!(why.contains("start the host again"), "{why}");
    assert_eq!(storage.check().await, Err(Error::Unavailable(why)));
    assert_eq!(server.run("home", "SELECT name FROM app"), "b");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "make test-all"]
async fn a_server_whose_messages_are_in_another_language_is_understood() {
    let server = Postgresql::start_with(&["-c", "lc_messages=C.UTF-8"]);
    let storage = PostgresStorage::open(&server.create_database("home"))
        .await
        .unwrap();
    insert(&storage, "first").await.unwrap();
    server.run(
        "home",
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION USING ERRCODE = 'lock_not_available'; END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON app DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse();",
    );
    let german = server.run_failing("home", "SELECT wrong");
    assert!(german.contains("FEHLER"), "{german}");
    let session = "SELECT max(backend_start) FROM pg_stat_activity WHERE application_name LIKE 'portico%'";
    let before = server.run("postgres", session);
    // The COMMIT is refused: its outcome is known, and the connection is still usable.
    let refused = insert(&storage, "a").await;
    assert_eq!(refused, Err(portico_storage::driver::waited_too_long()));
    server.run("home", "DROP TRIGGER refuse ON app");
    insert(&storage, "a").await.unwrap();
    assert_eq!(server.run("postgres", session), before);
}
