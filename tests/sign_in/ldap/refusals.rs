//! Refusals say nothing about their reason, and what a user types is only ever a value.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use portico_service::{external::Providers, throttle::Throttle};
use portico_sign_in::ldap::Ldap;
use portico_storage::{MemoryRecords, memory::MemoryStorage};
use portico_tests::{
    Client, Listening, PASSWORD as LOCAL_PASSWORD, TestClock, TestService, administrator_of,
};
use serde_json::json;

use super::{
    session, sign_in, sign_in_by,
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
    let tries = [
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
    ];
    thread::scope(|scope| {
        for (username, password) in tries {
            let (server, wrong) = (&server, &wrong);
            scope.spawn(move || {
                let begun = Instant::now();
                let answer = sign_in(server, username, password);
                let name: String = username.chars().take(40).collect();
                assert_eq!(answer.seen(), wrong.seen(), "{name:?}: {answer}");
                let took = begun.elapsed();
                assert!(took >= Duration::from_secs(1), "{name:?}: {took:?}");
            });
        }
    });
    server.wait_for_log(0, "has no valid uid");
    let line = server.wait_for_log(0, "more than one entry matches the name");
    assert!(line.contains("uid=twin,ou=others"), "{line}");
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
    let searches = log.matches("filter=\"(&(objectClass=inetOrgPerson)(|(uid=ada");
    assert_eq!(searches.count(), 2, "{log}");
}

#[test]
#[ignore = "make test-all"]
fn tries_are_limited_as_those_with_credentials_are() {
    let slapd = Slapd::start();
    let ldap = Ldap::new(slapd.settings()).expect("the settings");
    let providers = Providers {
        ldap: Some(Arc::new(ldap)),
        oidc: None,
    };
    // By a clock that stands still.
    let records = MemoryRecords::new(TestClock::at_new_year());
    let service = TestService::over(Arc::new(MemoryStorage::new()))
        .throttle(Throttle::new(Arc::new(records)))
        .providers(providers);
    let Listening { client, .. } = &service.listen();
    administrator_of(client);
    sign_in_by(client, "ada", "not the password").assert_refused(401, "UNAUTHORIZED");
    let refused = sign_in_by(client, " ADA", PASSWORD);
    refused.assert_refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(refused.header("retry-after"), Some("1"), "{refused}");
    // Another name of the same entry is the same account, though that is not told.
    sign_in_by(client, "ada@example.com", PASSWORD).assert_refused(401, "UNAUTHORIZED");
    let log = slapd.wait_for_log("filter=\"(&(objectClass=inetOrgPerson)(|(uid=ada@example.com)", 1);
    let searches = log.matches("SRCH base=\"ou=people").count();
    assert_eq!(
        searches, 2,
        "the directory was asked about an account that has to wait:\n{log}"
    );
    let binds = log.matches("BIND dn=\"uid=Ada,ou=people,dc=example\" method");
    assert_eq!(binds.count(), 1, "{log}");
    // The same name as a user of this service is another account.
    let ada = json!({"username": "ada", "password": LOCAL_PASSWORD});
    client
        .post("/api/auth/sign-in", &ada)
        .assert_refused(401, "UNAUTHORIZED");
    // The address has ten tries in all.
    let limited = thread::scope(|scope| {
        let tries = std::array::from_fn::<_, 16, _>(|number| {
            scope.spawn(move || sign_in_by(client, &format!("name-{number}"), "not the password").status)
        });
        tries.map(|status| status.join().expect("a status"))
    });
    let failed = limited.iter().filter(|status| **status == 401).count();
    assert_eq!(failed, 7, "{limited:?}");
    assert_eq!(limited.iter().filter(|status| **status == 429).count(), 9);
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
    assert!(known.text().contains("The directory is set up wrong"), "{known}");
    let problem = "the name or the password is wrong: ldap-bind-dn";
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
