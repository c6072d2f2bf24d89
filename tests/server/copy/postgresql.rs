//! To PostgreSQL and back, and databases of PostgreSQL that are refused.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use portico_postgres::copying::DatabaseReader;
use portico_tests::databases::{Rows, rows};
use portico_tests::postgresql::Postgresql;
use portico_tests::{Builder, Client, Portico, SetOnDrop, administrator, command, run, wait_until};
use rusqlite::Connection;
use serde_json::json;
use tokio::runtime::Runtime;

use super::everything::Everything;
use super::files::start_on;
use super::{assert_same, copy, data, rows_in};

/// All that a database holds.
pub fn rows_at(url: &str) -> Rows {
    Runtime::new().expect("a runtime").block_on(async {
        let mut reader = DatabaseReader::open(url).await.expect("a database");
        rows(&mut reader).await
    })
}

fn serve_on(url: &str) -> Portico {
    Builder::default().environment("PORTICO_DATABASE", url).start()
}

/// The dashboard as a document.
fn export(folder: &Path, url: &str) -> String {
    let mut command = command();
    command
        .arg("export")
        .arg("--data")
        .arg(folder)
        .env("PORTICO_DATABASE", url);
    run(&mut command, "").succeeded()
}

#[test]
#[ignore = "make test-all"]
fn everything_goes_to_postgresql_and_back() {
    let source = Everything::make();
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let with_password = url.replace("dashboard@", "dashboard:s3cret@");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [back, scratch] = ["back", "scratch"].map(|name| folder.path().join(name));

    let said = copy(&data(&source.server.data()), &with_password).succeeded();
    assert!(
        said.contains("5 users") && said.contains("postgres:///"),
        "{said}"
    );
    assert!(!said.contains("s3cret"), "{said}");
    assert_same(&source.rows, &rows_at(&url));
    // The driver would not find a subject whose hash is another one.
    let hashes = "SELECT bool_and(subject_hash = sha256(convert_to(subject, 'UTF8'))) FROM identity";
    assert_eq!(postgresql.run("home", hashes), "t");
    let index = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'app_by_trigram'::regclass";
    assert_eq!(postgresql.run("home", index), "t");

    let said = copy(&with_password, &data(&back)).succeeded();
    assert!(!said.contains("s3cret"), "{said}");
    assert_same(&source.rows, &rows_in(&back));
    assert_same(&source.rows, &rows_at(&url));
    let document = export(&source.server.data(), "");
    assert!(
        document.contains("An app") && document.contains("alice"),
        "{document}"
    );
    assert!(export(&scratch, &url) == document && export(&back, "") == document);

    let other = postgresql.create_database("other");
    copy(&url, &other).succeeded();
    assert_same(&source.rows, &rows_at(&other));

    source.assert_alive(&serve_on(&url));
    source.assert_alive(&start_on(&back));
}

#[test]
#[ignore = "make test-all"]
fn a_copy_into_a_database_of_a_running_host_is_served_at_once() {
    let source = Everything::make();
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let server = serve_on(&url);
    copy(&data(&source.server.data()), &url).succeeded();
    source.assert_alive(&server);
}

#[test]
#[ignore = "make test-all"]
fn a_copy_of_a_database_that_is_written_to_is_one_state() {
    const BATCH: usize = 5;
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let server = serve_on(&url);
    let admin = administrator(&server);
    let many = "INSERT INTO app (id, name, name_key, icon_url)
        SELECT 'a' || n, 'App ' || n, 'app ' || n, '/i.svg' FROM generate_series(1, 20000) AS n";
    postgresql.run("home", many);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (before, after) = thread::scope(|scope| {
        let _stop = SetOnDrop(&stop);
        scope.spawn(|| {
            let apps = vec![json!({"name": "New", "iconUrl": "/i.svg"}); BATCH];
            while !stop.load(Ordering::SeqCst) {
                admin.mutate("app.createMany", &json!(apps)).data();
                done.fetch_add(1, Ordering::SeqCst);
            }
        });
        wait_until("a batch", || done.load(Ordering::SeqCst) > 0);
        let before = done.load(Ordering::SeqCst);
        copy(&url, &data(folder.path())).succeeded();
        (before, done.load(Ordering::SeqCst))
    });
    assert!(after > before, "nothing was written meanwhile");
    let rows = rows_in(folder.path());
    let apps = rows
        .iter()
        .find(|(table, _)| *table == "app")
        .expect("the apps")
        .1
        .len();
    let (batches, half) = ((apps - 20_000) / BATCH, apps % BATCH);
    // One more may have been committed without a response yet.
    assert!(
        (before..=after + 1).contains(&batches) && half == 0,
        "{apps} apps, {before} to {after} batches"
    );
}

#[test]
#[ignore = "make test-all"]
fn databases_that_cannot_be_copied_are_refused_with_words() {
    let postgresql = Postgresql::shared();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = data(&folder.path().join("target"));
    let refused = |from: &str, to: &str, words: &[&str]| {
        let said = copy(from, to).failed();
        for word in words {
            assert!(said.contains(word), "{word} is not in:\n{said}");
        }
        assert!(!said.contains("s3cret"), "{said}");
    };
    let empty = postgresql.create_database("empty");
    refused(&empty, &target, &["it has no tables of Portico"]);
    refused(
        "postgres://ann:s3cret@127.0.0.1:1/home",
        &target,
        &["Connection refused"],
    );

    let full = postgresql.create_database("full");
    let server = serve_on(&full);
    administrator(&server);
    // A source may be in use; a target must not have data.
    copy(&full, &target).succeeded();
    refused(&full, &target, &["there is a database in"]);
    refused(&full, &full, &["it has data already"]);
    refused(
        &target,
        &full,
        &["it has data already (in the table", "CREATE DATABASE"],
    );
    postgresql.run("full", "UPDATE portico_version SET version = 77");
    let elsewhere = data(&folder.path().join("elsewhere"));
    refused(&full, &elsewhere, &["version 77", "versions up to"]);
    refused(&target, &full, &["version 77", "versions up to"]);
    let foreign = postgresql.create_database("foreign");
    postgresql.run("foreign", "CREATE TABLE session (id integer)");
    refused(&target, &foreign, &["a table session that is not Portico's"]);
    assert_eq!(
        postgresql.run(
            "foreign",
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ),
        "1"
    );
    postgresql.run("empty", "CREATE ROLE guest_of_copy LOGIN");
    refused(
        &target,
        &postgresql.url_of("guest_of_copy", "empty"),
        &["may not create tables", "GRANT"],
    );
    // None of these has left tables behind.
    assert_eq!(
        postgresql.run(
            "empty",
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ),
        "0"
    );
}

#[test]
#[ignore = "make test-all"]
fn a_text_that_postgresql_cannot_hold_is_named_and_nothing_is_kept() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let mut server = Portico::start();
    administrator(&server)
        .mutate("app.create", &json!({"name": "Good", "iconUrl": "/i.svg"}))
        .data();
    let folder = server.data();
    assert!(server.stop().status.success());
    for (change, problem) in [
        ("name = 'a' || char(0) || 'b'", "its name: contains U+0000"),
        ("name_key = hex(randomblob(3000))", "index row size"),
    ] {
        let database = Connection::open(folder.join("portico.db")).expect("a database");
        let bad = format!(
            "DELETE FROM app WHERE id = 'bad'; INSERT INTO app (id, name, name_key, icon_url) VALUES ('bad', 'b', 'b', 'i');
            UPDATE app SET {change} WHERE id = 'bad'"
        );
        database.execute_batch(&bad).expect("a bad app");
        drop(database);
        let said = copy(&data(&folder), &url).failed();
        assert!(said.contains("app \"bad\"") && said.contains(problem), "{said}");
        assert_eq!(
            postgresql.run(
                "home",
                "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
            ),
            "0"
        );
    }
}
