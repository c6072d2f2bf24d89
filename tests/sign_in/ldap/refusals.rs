//! Refusals say nothing about their reason, and what a user types is only ever a value.

use std::thread;
use std::time::{Duration, Instant};

use portico_tests::{Client, PASSWORD as LOCAL_PASSWORD};
use serde_json::json;

use super::{
    session, sign_in,
    slapd::{PASSWORD, Slapd},
    start,
};

#[test]
#[ignore = "make test-all"]
fn every_reason_is_answered_the_same_byte_for_byte_and_not_at_once() {
    let slapd = Slapd::start();
    let server = start(slapd.service());
    session(&server, "ada", PASSWORD);
    let wrong = sign_in(&server, "ada", "not the password");
    wrong.assert_refused(401, "UNAUTHORIZED");
    assert!(wrong.header("set-cookie").is_none());
    // As with a password of the service.
    let body = json!({"username": "ada", "password": PASSWORD});
    let credentials = server.anonymous().post("/api/auth/sign-in", &body);
    assert_eq!(wrong.seen(), credentials.seen());

    let long = "x".repeat(300);
    let longer = "x".repeat(100_000);
    for (username, password) in [
        ("mallory", PASSWORD),
        ("", PASSWORD),
        ("ada", ""),
        ("ada", "\0"),
        ("ada", &format!("{PASSWORD}\0")),
        ("ada", &format!("{PASSWORD} ")),
        ("ada", &longer),
        ("mallory", ""),
        // Two entries, one without a name, one without a password.
        ("twin", PASSWORD),
        ("nameless@example.com", PASSWORD),
        ("locked", PASSWORD),
        ("locked", ""),
        // What means something in a filter or in the name of an entry.
        ("*", PASSWORD),
        ("ad*", PASSWORD),
        ("ada)(uid=*", PASSWORD),
        ("ada))(|(uid=*", PASSWORD),
        ("*)(objectClass=*", PASSWORD),
        (")", PASSWORD),
        ("(", PASSWORD),
        ("\\", PASSWORD),
        ("\\61da", PASSWORD),
        ("ada\0", PASSWORD),
        ("\0", PASSWORD),
        ("ada\n", "not the password"),
        ("uid=Ada,ou=people,dc=example", PASSWORD),
        ("cn=portico,dc=example", PASSWORD),
        ("{username}", PASSWORD),
        (&long, PASSWORD),
        (&longer, PASSWORD),
    ] {
        let begun = Instant::now();
        let answer = sign_in(&server, username, password);
        let name: String = username.chars().take(40).collect();
        assert_eq!(answer.seen(), wrong.seen(), "{name:?}: {answer}");
        assert!(
            begun.elapsed() >= Duration::from_secs(1),
            "{name:?}: {:?}",
            begun.elapsed()
        );
    }
    server.wait_for_log(0, "has no valid uid");
    let log = server.log();
    assert!(
        log.contains("more than one entry matches the name") && log.contains("uid=twin,ou=others"),
        "{log}"
    );
    session(&server, "ada", PASSWORD);
}

#[test]
#[ignore = "make test-all"]
fn an_anonymous_bind_signs_no_user_in() {
    // This directory takes a bind without a password for an anonymous one, and says success.
    let slapd = Slapd::start();
    let configuration = slapd.file("slapd.conf");
    let text = std::fs::read_to_string(&configuration).expect("a text");
    std::fs::write(&configuration, format!("allow bind_anon_cred\n{text}")).expect("a file");
    let mut slapd = slapd;
    slapd.stop();
    slapd.start_again();
    let server = start(slapd.service());
    for password in ["", "\0", "\0\0"] {
        sign_in(&server, "ada", password).assert_refused(401, "UNAUTHORIZED");
    }
    sign_in(&server, "ada", " ").assert_refused(401, "UNAUTHORIZED");
    session(&server, "ada", PASSWORD);
    let log = slapd.wait_for_log("SRCH base=\"ou=groups", 1);
    let binds = log.matches("BIND dn=\"uid=Ada,ou=people,dc=example\" method");
    assert_eq!(binds.count(), 2, "{log}");
    let searches = log.matches("SRCH base=\"ou=people");
    assert_eq!(searches.count(), 2, "{log}");
}

#[test]
#[ignore = "make test-all"]
fn tries_are_limited_as_those_with_credentials_are() {
    let slapd = Slapd::start();
    let server = start(slapd.service().environment("PORTICO_SIGN_IN_THROTTLE", "on"));
    // After the fourth failure the account has to wait for three seconds, after each before for one.
    for failure in 1..=4 {
        sign_in(&server, "ada", "not the password").assert_refused(401, "UNAUTHORIZED");
        if failure < 4 {
            thread::sleep(Duration::from_millis(1100));
        }
    }
    let searches = |log: &str| log.matches("SRCH base=\"ou=people").count();
    let refused = sign_in(&server, " ADA", PASSWORD);
    refused.assert_refused(429, "TOO_MANY_REQUESTS");
    let wait = refused.header("retry-after").and_then(|wait| wait.parse().ok());
    assert!(wait.is_some_and(|wait| (1..=3).contains(&wait)), "{refused}");
    // Another name of the same entry is the same account, though that is not told.
    sign_in(&server, "ada@example.com", PASSWORD).assert_refused(401, "UNAUTHORIZED");
    server.wait_for_log(0, "too many tries at the entry");
    let log = slapd.wait_for_log("filter=\"(&(objectClass=inetOrgPerson)(|(uid=ada@example.com)", 1);
    assert_eq!(
        searches(&log),
        5,
        "the directory was asked about an account that has to wait:\n{log}"
    );
    let binds = log.matches("BIND dn=\"uid=Ada,ou=people,dc=example\" method");
    assert_eq!(binds.count(), 4, "{log}");
    // The same name as a user of this service is another account.
    let ada = json!({"username": "ada", "password": LOCAL_PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &ada)
        .assert_refused(401, "UNAUTHORIZED");
    // The address has ten tries in all, and one more every five seconds.
    let limited = thread::scope(|scope| {
        let server = &server;
        let tries = std::array::from_fn::<_, 16, _>(|number| {
            scope.spawn(move || sign_in(server, &format!("name-{number}"), "not the password").status)
        });
        tries.map(|status| status.join().expect("a status"))
    });
    assert!(limited.contains(&429), "{limited:?}");
}

#[test]
#[ignore = "make test-all"]
fn a_directory_that_does_not_take_the_service_is_told_to_the_log_alone() {
    let slapd = Slapd::start();
    let service = slapd
        .service()
        .environment("PORTICO_LDAP_BIND_PASSWORD", "canary-not-the-password");
    let server = start(service);
    let known = sign_in(&server, "ada", PASSWORD);
    known.assert_unavailable();
    assert!(
        known.text().contains("The directory cannot be reached"),
        "{known}"
    );
    let problem = "rejects ldap-bind-dn and its password: result 49";
    server.wait_for_log(0, problem);
    let log = server.log();
    assert!(!log.contains("canary-not"), "{log}");
    server.sign_in("root", LOCAL_PASSWORD);
}

#[test]
#[ignore = "make test-all"]
fn a_directory_that_comes_back_is_used_again() {
    let mut slapd = Slapd::start();
    let server = start(slapd.service());
    session(&server, "ada", PASSWORD);
    slapd.stop();
    sign_in(&server, "ada", PASSWORD).assert_unavailable();
    server.sign_in("root", LOCAL_PASSWORD);
    slapd.start_again();
    session(&server, "ada", PASSWORD);
}
