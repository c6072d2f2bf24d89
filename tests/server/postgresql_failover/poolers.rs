//! pgbouncer between the hosts and PostgreSQL.

use portico_tests::postgresql::Postgresql;
use portico_tests::{Pgbouncer, command, run};

use super::site::Site;
use super::trial::{ROUNDS, Trial};

/// What a start on this database says, which is refused.
fn refusal(url: &str) -> String {
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut serve = command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data.path());
    run(serve.env("PORTICO_DATABASE", url), "").failed()
}

#[test]
#[ignore = "make test-all"]
fn a_pooler_that_gives_each_transaction_another_session_is_refused() {
    let server = Postgresql::start();
    server.create_database("home");
    for (settings, is_used) in [("", false), ("server_round_robin = 1", false), ("", true)] {
        let pooler = Pgbouncer::start(&server, "transaction", settings);
        if is_used {
            // Other sessions are there, and idle.
            let clients: Vec<_> = (0..5)
                .map(|_| {
                    let url = pooler.url("home");
                    std::thread::spawn(move || {
                        let mut psql = std::process::Command::new("psql");
                        psql.arg(url)
                            .args(["--quiet", "--command", "SELECT pg_sleep(0.3)"]);
                        assert!(psql.output().expect("psql").status.success());
                    })
                })
                .collect();
            clients
                .into_iter()
                .for_each(|client| client.join().expect("a client"));
        }
        let refusal = refusal(&pooler.url("home"));
        assert!(refusal.contains("pool_mode = session"), "{settings}: {refusal}");
    }
    // Nothing was written there, and no setting is left behind.
    assert_eq!(
        server.run(
            "home",
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ),
        "0"
    );
}

#[test]
#[ignore = "make test-all"]
fn a_pooler_of_statements_and_one_without_room_are_refused() {
    let server = Postgresql::start();
    server.create_database("home");
    let pooler = Pgbouncer::start(&server, "statement", "");
    let refused = refusal(&pooler.url("home"));
    assert!(refused.contains("pool_mode = statement"), "{refused}");
    assert!(refused.contains("set pool_mode = session"), "{refused}");
    let pooler = Pgbouncer::start(&server, "session", "default_pool_size = 1");
    let refused = refusal(&pooler.url("home"));
    assert!(refused.contains("room for 17 connections"), "{refused}");
}

#[test]
#[ignore = "make test-all"]
fn behind_a_pooler_of_sessions_nothing_acknowledged_is_lost() {
    let server = Postgresql::start_with(&["-c", "max_connections=150"]);
    server.create_database("home");
    // By default it waits for 15 seconds before it connects to the server again.
    let pooler = Pgbouncer::start(&server, "session", "server_login_retry = 1");
    let site = Site::start(&pooler.url("home"));
    let mut trial = Trial::begin(site, &server);
    trial.rounds(
        "a process of the server behind pgbouncer is killed",
        ROUNDS,
        |_, _, _| {
            server.kill_one_process();
            &server
        },
    );
}
