//! Who of the issuer's users may sign in.

use portico_tests::{Client, Session};
use serde_json::{Value, json};

use super::{
    browser::Browser,
    harness::{Issuer, ada, sign_in, signed_in, start, user, users},
};

const REQUIRED: (&str, &str) = ("PORTICO_OIDC_REQUIRED_CLAIM", "groups=portico users");

fn ada_in(issuer: &Issuer, groups: Value) {
    let mut known = ada();
    known["groups"] = groups;
    issuer.knows(json!({ "1": known }));
}

#[track_caller]
fn assert_out(browser: &Browser, page: &super::browser::Page) {
    page.assert_refused(403, "FORBIDDEN");
    assert_eq!(browser.cookie("portico_session"), None);
    assert!(
        !page.body.contains("portico users"),
        "the rule is for the log: {page:?}"
    );
}

/// Creates a key for the owner of this session.
fn key(session: &impl Client) -> String {
    let created = session
        .mutate("apiKeys.createOwn", &json!({"name": "a key"}))
        .data();
    created["apiKey"].as_str().expect("a key").to_owned()
}

#[test]
fn no_one_without_the_required_claim_becomes_a_user() {
    let (issuer, server, administrator) = start(&[REQUIRED, ("PORTICO_OIDC_LINKING", "unverified")]);
    for groups in [
        json!([]),
        json!(null),
        json!("portico"),
        json!(["Portico Users"]),
        json!({"portico users": {}}),
        json!([{"name": "portico users"}]),
        json!([["portico users"]]),
    ] {
        ada_in(&issuer, groups);
        let (browser, page) = sign_in(&server, "1");
        assert_out(&browser, &page);
    }
    ada_in(&issuer, json!(null));
    for claims in [
        json!({"hasgroups": true}),
        json!({"_claim_names": {"groups": "src1"}}),
        json!({"groups": ["others"]}),
    ] {
        issuer.behaves(json!({ "claims": claims }));
        let (browser, page) = sign_in(&server, "1");
        assert_out(&browser, &page);
    }
    // Userinfo that cannot be asked admits no one.
    issuer.behaves(json!({"brokenAt": "/me", "claims": {"preferred_username": "ada"}}));
    let (_, page) = sign_in(&server, "1");
    page.assert_refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(users(&administrator), ["root"]);
    issuer.behaves(json!({}));
    ada_in(&issuer, json!(["others", "portico users"]));
    signed_in(&server, "1");
    assert_eq!(users(&administrator), ["ada", "root"]);
}

#[test]
fn a_user_who_loses_the_required_claim_is_refused_their_sessions_end_and_their_keys_stay() {
    let (issuer, server, administrator) = start(&[REQUIRED]);
    ada_in(&issuer, json!(["portico users"]));
    let sessions = [signed_in(&server, "1"), signed_in(&server, "1")];
    let ada = user(&server, &sessions[0]);
    let key = key(&server.key(&sessions[0]));
    // Not to know is no reason to end anything.
    ada_in(&issuer, json!({"portico users": {}}));
    let (browser, page) = sign_in(&server, "1");
    assert_out(&browser, &page);
    user(&server, &sessions[0]);
    ada_in(&issuer, json!(["others"]));
    let (browser, page) = sign_in(&server, "1");
    assert_out(&browser, &page);
    server.wait_for_log(0, "a provider's user may not sign in: the claim groups");
    let row = json!({"page": 1, "pageSize": 1, "procedure": "sign-in", "outcome": "FORBIDDEN"});
    let rows = administrator.query("audit.getPaginated", &row).data();
    assert_eq!(rows["items"][0]["target"], ada["id"], "{rows}");
    for session in &sessions {
        let answer = server.key(session).get("/api/auth/session");
        answer.assert_refused(401, "UNAUTHORIZED");
    }
    server.key(&key).get("/api/apps").assert_status(200);
    ada_in(&issuer, json!(["portico users"]));
    signed_in(&server, "1");
}

fn state_user(administrator: &Session, user: &Value) {
    let document = json!({"users": [user]});
    let answer = administrator.mutate("state.apply", &document);
    assert_eq!(answer.status, 200, "{answer}");
}

#[test]
fn with_sign_up_off_only_those_who_have_a_user_sign_in() {
    let (issuer, server, administrator) = start(&[
        ("PORTICO_OIDC_SIGN_UP", "off"),
        ("PORTICO_OIDC_LINKING", "unverified"),
    ]);
    issuer.knows(json!({
        "1": {"preferred_username": "ada", "email": "ada@example.com", "email_verified": true},
        "2": {"preferred_username": "eve", "email": "eve@example.com", "email_verified": true},
        "3": {"preferred_username": "root", "email": "eve@example.com", "email_verified": false},
        "4": {"preferred_username": "ada", "email": "evil@example.com", "email_verified": true},
    }));
    for subject in ["1", "2", "3", "4"] {
        let (browser, page) = sign_in(&server, subject);
        assert_out(&browser, &page);
    }
    assert_eq!(users(&administrator), ["root"], "nothing of it was written");
    // A user that the operator has created for the person.
    state_user(
        &administrator,
        &json!({"provider": "oidc", "name": "ada", "email": "ada@example.com"}),
    );
    let first = user(&server, &signed_in(&server, "1"));
    assert_eq!(user(&server, &signed_in(&server, "1"))["id"], first["id"]);
    // Neither a name nor an email of somebody else's opens the door.
    for subject in ["2", "3", "4"] {
        let (browser, page) = sign_in(&server, subject);
        assert_out(&browser, &page);
    }
    assert_eq!(users(&administrator), ["ada", "root"]);
}
