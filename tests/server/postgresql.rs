//! `portico serve --database postgres://…`, and what the other commands do with such a database.

use std::time::{Duration, Instant};

use portico_tests::{
    Builder, Client, Finished, NO_INPUT, Portico, administrator, command, postgresql::Postgresql, run,
};
use serde_json::json;

/// Far more than any of these waits takes.
const SOON: Duration = Duration::from_secs(20);

fn on(url: &str) -> Builder {
    Builder::default().environment("PORTICO_DATABASE", url)
}

/// Runs a command on this database, with the data directory of a server.
fn portico(arguments: &[&str], server: &Portico, url: &str) -> Finished {
    let mut command = command();
    command.args(arguments).arg("--data").arg(server.data());
    run(command.args(["--database", url]), "")
}

fn ready(server: &Portico) -> u16 {
    server
        .anonymous()
        .send_allowing_5xx("GET", "/api/health/ready", None)
        .status
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SOON, "it does not come to that");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "make test-all"]
fn names_are_read_into_memory_at_the_start() {
    let postgresql = Postgresql::start();
    let url = postgresql.create_database("home");
    let mut first = on(&url).start();
    let wiki = json!({"name": "Wiki", "iconUrl": "/wiki.svg"});
    administrator(&first).mutate("app.create", &wiki).data();
    first.stop();
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'home' AND pid <> pg_backend_pid()";
    wait_until(|| postgresql.run("home", others) == "0");
    postgresql.run("home", "SELECT pg_stat_reset()");
    // No request is sent to it.
    let _second = on(&url).start();
    let reads = "SELECT seq_scan + idx_scan > 0 FROM pg_stat_user_tables WHERE relname = 'app'";
    wait_until(|| postgresql.run("home", reads) == "t");
}

#[test]
#[ignore = "make test-all"]
fn a_service_keeps_everything_in_postgresql() {
    let postgresql = Postgresql::start();
    let url = postgresql.create_database("home");
    let mut server = on(&url).start();
    let admin = administrator(&server);
    let app = admin
        .mutate("app.create", &json!({"name": "Wiki", "iconUrl": "/wiki.svg"}))
        .data();
    let id = app["id"].as_str().expect("an id").to_owned();
    let names = "SELECT name FROM app UNION ALL SELECT name FROM user_account ORDER BY name";
    assert_eq!(postgresql.run("home", names), "Wiki\nroot");
    // The audit log has a row for each change.
    let rows =
        "SELECT procedure FROM audit WHERE outcome = 'OK' AND procedure IN ('app.create', 'user.initUser')";
    assert_eq!(postgresql.run("home", rows).lines().count(), 2);
    server.restart();
    let found = admin.query("app.byId", &json!({"id": id})).data();
    assert_eq!(found["name"], "Wiki");
    assert!(
        !server.data().join("portico.db").exists(),
        "there is a file of SQLite"
    );
}

#[test]
#[ignore = "make test-all"]
fn the_password_of_the_database_is_neither_logged_nor_shown() {
    let postgresql = Postgresql::start();
    let url = postgresql.create_database("home");
    let with_password = url.replace("dashboard@", "dashboard:s3cret@");
    let mut server = on(&with_password).environment("PORTICO_LOG", "debug").start();
    assert!(server.log().contains("/home"), "{}", server.log());
    postgresql.crash();
    assert_eq!(ready(&server), 503);
    let log = server.stop().stderr;
    assert!(log.contains("cannot use the database postgres:///"), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
    let help = run(
        command()
            .args(["serve", "--help"])
            .env("PORTICO_DATABASE", &with_password),
        "",
    )
    .succeeded();
    assert!(
        help.contains("PORTICO_DATABASE") && !help.contains("s3cret"),
        "{help}"
    );
    let refused = run(
        command()
            .arg("serve")
            .env("PORTICO_DATABASE", "mysql://ann:s3cret@here/home"),
        "",
    );
    let refused = refused.failed();
    assert!(
        refused.contains("postgres://USER:PASSWORD@HOST/DATABASE") && !refused.contains("s3cret"),
        "{refused}"
    );
}

#[test]
#[ignore = "make test-all"]
fn a_service_that_loses_the_database_is_not_ready_and_then_serves_again() {
    let postgresql = Postgresql::start();
    let server = on(&postgresql.create_database("home")).start();
    let admin = administrator(&server);
    assert_eq!(ready(&server), 200);
    for _ in 0..2 {
        postgresql.crash();
        assert_eq!(ready(&server), 503);
        let began = Instant::now();
        assert_eq!(admin.send_allowing_5xx("GET", "/api/apps", None).status, 503);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        postgresql.start_again();
        wait_until(|| ready(&server) == 200);
        admin
            .mutate("app.create", &json!({"name": "App", "iconUrl": "/i.svg"}))
            .data();
    }
    assert_eq!(postgresql.run("home", "SELECT count(*) FROM app"), "2");
}

#[test]
#[ignore = "make test-all"]
fn the_other_commands_work_on_the_database_or_say_what_to_do() {
    let postgresql = Postgresql::start();
    let url = postgresql.create_database("home");
    let mut server = on(&url).start();
    administrator(&server);
    assert!(server.stop().status.success());
    let recovered = portico(&["recover", "root"], &server, &url).succeeded();
    let password = recovered
        .lines()
        .next()
        .and_then(|line| line.rsplit(' ').next())
        .expect("a password")
        .to_owned();
    let users = portico(&["call", "user.getAll"], &server, &url).succeeded();
    assert!(users.contains("root"), "{users}");
    let document = portico(&["export"], &server, &url).succeeded();
    assert!(document.contains("admins"), "{document}");
    let backup = portico(&["backup", "/nowhere/copy.db"], &server, &url).failed();
    assert!(backup.contains("pg_dump"), "{backup}");
    let restore = portico(&["restore", "/nowhere/copy.db"], &server, &url).failed();
    assert!(restore.contains("pg_restore"), "{restore}");
    server.start_again();
    server
        .sign_in("root", &password)
        .query("app.all", &NO_INPUT)
        .data();
}
