//! An issuer that is down, slow, or talks nonsense.

use std::{
    thread,
    time::{Duration, Instant},
};

use portico_tests::{Client, Portico};
use serde_json::json;

use super::{
    browser::{Browser, Page},
    harness::{Issuer, sign_in, signed_in, start, start_url, user, users},
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

#[test]
fn without_userinfo_a_sign_in_that_lacks_only_a_picture_goes_on() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_GROUPS_CLAIM", "groups")]);
    let first = user(&server, &signed_in(&server, "1"));
    for status in [403, 404, 500] {
        issuer.behaves(json!({
            "brokenAt": "/me", "status": status, "claims": {"preferred_username": "ada"},
        }));
        let said = server.log().len();
        let again = user(&server, &signed_in(&server, "1"));
        // What the issuer could not be asked for stays.
        assert_eq!(again, first);
        let line = server.wait_for_log(said, "goes on without userinfo");
        assert!(line.contains(&format!("userinfo: {status}")), "{line}");
    }
    // A first sign-in without an email is a user without one, and of no group.
    issuer.knows(json!({"2": {"preferred_username": "grace"}}));
    issuer.behaves(json!({"brokenAt": "/me", "claims": {"preferred_username": "grace"}}));
    let grace = user(&server, &signed_in(&server, "2"));
    assert_eq!(
        (&grace["email"], &grace["permissions"]),
        (&json!(null), &json!([]))
    );
    assert_eq!(users(&administrator), ["ada", "grace", "root"]);
}

#[test]
fn without_a_userinfo_that_answers_or_can_be_read_it_goes_on_as_well() {
    // Half of the time is for userinfo.
    let (issuer, server, _) = start(&[("PORTICO_OIDC_TIME_LIMIT", "20")]);
    let first = user(&server, &signed_in(&server, "1"));
    let claims = json!({"preferred_username": "ada"});
    for (behaviour, why) in [
        (
            json!({"silentAt": "/me", "claims": claims}),
            "userinfo: no answer",
        ),
        (
            json!({"encryptsUserinfo": true, "claims": claims}),
            "its claims are encrypted",
        ),
    ] {
        issuer.behaves(behaviour);
        let said = server.log().len();
        assert_eq!(user(&server, &signed_in(&server, "1")), first);
        let line = server.wait_for_log(said, "goes on without userinfo");
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn without_userinfo_no_second_user_is_made_of_a_person_who_is_to_be_linked() {
    let (issuer, server, administrator) = start(&[("PORTICO_OIDC_LINKING", "verified")]);
    for claims in [
        json!({"preferred_username": "ada"}),
        json!({"preferred_username": "ada", "email": "ada@example.com"}),
        json!({"email": "ada@example.com", "email_verified": true}),
    ] {
        issuer.behaves(json!({"brokenAt": "/me", "claims": claims}));
        let (_, page) = sign_in(&server, "1");
        assert_silent(&page);
    }
    assert_eq!(users(&administrator), ["root"]);
}

#[test]
fn a_token_endpoint_that_fails_or_is_busy_is_unavailable_and_its_words_are_in_the_log() {
    let (issuer, server, _) = start(&[]);
    let described = json!({"error": "invalid_grant", "error_description": "AADSTS54005: used\nforged"});
    for (status, unavailable) in [(500, true), (503, true), (429, true), (400, false), (401, false)] {
        issuer.behaves(json!({"brokenAt": "/token", "status": status, "refusal": described}));
        let said = server.log().len();
        let (_, page) = sign_in(&server, "1");
        if unavailable {
            assert_silent(&page);
        } else {
            page.assert_refused(401, "UNAUTHORIZED");
        }
        let line = server.wait_for_log(said, "AADSTS54005");
        assert!(
            line.contains(r"used\nforged") || line.contains(r"used\\nforged"),
            "{line}"
        );
    }
}

#[test]
fn a_token_endpoint_that_repeats_the_code_does_not_get_it_into_the_log() {
    let (issuer, server, _) = start(&[]);
    // One that is longer than what the log quotes of a text, and one that is escaped there.
    let long = "c0de".repeat(100);
    for (code, status) in [(long.as_str(), 400), ("a\"c0de\\", 400), (long.as_str(), 503)] {
        let browser = Browser::new();
        let callback = browser.at_issuer(&start_url(&server), "1");
        let given = super::browser::parameter(&callback, "code").expect("a code");
        let callback = callback.replace(&given, &portico_tests::escape(code));
        let description = format!("bad code {code}; a secret of the client; {status}");
        let refusal = json!({"error": "invalid_grant", "error_description": description});
        issuer.behaves(json!({"brokenAt": "/token", "status": status, "refusal": refusal}));
        let refused = if status == 400 { 401 } else { 503 };
        assert_eq!(browser.get(&callback).status, refused);
        issuer.behaves(json!({}));
    }
    server.wait_for_log(0, "; 503");
    let log = server.log();
    assert!(log.contains("bad code") && log.contains("; 400"), "{log}");
    assert!(
        !log.contains("c0de") && !log.contains("a secret of the client"),
        "{log}"
    );
}

#[test]
fn without_userinfo_an_email_stays_verified() {
    let (issuer, server, administrator) = start(&[]);
    let email = json!({"preferred_username": "ada", "email": "ada@example.com", "email_verified": true});
    issuer.knows(json!({"1": email}));
    let ada = user(&server, &signed_in(&server, "1"));
    let verified = || {
        let found = administrator
            .query("user.getById", &json!({"userId": ada["id"]}))
            .data();
        found["emailVerified"].is_string()
    };
    assert!(verified());
    let token = |email: &str| json!({"preferred_username": "ada", "email": email});
    for (claims, stays) in [
        (token("ada@example.com"), true),
        (token("other@example.com"), false),
    ] {
        issuer.behaves(json!({"brokenAt": "/me", "claims": claims}));
        signed_in(&server, "1");
        assert_eq!(verified(), stays, "{claims}");
    }
}

#[test]
fn an_issuer_under_another_spelling_is_set_up_wrong_and_the_log_says_what_to_set() {
    let issuer = Issuer::start();
    for spelling in ["/", "/.well-known/openid-configuration", " "] {
        let server = super::harness::settings(&issuer, &[])
            .environment("PORTICO_OIDC_ISSUER", format!("{}{spelling}", issuer.url))
            .start();
        portico_tests::administrator(&server);
        let line = server.wait_for_log(0, "OpenID Connect is set up wrong");
        let advice = format!("set oidc-issuer to \\\"{}\\\"", issuer.url);
        let plain = format!("set oidc-issuer to \"{}\"", issuer.url);
        assert!(line.contains(&advice) || line.contains(&plain), "{line}");
        let page = Browser::new().get(&start_url(&server));
        page.assert_refused(503, "SERVICE_UNAVAILABLE");
        assert!(page.body.contains("set up wrong"), "{page:?}");
    }
    // A document that names another issuer is refused as well.
    issuer.behaves(json!({"discovery": {"issuer": "https://evil.example"}}));
    let server = super::harness::settings(&issuer, &[]).start();
    portico_tests::administrator(&server);
    let page = Browser::new().get(&start_url(&server));
    page.assert_refused(503, "SERVICE_UNAVAILABLE");
}

#[test]
fn an_issuer_that_does_not_know_the_client_is_named_at_the_start() {
    let issuer = Issuer::start();
    issuer.behaves(json!({"brokenAt": "/token", "status": 401, "refusal": {"error": "invalid_client"}}));
    let server = super::harness::settings(&issuer, &[]).start();
    let line = server.wait_for_log(0, "it refuses oidc-client-id and its secret");
    assert!(line.contains("invalid_client"), "{line}");
}

#[test]
fn a_secret_that_the_issuer_has_replaced_is_set_up_wrong_and_no_one_guesses() {
    let (issuer, server, _) = start(&[]);
    for error in ["invalid_client", "unauthorized_client"] {
        issuer.behaves(json!({"brokenAt": "/token", "status": 401, "refusal": {"error": error}}));
        let said = server.log().len();
        let (_, page) = sign_in(&server, "1");
        page.assert_refused(503, "SERVICE_UNAVAILABLE");
        assert!(page.body.contains("set up wrong"), "{page:?}");
        server.wait_for_log(said, "it refuses oidc-client-id and its secret");
    }
    assert!(!server.log().contains("sign-in-failed"), "{}", server.log());
}

#[test]
fn an_issuer_whose_url_has_a_page_or_leads_elsewhere_is_set_up_wrong() {
    let (issuer, server, _) = start(&[]);
    for (status, body) in [
        (200, json!(["a page of an application"])),
        (200, json!({"error": "not found"})),
        (302, json!({})),
    ] {
        issuer.behaves(json!({"brokenAt": DISCOVERY, "status": status, "refusal": body}));
        let said = server.log().len();
        let page = Browser::new().get(&start_url(&server));
        page.assert_refused(503, "SERVICE_UNAVAILABLE");
        assert!(page.body.contains("set up wrong"), "{page:?}");
        server.wait_for_log(said, "check oidc-issuer");
    }
    issuer.behaves(json!({"brokenAt": DISCOVERY, "status": 200}));
    let page = Browser::new().get(&start_url(&server));
    assert!(page.body.contains("set up wrong"), "{page:?}");
}

#[test]
fn the_page_of_a_refusal_shows_the_id_that_the_log_and_the_audit_log_have() {
    let (_issuer, server, administrator) = start(&[]);
    let path = "/api/auth/oidc/callback?state=made-up&code=x";
    let answer = server
        .anonymous()
        .try_send("GET", path, &[("accept", "text/html")], None)
        .expect("an answer");
    assert_eq!(answer.status, 401, "{answer}");
    let id = answer.header("x-request-id").expect("an id").to_owned();
    assert!(
        answer.text().contains("<html") && answer.text().contains(&id),
        "{answer}"
    );
    let line = server.wait_for_log(0, "a sign-in by OpenID Connect failed");
    assert!(line.contains(&id), "{line}");
    let input = json!({"page": 1, "pageSize": 1, "procedure": "sign-in", "outcome": "UNAUTHORIZED"});
    let rows = administrator.query("audit.getPaginated", &input).data();
    assert_eq!(rows["items"][0]["requestId"], id, "{rows}");
}
