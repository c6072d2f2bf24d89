//! The line of the log for each failed sign-in, and what programs that ban addresses make of it.

use std::{path::Path, process::Command};

use portico_tests::{Builder, Client, PASSWORD, Portico, administrator, wait_until};
use serde_json::json;

/// Text that would be another line about another address, if it were in the log as it is.
const FORGED: &str = "x\" address=192.0.2.9 provider=\"ldap\n WARN a sign-in failed event=\"sign-in-failed\" \
                      address=192.0.2.9 provider=\"credentials\" user=\"unknown\" reason=\"UNAUTHORIZED\"";

fn sign_in(server: &Portico, username: &str, password: &str) -> u16 {
    let body = json!({"username": username, "password": password});
    server.anonymous().post("/api/auth/sign-in", &body).status
}

/// Three failures: of a user, of a name that is a password, and of one that looks like a line of the log.
fn fail(server: &Portico) {
    for (username, password) in [
        ("root", "not the password"),
        ("my secret by mistake", PASSWORD),
        (FORGED, "x"),
    ] {
        assert_eq!(sign_in(server, username, password), 401);
    }
}

fn lines(server: &Portico) -> Vec<String> {
    let log = server.log();
    let lines = log.lines().filter(|line| line.contains("sign-in-failed"));
    lines.map(Into::into).collect()
}

#[test]
fn each_failed_sign_in_is_one_warning_without_what_was_typed() {
    let server = Portico::start();
    let admin = administrator(&server);
    fail(&server);
    wait_until("three lines", || lines(&server).len() >= 3);
    assert_eq!(sign_in(&server, "root", PASSWORD), 200);
    // No provider is asked for these, so they are no attempts.
    let wrong = server
        .anonymous()
        .post("/api/auth/sign-in", &json!({"username": 7}));
    assert_eq!(wrong.status, 400);
    let lines = lines(&server);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for (line, user) in lines.iter().zip([&admin.user_id, "unknown", "unknown"]) {
        let expected = format!(
            "WARN a sign-in failed event=\"sign-in-failed\" address=\"127.0.0.1\" provider=\"credentials\" \
             user=\"{user}\" reason=\"UNAUTHORIZED\" request=\""
        );
        assert!(line.contains(&expected), "{expected}\n{line}");
    }
    let log = server.log();
    for typed in ["my secret", "192.0.2.9", "not the password"] {
        assert!(!log.contains(typed), "{typed}:\n{log}");
    }
}

#[test]
fn attempts_that_the_throttle_refuses_write_no_lines() {
    let server = Builder::default()
        .environment("PORTICO_SIGN_IN_THROTTLE", "on")
        .start();
    administrator(&server);
    // On a slow machine the time to wait is over by some of the next tries.
    let (mut failed, mut refused) = (0, 0);
    wait_until("twenty refusals", || {
        match sign_in(&server, "root", "not the password") {
            401 => failed += 1,
            status => {
                assert_eq!(status, 429);
                refused += 1;
            }
        }
        refused == 20
    });
    // This one is logged after them.
    server
        .anonymous()
        .post(
            "/api/auth/sign-in",
            &json!({"username": "no one", "password": "x"}),
        )
        .assert_status(401);
    wait_until("a line for each", || lines(&server).len() > failed);
    assert_eq!(lines(&server).len(), failed + 1);
}

#[test]
#[ignore = "make test-all"]
fn fail2ban_finds_the_address_of_each_failed_sign_in_and_no_other() {
    let filter =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/operate/fail2ban/filter.d/portico.conf");
    let folder = tempfile::tempdir().expect("a folder");
    for format in ["pretty", "json"] {
        let server = Builder::default()
            .environment("PORTICO_LOG_FORMAT", format)
            .start();
        administrator(&server);
        fail(&server);
        assert_eq!(sign_in(&server, "root", PASSWORD), 200);
        wait_until("three lines", || lines(&server).len() >= 3);
        let log = folder.path().join(format);
        std::fs::write(&log, server.log()).expect("a file");
        assert_eq!(
            found(&["--out", "ip"], &log, &filter),
            ["127.0.0.1"; 3],
            "{format}:\n{}",
            server.log()
        );
        // As fail2ban reads them from the journal of systemd: it takes the time from there.
        let lines: Vec<_> = server
            .log()
            .lines()
            .map(|line| format!("host portico[12]: {line}\n"))
            .collect();
        std::fs::write(&log, lines.concat()).expect("a file");
        let found = found(&["--datepattern", "{NONE}", "--out", "ip"], &log, &filter);
        assert_eq!(found, ["127.0.0.1"; 3], "{format}:\n{}", lines.concat());
    }
}

/// What fail2ban finds in a log with a filter.
fn found(arguments: &[&str], log: &Path, filter: &Path) -> Vec<String> {
    let output = Command::new("fail2ban-regex")
        .args(arguments)
        .args([log, filter])
        .output()
        .expect("fail2ban-regex: make test-programs");
    let found = String::from_utf8_lossy(&output.stdout);
    found.lines().map(Into::into).collect()
}
