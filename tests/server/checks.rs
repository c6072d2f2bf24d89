//! What operators ask before and after a start: `portico doctor`, `portico healthcheck`, and secrets in files.

use std::fs;
use std::path::Path;

use portico_tests::postgresql::Postgresql;
use portico_tests::{
    Builder, Fixtures, Portico, administrator, can_mount, command, free_port, mount_namespace, run,
};

/// What the doctor says of this data directory with these variables, and whether it is content.
fn doctor(data: &Path, variables: &[(&str, &str)]) -> (String, bool) {
    let mut doctor = command();
    doctor
        .args(["doctor", "--listen", "127.0.0.1:0", "--data"])
        .arg(data);
    let finished = run(doctor.envs(variables.iter().copied()), "");
    let text = finished.text();
    assert!(!text.contains("panicked"), "{text}");
    (text, finished.status.success())
}

/// The line about this.
#[track_caller]
fn line<'a>(text: &'a str, what: &str) -> &'a str {
    let mut lines = text.lines();
    let found = lines.find(|line| line.split_whitespace().nth(1) == Some(what));
    found.unwrap_or_else(|| panic!("no line on {what}:\n{text}"))
}

#[test]
fn the_doctor_looks_at_everything_before_a_first_start_and_touches_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (text, is_content) = doctor(&folder.path().join("data"), &[]);
    assert!(is_content, "{text}");
    for what in [
        "settings", "data", "clock", "database", "provider", "icons", "proxy", "host",
    ] {
        assert!(line(&text, what).starts_with("ok "), "{text}");
    }
    assert_eq!(text.lines().count(), 8, "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn the_doctor_looks_at_a_host_that_serves() {
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = Builder::default().listen(&address).start();
    let mut doctor = command();
    doctor
        .args(["doctor", "--listen", &address, "--data"])
        .arg(server.data());
    let text = run(&mut doctor, "").succeeded();
    assert!(line(&text, "database").contains("it is whole"), "{text}");
    assert!(line(&text, "host").contains("is ready: portico"), "{text}");
    server.stop().succeeded();
}

#[test]
fn the_doctor_says_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    fs::write(data.join("portico.db"), [b'x'; 5000]).expect("a file");
    let unused = format!("http://127.0.0.1:{}", free_port());
    let (text, is_content) = doctor(
        &data,
        &[
            ("PORTICO_DATABSE", "x"),
            ("PORTICO_OIDC_ISSUER", &unused),
            ("PORTICO_OIDC_CLIENT_ID", "portico"),
            ("PORTICO_PUBLIC_URL", "http://localhost:1"),
            ("PORTICO_LDAP_URL", "ldap://127.0.0.1:1"),
            ("PORTICO_LDAP_USERS_BASE", "ou=people"),
            ("PORTICO_ICON_SOURCES", &format!("{unused}|{unused}")),
        ],
    );
    assert!(!is_content, "{text}");
    for (what, said) in [
        (
            "settings",
            "warn  settings  nothing reads the environment variable PORTICO_DATABSE: did you mean",
        ),
        ("database", "fail  database  cannot read the database"),
        (
            "provider",
            "fail  provider  the OpenID Connect issuer does not answer rightly",
        ),
        ("icons", "warn  icons     1 of 1 sources do not answer"),
        ("proxy", "warn  proxy     no host answers at http://localhost:1"),
    ] {
        assert!(line(&text, what).starts_with(said), "{said}\n{text}");
    }
    assert!(text.contains("the LDAP directory cannot be used"), "{text}");
}

#[test]
fn the_doctor_finds_a_disk_that_cannot_be_written() {
    if !can_mount() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut doctor = command();
    doctor
        .args(["doctor", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"));
    let mut doctor = mount_namespace(&doctor, "mount -t tmpfs -o ro none \"$DATA\"");
    let finished = run(doctor.env("DATA", folder.path()), "");
    let text = finished.text();
    assert!(!finished.status.success(), "{text}");
    assert!(
        line(&text, "data").starts_with("fail  data      this user may not write to /"),
        "{text}"
    );
}

#[test]
fn the_doctor_refuses_settings_that_do_not_go_together() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (text, is_content) = doctor(folder.path(), &[("PORTICO_WATCH", "true")]);
    assert!(
        !is_content && text.starts_with("fail  settings  --watch needs a file"),
        "{text}"
    );
}

#[test]
#[ignore = "make test-all"]
fn the_doctor_looks_at_postgresql() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let doctor = || doctor(&data, &[("PORTICO_DATABASE", &*url)]);
    let (text, is_content) = doctor();
    assert!(
        !is_content && text.contains("it has no tables of Portico"),
        "{text}"
    );
    let mut server = Builder::default().environment("PORTICO_DATABASE", &*url).start();
    let (text, is_content) = doctor();
    assert!(is_content, "{text}");
    assert!(
        line(&text, "database").contains("answers, and has the tables"),
        "{text}"
    );
    assert!(
        line(&text, "clock").contains("as at the database's server"),
        "{text}"
    );
    server.stop().succeeded();
}

#[test]
fn a_healthcheck_succeeds_while_a_host_is_ready() {
    let address = format!("127.0.0.1:{}", free_port());
    let check = |arguments: &[&str]| {
        let mut check = command();
        // A proxy that containers name is not asked.
        check
            .env("HTTP_PROXY", "http://127.0.0.1:1")
            .env("http_proxy", "http://127.0.0.1:1");
        run(
            check
                .arg("healthcheck")
                .args(arguments)
                .env("PORTICO_LISTEN", &address),
            "",
        )
    };
    let mut server = Builder::default().listen(&address).start();
    assert!(check(&[]).succeeded().contains("is ready: portico"));
    assert!(check(&["--live"]).succeeded().contains("is live"));
    check(&["--url", &format!("http://{address}/")]).succeeded();
    server.stop().succeeded();
    let text = check(&[]).failed();
    assert!(text.contains("no host answers at http://127.0.0.1:"), "{text}");
    let text = check(&["--url", "http://ann:secret@127.0.0.1"]).failed();
    assert!(!text.contains("secret"), "{text}");
    check(&["--time-limit", "0"]).failed();
    let text = run(
        command().arg("healthcheck").env("PORTICO_LISTEN", "0.0.0.0:0"),
        "",
    )
    .failed();
    assert!(text.contains("--url"), "{text}");
}

/// As PostgreSQL's: alive, and not ready.
#[test]
fn a_healthcheck_tells_a_host_that_waits_from_one_that_serves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let address = format!("127.0.0.1:{}", free_port());
    let builder = Builder::default()
        .listen(&address)
        .environment("PORTICO_DATABASE", "postgres://ann@127.0.0.1:1/home");
    let mut starting = builder.spawn(&folder.path().join("data"));
    portico_tests::wait_for_text(|| starting.text(), "waiting for the database", 1);
    let check = |argument: &[&str]| {
        run(
            command()
                .args(["healthcheck", "--listen", &address])
                .args(argument),
            "",
        )
    };
    check(&["--live"]).succeeded();
    let text = check(&[]).failed();
    assert!(
        text.contains("503 Not ready: the host waits for its database"),
        "{text}"
    );
    starting.signal("-TERM");
    starting.wait();
}

#[test]
fn every_secret_may_be_in_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path.to_str().expect("a text").to_owned()
    };
    // The database.
    let url = file("database", "postgres://ann:s3cret@127.0.0.1:1/home\n");
    let mut starting = Builder::default()
        .environment("PORTICO_DATABASE_FILE", &*url)
        .spawn(&folder.path().join("data"));
    portico_tests::wait_for_text(|| starting.text(), "waiting for the database", 1);
    starting.signal("-TERM");
    let text = starting.wait().text();
    assert!(text.contains("127.0.0.1:1") && !text.contains("s3cret"), "{text}");
    // In the settings file, which a variable overrides.
    let config = file("portico.toml", &format!("database-file = {url:?}\n"));
    let text = run(command().args(["backup", "x", "--config", &config]), "").failed();
    assert!(text.contains("the database is PostgreSQL's"), "{text}");
    let mut both = command();
    both.args(["backup", "x"])
        .env("PORTICO_DATABASE", "postgres://b@c/d");
    let text = run(both.env("PORTICO_DATABASE_FILE", &url), "").failed();
    assert!(text.contains("database and database-file are both set"), "{text}");
    // Both places of a copy.
    let source = file("source", "sqlite:/nowhere");
    let mut copy = command();
    copy.arg("copy").env("PORTICO_COPY_FROM_FILE", source);
    let text = run(copy.env("PORTICO_COPY_TO_FILE", &url), "").failed();
    assert!(
        text.contains("no data directory /nowhere") && !text.contains("s3cret"),
        "{text}"
    );
    // The key of a running host.
    let server = Portico::start();
    let admin = administrator(&server);
    let key = file("key", &admin.key_of(&admin.user_id).key);
    let mut call = command();
    call.args([
        "call",
        "user.getAll",
        "--url",
        &format!("http://{}", server.address()),
    ]);
    let text = run(call.env("PORTICO_KEY_FILE", &key), "").succeeded();
    assert!(text.contains("root"), "{text}");
    call.env("PORTICO_KEY_FILE", "/dev/zero");
    let text = run(&mut call, "").failed();
    assert!(
        text.contains("key-file: cannot use /dev/zero: it has more than"),
        "{text}"
    );
}
