//! ID tokens that do not hold.

use serde_json::{Value, json};

use crate::harness::{assert_logged, sign_in, signed_in, start, user, users};

const AN_HOUR: u64 = 3600;

fn now() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.expect("a time after 1970").as_secs()
}

#[test]
fn an_id_token_that_is_not_for_this_sign_in_and_this_moment_is_refused() {
    let (issuer, server, administrator) = start(&[]);
    // Signed anew by what tampers, with nothing changed, it holds: what is refused is the change.
    issuer.behaves(json!({"claims": {}}));
    signed_in(&server, "1");
    let before = users(&administrator);

    let refused: [(&str, Value, &str); 10] = [
        ("nonce", json!({"claims": {"nonce": "wrong"}}), "Invalid nonce"),
        ("no nonce", json!({"claims": {"nonce": null}}), "Invalid nonce"),
        ("expired", json!({"claims": {"exp": now() - AN_HOUR}}), "Expired"),
        (
            "audience",
            json!({"claims": {"aud": "another client"}}),
            "Invalid audiences",
        ),
        (
            "audiences",
            json!({"claims": {"aud": ["another client", "portico"]}}),
            "Invalid audiences",
        ),
        (
            "issuer",
            json!({"claims": {"iss": "https://evil.example"}}),
            "Invalid issuer",
        ),
        (
            "access token",
            json!({"claims": {"at_hash": "d3Jvbmc"}}),
            "another access token",
        ),
        (
            "no signature",
            json!({"claims": {}, "header": {"alg": "none"}}),
            "No signature",
        ),
        (
            "shared secret",
            json!({"claims": {}, "header": {"alg": "HS256"}}),
            "Disallowed signature algorithm",
        ),
        (
            "another key",
            json!({"claims": {"sub": "1"}, "foreignKey": true}),
            "Crypto error",
        ),
    ];
    for (what, behaviour, reason) in refused {
        issuer.behaves(behaviour);
        let said = server.log().len();
        let (browser, page) = sign_in(&server, "1");
        assert_eq!(page.status, 401, "{what}: {page:?}\n{}", server.log());
        page.assert_refused(401, "UNAUTHORIZED");
        assert_logged(&server, said, reason);
        assert_eq!(browser.cookie("portico_session"), None, "{what}");
        assert_eq!(users(&administrator), before);
    }
    issuer.behaves(json!({}));
    signed_in(&server, "1");
}

#[test]
fn userinfo_of_somebody_else_is_refused() {
    let (issuer, server, _) = start(&[]);
    issuer.behaves(json!({"userinfo": {"sub": "2", "preferred_username": "root"}}));
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn new_keys_are_fetched_when_a_token_needs_them_but_not_for_every_token() {
    let (issuer, server, _) = start(&[]);
    let first = user(&server, &signed_in(&server, "1"));
    signed_in(&server, "1");
    assert_eq!(issuer.asked("/jwks"), 1, "they are kept");
    issuer.rotate();
    assert_eq!(user(&server, &signed_in(&server, "1"))["id"], first["id"]);
    assert_eq!(issuer.asked("/jwks"), 2);
    // Within a minute nobody looks again.
    issuer.rotate();
    for _ in 0..3 {
        let (_, page) = sign_in(&server, "1");
        page.assert_refused(401, "UNAUTHORIZED");
    }
    assert_eq!(issuer.asked("/jwks"), 2);
}
