//! ID tokens that are not valid.

use serde_json::{Value, json};

use super::harness::{ada, settings, sign_in, signed_in, start, user, users};

const AN_HOUR: u64 = 3600;

/// These claims, and all others that are wanted, so that userinfo is not asked.
fn with_all(claims: Value) -> Value {
    let mut all = ada();
    for (name, value) in claims.as_object().expect("claims") {
        all[name] = value.clone();
    }
    all
}

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

    let refused: [(&str, Value, &str); 14] = [
        (
            "nonce",
            json!({"claims": {"nonce": "wrong"}}),
            "its nonce is not that of this sign-in",
        ),
        (
            "no nonce",
            json!({"claims": {"nonce": null}}),
            "its nonce is not that of this sign-in",
        ),
        (
            "expired",
            json!({"claims": {"exp": now() - AN_HOUR}}),
            "it expired 36",
        ),
        (
            "audience",
            json!({"claims": {"aud": "another client"}}),
            "oidc-client-id is not in aud",
        ),
        (
            "audiences",
            json!({"claims": {"aud": ["another client", "portico"]}}),
            "aud has \"another client\", which is not in oidc-trusted-audiences",
        ),
        (
            "authorized party",
            json!({"claims": {"azp": "another client"}}),
            "azp is \"another client\", another client",
        ),
        (
            "no subject",
            json!({"claims": with_all(json!({"sub": ""}))}),
            "it has no sub",
        ),
        (
            "a blank subject",
            json!({"claims": with_all(json!({"sub": " "}))}),
            "it has no sub",
        ),
        (
            "a subject that is no text",
            json!({"claims": with_all(json!({"sub": 1}))}),
            "it has no sub",
        ),
        (
            "issuer",
            json!({"claims": {"iss": "https://evil.example"}}),
            "another issuer",
        ),
        (
            "access token",
            json!({"claims": {"at_hash": "d3Jvbmc"}}),
            "another access token (at_hash)",
        ),
        (
            "no signature",
            json!({"claims": {}, "header": {"alg": "none"}}),
            "signature algorithm \"none\" is not accepted",
        ),
        (
            "shared secret",
            json!({"claims": {}, "header": {"alg": "HS256"}}),
            "signature algorithm \"HS256\" is not accepted",
        ),
        (
            "another key",
            json!({"claims": {"sub": "1"}, "foreignKey": true}),
            "its signature is not that of the issuer's key",
        ),
    ];
    for (what, behaviour, reason) in refused {
        issuer.behaves(behaviour);
        let said = server.log().len();
        let (browser, page) = sign_in(&server, "1");
        assert_eq!(page.status, 401, "{what}: {page:?}\n{}", server.log());
        page.assert_refused(401, "UNAUTHORIZED");
        server.wait_for_log(said, reason);
        assert_eq!(browser.cookie("portico_session"), None, "{what}");
        assert_eq!(users(&administrator), before);
    }
    issuer.behaves(json!({}));
    signed_in(&server, "1");
}

#[test]
fn userinfo_of_another_user_is_refused() {
    let (issuer, server, _) = start(&[]);
    issuer.behaves(json!({"userinfo": {"sub": "2", "preferred_username": "root"}}));
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn claims_that_are_not_used_may_have_any_type() {
    let (issuer, server, _) = start(&[]);
    let odd = json!({
        "updated_at": "2026-01-31T12:00:00Z",
        "address": "1 Analytical Row",
        "locale": 7,
        "zoneinfo": ["Europe/London"],
        "gender": {"text": "f"},
        "phone_number_verified": "no",
        "website": false,
        "auth_time": "yesterday",
        "acr": 1,
        "amr": "password",
    });
    for behaviour in [
        json!({"claims": odd}),
        json!({"claims": with_all(odd.clone())}),
        json!({"userinfo": odd}),
    ] {
        issuer.behaves(behaviour.clone());
        let ada = user(&server, &signed_in(&server, "1"));
        assert_eq!(
            (&ada["name"], &ada["email"]),
            (&json!("ada"), &json!("ada@example.com")),
            "{behaviour}"
        );
    }
}

#[test]
fn audiences_that_the_settings_name_are_trusted_and_no_others() {
    let trusted = "312909075212468632 portal";
    let (issuer, server, _) = start(&[("PORTICO_OIDC_TRUSTED_AUDIENCES", trusted)]);
    for audience in [
        json!(["portico", "312909075212468632"]),
        json!(["portal", "portico", "312909075212468632"]),
    ] {
        issuer.behaves(json!({"claims": {"aud": audience, "azp": "portico"}}));
        signed_in(&server, "1");
    }
    for audience in [json!(["portico", "another"]), json!(["portal"])] {
        issuer.behaves(json!({"claims": {"aud": audience}}));
        let (_, page) = sign_in(&server, "1");
        page.assert_refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn userinfo_that_is_signed_is_read_if_the_issuer_signed_it() {
    let (issuer, server, _) = start(&[]);
    issuer.behaves(json!({"signsUserinfo": true}));
    let ada = user(&server, &signed_in(&server, "1"));
    assert_eq!(ada["email"], "ada@example.com");
    issuer.behaves(json!({"signsUserinfo": true, "breaksUserinfo": true}));
    let said = server.log().len();
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(401, "UNAUTHORIZED");
    server.wait_for_log(said, "userinfo is invalid: its signature");
}

#[test]
fn ed25519_is_a_name_of_eddsa() {
    let (issuer, server, _) = start(&[]);
    issuer.behaves(json!({"algorithm": "Ed25519"}));
    issuer.rotate();
    signed_in(&server, "1");
    issuer.behaves(json!({"algorithm": "EdDSA"}));
    issuer.rotate();
    let server = settings(&issuer, &[]).start();
    portico_tests::administrator(&server);
    signed_in(&server, "1");
}

#[test]
fn a_key_that_is_replaced_under_its_id_is_fetched_again_but_not_for_every_token() {
    let (issuer, server, _) = start(&[]);
    issuer.behaves(json!({"kid": "the key"}));
    issuer.rotate();
    signed_in(&server, "1");
    assert_eq!(issuer.asked("/jwks"), 1);
    issuer.rotate();
    signed_in(&server, "1");
    assert_eq!(issuer.asked("/jwks"), 2);
    issuer.rotate();
    for _ in 0..2 {
        let (_, page) = sign_in(&server, "1");
        page.assert_refused(401, "UNAUTHORIZED");
    }
    assert_eq!(issuer.asked("/jwks"), 2);
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
    // Within a minute the service does not fetch the keys again.
    issuer.rotate();
    for _ in 0..3 {
        let (_, page) = sign_in(&server, "1");
        page.assert_refused(401, "UNAUTHORIZED");
    }
    assert_eq!(issuer.asked("/jwks"), 2);
}
