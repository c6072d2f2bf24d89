//! `portico serve --database postgres://…`, and what the other commands do with such a database.

use portico_tests::{
    Builder, Client, Finished, Fixtures, NO_INPUT, PASSWORD, Portico, administrator, command, escape,
    postgresql::Postgresql, proxy::Proxy, run, trpc_query_path,
};
use serde_json::json;

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

#[test]
#[ignore = "make test-all"]
fn a_service_keeps_everything_in_postgresql() {
    let postgresql = Postgresql::shared();
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
    server.wait_for_log(0, "/home");
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
fn an_app_a_user_and_the_gate_take_two_round_trips_changes_two_to_four_and_a_sign_in_seven() {
    let postgresql = Postgresql::start();
    postgresql.create_database("home");
    let proxy = Proxy::start(&postgresql);
    let server = on(&proxy.url("home"))
        .argument("--trusted-proxies=127.0.0.1")
        .argument("--public-url=http://portico.home.example")
        .argument("--gate-domain=home.example")
        .start();
    let admin = administrator(&server);
    let wiki = json!({"name": "Wiki", "iconUrl": "/wiki.svg", "href": "https://wiki.home.example/"});
    let id = admin.mutate("app.create", &wiki).data()["id"].clone();
    let (by_id, path) = (
        json!({"id": id}),
        format!("/api/apps/{}", id.as_str().expect("an id")),
    );
    let change = json!({"id": id, "name": "Wiki", "iconUrl": "/wiki.svg"});
    // The smallest of several: the first call prepares statements, and during a few others something runs in the
    // background.
    let round_trips = |call: &dyn Fn()| {
        let counted = (0..6).map(|_| proxy.round_trips(call)).min();
        counted.expect("six")
    };
    let anonymous = server.anonymous();
    let get = |client: &dyn Client, path: &str| {
        round_trips(&|| {
            client.get(path).assert_status(200);
        })
    };
    assert_eq!(round_trips(&|| drop(admin.query("app.byId", &by_id).data())), 2);
    // What the usual clients send: a batch, of superjson.
    let batch = trpc_query_path("app.byId", &json!({"0": {"json": by_id}}));
    assert_eq!(get(&admin, &format!("{batch}&batch=1")), 2);
    assert_eq!(get(&admin, &path), 2);
    assert_eq!(get(&anonymous, &path), 1);
    assert_eq!(get(&admin, &format!("/api/users/{}", admin.user_id)), 2);
    assert_eq!(round_trips(&|| drop(admin.mutate("app.create", &wiki).data())), 2);
    assert_eq!(
        round_trips(&|| drop(admin.mutate("app.update", &change).data())),
        4
    );
    // Without the throttle, which needs four more. One of them asks for second factors.
    let credentials = json!({"username": "root", "password": PASSWORD});
    let sign_in = || {
        anonymous
            .post("/api/auth/sign-in", &credentials)
            .assert_status(200);
    };
    assert_eq!(round_trips(&sign_in), 7);
    // The gate looks up who has the pass, and whether they see the app, and writes nothing: no more than an app takes.
    let given = admin.get(&format!(
        "/api/auth/gate?next={}",
        escape("https://wiki.home.example/")
    ));
    let pass = given.assert_status(200).header("set-cookie").expect("a pass");
    let pass = pass.split(';').next().expect("a pair");
    let asked = [("x-original-url", "https://wiki.home.example/"), ("cookie", pass)];
    let verify = || {
        let answer = anonymous.send("GET", "/api/auth/verify", &asked, None);
        answer.assert_status(204);
    };
    assert!(round_trips(&verify) <= 2);
}

#[test]
#[ignore = "make test-all"]
fn who_sees_what_takes_few_round_trips_however_many_boards_there_are() {
    let postgresql = Postgresql::start();
    postgresql.create_database("home");
    let proxy = Proxy::start(&postgresql);
    let server = on(&proxy.url("home")).argument("--app-visibility=boards").start();
    let admin = administrator(&server);
    let apps = ["a", "b", "c"].map(|name| admin.app(name));
    let grace = admin.user("grace");
    let groups = ["makers", "lenders"].map(|name| admin.group(name, &["app-create"]));
    let add_board = |name: &str| {
        let items: Vec<_> = apps
            .iter()
            .map(|id| json!({"kind": "app", "appId": id}))
            .collect();
        let board = json!({"name": name, "isPublic": false, "items": items});
        let board = admin.make("board.create", &board, "id");
        let share = json!({"boardId": board, "users": [grace.id], "groups": groups});
        admin.mutate("board.share", &share).assert_status(200);
    };
    let seen_apps = json!({"userId": grace.id, "page": 1, "pageSize": 10});
    let counted = || {
        [
            ("app.seenBy", json!({"id": apps[0]})),
            ("user.seenApps", seen_apps.clone()),
        ]
        .map(|(procedure, input)| {
            let ask = || drop(admin.query(procedure, &input).data());
            let counted = (0..6).map(|_| proxy.round_trips(ask)).min();
            counted.expect("six")
        })
    };
    (0..20).for_each(|number| add_board(&format!("board {number}")));
    let by = admin.query("app.seenBy", &json!({"id": apps[0]})).data();
    let seen = admin.query("user.seenApps", &seen_apps).data();
    assert_eq!(
        (&by["boardCount"], &seen["items"][2]["boardCount"]),
        (&json!(20), &json!(20))
    );
    assert_eq!(seen["items"][2]["boards"].as_array().map(Vec::len), Some(5));
    let counted = counted();
    // One for each board would be twenty more.
    assert!(counted.iter().all(|count| *count <= 8), "{counted:?}");
}

#[test]
#[ignore = "make test-all"]
fn the_settings_file_may_name_the_database() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("portico.toml");
    std::fs::write(&config, format!("database = {url:?}\n")).expect("write the file");
    let config = config.to_str().expect("a path of text");
    let server = Builder::default().argument("--config").argument(config).start();
    administrator(&server);
    let names = "SELECT name FROM user_account";
    assert_eq!(postgresql.run("home", names), "root");
}

/// Runs a program that comes with PostgreSQL.
fn program(name: &str, postgresql: &Postgresql, arguments: &[&str]) -> Finished {
    let mut command = std::process::Command::new(name);
    run(postgresql.reached_by(command.args(arguments)), "")
}

#[test]
#[ignore = "make test-all"]
fn a_dump_is_put_back_into_a_new_database_whatever_the_version_or_in_place_at_once() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let mut server = on(&url).start();
    let admin = administrator(&server);
    let wiki = json!({"name": "Wiki", "iconUrl": "/wiki.svg"});
    admin.mutate("app.create", &wiki).data();
    let dump = server.data().join("portico.dump");
    let dump = dump.to_str().expect("a path of text");
    program(
        "pg_dump",
        &postgresql,
        &["--format=custom", "--file", dump, &postgresql.name("home")],
    )
    .succeeded();
    admin.mutate("app.create", &wiki).data();
    assert!(server.stop().status.success());
    let apps = |database: &str| postgresql.run(database, "SELECT count(*) FROM app");

    // The commands of docs/backup.md.
    postgresql.create_database("restored");
    let into = |database: &str| format!("--dbname={}", postgresql.name(database));
    let restore = ["--single-transaction", &into("restored"), dump];
    program("pg_restore", &postgresql, &restore).succeeded();
    assert_eq!(apps("restored"), "1");
    let restored = on(&postgresql.url("restored")).start();
    let root = restored.sign_in("root", PASSWORD);
    assert_eq!(root.app_names(), ["Wiki"]);
    root.mutate("app.create", &wiki).data();

    let in_place = [
        "--clean",
        "--if-exists",
        "--single-transaction",
        &into("home"),
        dump,
    ];
    program("pg_restore", &postgresql, &in_place).succeeded();
    assert_eq!(apps("home"), "1");
    // With tables of a later version: nothing of it is done.
    let later = "
        CREATE TABLE later (user_id text REFERENCES user_account (id)); UPDATE portico_version SET version = 99;
        DELETE FROM app";
    postgresql.run("home", later);
    program("pg_restore", &postgresql, &in_place).failed();
    assert_eq!(apps("home"), "0");
    assert_eq!(
        postgresql.run("home", "SELECT version FROM portico_version"),
        "99"
    );
}

#[test]
#[ignore = "make test-all"]
fn a_text_that_postgresql_cannot_hold_is_refused_as_everywhere_and_not_logged_as_its_failure() {
    let postgresql = Postgresql::shared();
    let mut server = on(&postgresql.create_database("home")).start();
    let admin = administrator(&server);
    let refused = [
        admin.query("board.byId", &json!({"id": "a\0"})),
        admin.mutate("board.delete", &json!({"id": "a\0"})),
    ];
    for answer in refused {
        let error = answer.assert_refused(400, "BAD_REQUEST").text();
        assert!(error.contains("must not contain U+0000"), "{error}");
    }
    // What the component only compares is found nowhere.
    admin.get("/api/apps/a%00b").assert_refused(404, "NOT_FOUND");
    let log = server.stop().stderr;
    assert!(!log.contains("cannot use the database"), "{log}");
}

#[test]
#[ignore = "make test-all"]
fn the_log_says_where_there_is_no_index_of_trigrams_and_shows_no_values_of_statements() {
    let postgresql = Postgresql::shared();
    postgresql.create_database("home");
    // Only the owner of a database may add an extension.
    let guest = "CREATE ROLE guest_of_log LOGIN; GRANT CREATE ON SCHEMA public TO guest_of_log";
    postgresql.run("home", guest);
    let mut server = on(&postgresql.url_of("guest_of_log", "home"))
        .environment("PORTICO_LOG", "trace,tokio_postgres::query=trace")
        .start();
    let admin = administrator(&server);
    admin
        .mutate(
            "app.create",
            &json!({"name": "Shown nowhere", "iconUrl": "/i.svg"}),
        )
        .data();
    let found = admin.query("app.search", &json!({"query": "shown"})).data();
    assert_eq!(found[0]["name"], "Shown nowhere");
    let log = server.stop().stderr;
    assert!(log.contains("there is no index of trigrams"), "{log}");
    assert!(log.contains("CREATE EXTENSION pg_trgm"), "{log}");
    for secret in ["$argon2id$", "Shown nowhere"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
#[ignore = "make test-all"]
fn the_other_commands_work_on_the_database_or_say_what_to_do() {
    let postgresql = Postgresql::shared();
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

#[test]
#[ignore = "make test-all"]
fn a_host_whose_clock_is_a_hundred_days_ahead_goes_by_that_of_the_server() {
    const SECONDS: i64 = 100 * 24 * 60 * 60;
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    // The clock of the server is behind instead.
    let clock = format!(
        "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
            AS $$SELECT pg_catalog.clock_timestamp() - interval '{SECONDS} seconds'$$;
        ALTER DATABASE \"{}\" SET search_path = public, pg_catalog",
        postgresql.name("home")
    );
    postgresql.run("home", &clock);
    let server = on(&url).start();
    server.wait_for_log(0, "ahead of that of the database's server");
    let answer = server.anonymous().get("/api/health/ready");
    let ahead = answer.assert_status(200).json()["clockAheadSeconds"]
        .as_i64()
        .expect("seconds");
    assert!((SECONDS - 60..=SECONDS + 60).contains(&ahead), "{ahead}");
    administrator(&server).app("App");
    let late = format!(
        "SELECT count(*) FROM audit WHERE time > (extract(epoch FROM pg_catalog.now()) - {SECONDS} + 600) * 1000"
    );
    assert_eq!(postgresql.run("home", &late), "0");
}

#[test]
#[ignore = "make test-all"]
fn a_host_has_at_most_as_many_connections_as_it_is_told() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let server = on(&url).argument("--database-connections=3").start();
    let admin = administrator(&server);
    std::thread::scope(|scope| {
        for number in 0..40 {
            let admin = &admin;
            scope.spawn(move || admin.app(&format!("app {number}")));
        }
    });
    let open = "
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'portico/%'";
    let open: usize = postgresql.run("home", open).parse().expect("a count");
    // With the one for checks.
    assert!((2..=4).contains(&open), "{open}");
}
