//! Starting: what it waits for is in the log, and a signal ends it.

use std::net::TcpStream;
use std::thread;

use portico_tests::postgresql::Postgresql;
use portico_tests::{
    Anonymous, Builder, Client, Finished, command, free_port, run, wait_for_text, wait_until,
};

/// What a start says whose log contains this text, and that is then told to stop.
#[track_caller]
fn stopped_at(builder: Builder, text: &str, signal: &str) -> Finished {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut starting = builder.spawn(&folder.path().join("data"));
    wait_for_text(|| starting.text(), text, 1);
    starting.signal(signal);
    starting.wait()
}

#[test]
fn a_signal_ends_the_first_compilation() {
    for signal in ["-TERM", "-INT"] {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let cache = cache.path().to_str().expect("a path of text");
        let builder = Builder::default().environment("PORTICO_CACHE", cache);
        let finished = stopped_at(builder, "compiling the component", signal);
        assert_eq!(finished.status.code(), Some(0), "{}", finished.text());
        assert!(!finished.stdout.contains("listens"), "{}", finished.text());
    }
}

#[test]
#[ignore = "make test-all"]
fn a_signal_ends_a_start_on_postgresql_that_waits_for_a_migration() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    thread::scope(|scope| {
        // Another host migrates, until its session is ended.
        let hold =
            "SET application_name = 'other'; SELECT pg_advisory_xact_lock(1349678179, 0), pg_sleep(600)";
        scope.spawn(|| postgresql.run_failing("home", hold));
        let holds = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'other' AND wait_event = 'PgSleep'";
        wait_until("the lock", || postgresql.run("home", holds) == "1");
        let builder = Builder::default().environment("PORTICO_DATABASE", &*url);
        let finished = stopped_at(builder, "waiting for another host, which migrates", "-TERM");
        postgresql.run(
            "home",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'other'",
        );
        assert_eq!(finished.status.code(), Some(0), "{}", finished.text());
    });
}

#[test]
#[ignore = "make test-all"]
fn a_host_waits_for_postgresql_that_is_away() {
    let postgresql = Postgresql::start();
    let url = postgresql.create_database("home");
    postgresql.crash();
    let address = format!("127.0.0.1:{}", free_port());
    let builder = Builder::default()
        .environment("PORTICO_DATABASE", url)
        .listen(&address);
    let status = |path| {
        let answer = Anonymous::at(&address).send_allowing_5xx("GET", path, None);
        let is_tried_again = answer.header("retry-after").is_some();
        assert_eq!(is_tried_again, answer.status == 503, "{answer}");
        answer.status
    };
    let host = thread::scope(|scope| {
        let starting = scope.spawn(|| builder.start());
        wait_until("a host that listens", || TcpStream::connect(&address).is_ok());
        for _ in 0..3 {
            assert_eq!(status("/api/health/live"), 200);
            for path in ["/api/health/ready", "/api/apps", "/api/trpc/app.all", "/"] {
                assert_eq!(status(path), 503, "{path}");
            }
        }
        postgresql.start_again();
        starting.join().expect("a host")
    });
    wait_until("a host that is ready", || status("/api/health/ready") == 200);
    let log = host.log();
    assert_eq!(log.matches("waiting for the database").count(), 1, "{log}");
}

#[test]
fn a_signal_ends_a_host_that_waits_for_its_database() {
    let builder = Builder::default().environment("PORTICO_DATABASE", "postgres://ann@127.0.0.1:1/home");
    let finished = stopped_at(builder, "waiting for the database", "-TERM");
    assert_eq!(finished.status.code(), Some(0), "{}", finished.text());
}

#[test]
#[ignore = "make test-all"]
fn a_database_of_postgresql_that_does_not_exist_ends_a_start() {
    let postgresql = Postgresql::shared();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut serve = command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path());
    let text = run(serve.env("PORTICO_DATABASE", postgresql.url("nowhere")), "").failed();
    assert!(text.contains("does not exist"), "{text}");
}
