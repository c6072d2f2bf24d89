//! An issuer that is down, slow, or talks nonsense.

use std::{
    thread,
    time::{Duration, Instant},
};

use portico_tests::{Client, Portico};
use serde_json::json;

use super::{
    browser::{Browser, Page},
    harness::{Issuer, sign_in, signed_in, start, start_url},
};

const DISCOVERY: &str = "/.well-known/openid-configuration";

#[track_caller]
fn assert_silent(page: &Page) {
    page.assert_refused(503, "SERVICE_UNAVAILABLE");
    let message = page.json()["message"].as_str().expect("a text").to_owned();
    assert!(
        message.contains("The sign-in provider does not answer"),
        "{message}"
    );
}

#[test]
fn an_issuer_that_is_down_is_asked_again_the_next_time() {
    let (mut issuer, server, _) = start(&[]);
    for broken in [
        json!({"brokenAt": DISCOVERY}),
        json!({"hugeAt": DISCOVERY}),
        json!({"brokenAt": "/jwks"}),
        json!({"discovery": {"issuer": "https://evil.example"}}),
        json!({"discovery": {"token_endpoint": "http://evil.example/token"}}),
        json!({"discovery": {"authorization_endpoint": "http://evil.example/auth"}}),
        json!({"discovery": {"jwks_uri": 7}}),
    ] {
        issuer.behaves(broken);
        assert_silent(&Browser::new().get(&start_url(&server)));
    }
    issuer.behaves(json!({}));
    signed_in(&server, "1");
    for broken in [
        json!({"brokenAt": "/token"}),
        json!({"hugeAt": "/token"}),
        json!({"brokenAt": "/me"}),
    ] {
        issuer.behaves(broken);
        let (_, page) = sign_in(&server, "1");
        assert_silent(&page);
    }
    issuer.behaves(json!({}));
    // What is known of it is enough to begin; then it is gone.
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    issuer.stop();
    assert_silent(&browser.get(&callback));
    server.wait_for_log(0, "the OpenID Connect issuer does not answer");
    let log = server.log();
    assert!(!log.contains("a secret of the client"), "{log}");
}

#[test]
fn an_issuer_that_cannot_be_reached_at_the_start_prevents_nothing_else() {
    let mut issuer = Issuer::start();
    issuer.stop();
    let server = super::harness::settings(&issuer, &[]).start();
    portico_tests::administrator(&server);
    assert_silent(&Browser::new().get(&start_url(&server)));
    server.sign_in("root", portico_tests::PASSWORD);
}

#[test]
fn an_issuer_that_is_slow_costs_its_users_the_time_limit_and_others_nothing() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_TIME_LIMIT", "2")]);
    let browser = Browser::new();
    let callback = browser.at_issuer(&start_url(&server), "1");
    issuer.behaves(json!({"silentAt": "/token"}));
    let limit = Duration::from_secs(2);
    let begun = Instant::now();
    // More than there are threads for, and than there are cores.
    let waiting: Vec<_> = (0..40)
        .map(|_| {
            let browser = Browser::new();
            let callback = browser.at_issuer(&start_url(&server), "1");
            thread::spawn(move || {
                let begun = Instant::now();
                (browser.get(&callback), begun.elapsed())
            })
        })
        .collect();
    let reads = read_while(&server, &administrator.token, || {
        waiting.iter().any(|waiting| !waiting.is_finished())
    });
    for waiting in waiting {
        let (page, took) = waiting.join().expect("an answer");
        assert_silent(&page);
        assert!(took < 40 * limit, "one after the other: {took:?}");
    }
    assert!(begun.elapsed() >= limit, "it was silent");
    assert!(reads > 0, "no read beside them");
    assert_silent(&browser.get(&callback));
    issuer.behaves(json!({}));
    signed_in(&server, "1");
}

/// How many reads get responses meanwhile.
fn read_while(server: &Portico, token: &str, more: impl Fn() -> bool) -> u32 {
    let reader = server.key(token);
    let mut reads = 0;
    while more() {
        reader.get("/api/users").assert_status(200);
        reads += 1;
    }
    reads
}
