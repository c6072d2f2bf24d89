//! A passkey after a password, and alone.

use portico_model::time::Clock as _;
use portico_service::second_factor::SecondFactorPolicy;
use portico_tests::clock::{MINUTE, SECOND};

use super::*;

#[test]
fn a_passkey_alone_signs_its_user_in() {
    let (host, root, ada) = start();
    let mut phone = add(&ada);
    let filter = json!({ "page": 1, "pageSize": 10, "procedure": "sign-in", "outcome": "OK" });
    let count = || root.query("audit.getPaginated", &filter).data()["totalCount"].as_u64();
    let before = count().expect("a number");
    host.clock.advance(SECOND);
    for _ in 0..2 {
        let answer = sign_in(&host.client, &mut phone);
        answer.assert_status(200);
        assert_eq!(answer.json()["user"]["name"], "ada");
        let token = answer.json()["token"].clone();
        let session = host.client.key(token.as_str().expect("a token"));
        let shown = session.get("/api/auth/session").json();
        assert_eq!(shown["user"]["id"], json!(ada.user_id));
    }
    let own = ada.query("secondFactor.getOwn", &NO_INPUT).data();
    assert_eq!(own["factors"][0]["kind"], "passkey");
    assert_eq!(own["factors"][0]["name"], "Phone");
    assert_ne!(own["factors"][0]["lastUsedAt"], own["factors"][0]["createdAt"]);
    assert_eq!(count(), Some(before + 2), "the audit log has both");
}

#[test]
fn after_a_password_a_passkey_is_asked_for() {
    let (host, _, ada) = start();
    let mut phone = add(&ada);
    let body = json!({ "username": "ada", "password": PASSWORD });
    let refused = host.client.post("/api/auth/sign-in", &body);
    refused.assert_refused(401, "UNAUTHORIZED");
    assert_eq!(refused.error()["data"]["secondFactor"], json!(["passkey"]));
    assert!(refused.header("set-cookie").is_none());
    let ticket = ticket(&host.client, "ada");
    let options = options_after_password(&host.client, &ticket);
    assert_eq!(options["userVerification"], "preferred");
    assert_eq!(options["allowCredentials"].as_array().map(Vec::len), Some(1));
    let answer = complete(&host.client, &ticket, &phone.get(&options));
    answer.assert_status(200);
    assert_eq!(answer.json()["user"]["name"], "ada");
    // The ticket has ended with it.
    let again = json!({ "ticket": ticket });
    let ended = host
        .client
        .post("/api/auth/second-factor/passkey-options", &again);
    ended.assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_passkey_that_does_not_verify_people_is_good_after_a_password_only() {
    let (host, _, ada) = start();
    let mut key = Authenticator::new(ORIGIN).without_verification();
    try_add(&ada, &mut key).assert_status(200);
    sign_in(&host.client, &mut key).assert_refused(401, "UNAUTHORIZED");
    let ticket = ticket(&host.client, "ada");
    let options = options_after_password(&host.client, &ticket);
    complete(&host.client, &ticket, &key.get(&options)).assert_status(200);
}

#[test]
fn people_who_must_have_a_second_factor_may_begin_with_a_passkey() {
    let host = Host::with_passkeys_for(ORIGIN, SecondFactorPolicy::Everyone);
    let root = json!({ "username": "root", "password": PASSWORD, "email": "root@example.com" });
    host.client.mutate("user.initUser", &root).assert_status(200);
    let ticket = ticket(&host.client, "root");
    let held = json!({ "ticket": ticket });
    let begun = host
        .client
        .post("/api/auth/second-factor/passkey-registration", &held);
    begun.assert_status(200);
    let mut phone = Authenticator::new(ORIGIN);
    let credential = phone.create(&begun.json()["publicKey"]);
    let first = json!({ "ticket": ticket, "credential": credential, "name": "Phone" });
    let answer = host.client.post("/api/auth/second-factor/set-up-passkey", &first);
    answer.assert_status(200);
    assert_eq!(answer.json()["recoveryCodes"].as_array().map(Vec::len), Some(10));
    sign_in(&host.client, &mut phone).assert_status(200);
}

#[test]
fn a_passkey_helps_no_one_who_could_not_sign_in_with_a_password() {
    let (host, root, ada) = start();
    let mut phone = add(&ada);
    let disable = json!({ "userId": ada.user_id, "disabled": true });
    root.mutate("user.setDisabled", &disable).assert_status(200);
    sign_in(&host.client, &mut phone).assert_refused(401, "UNAUTHORIZED");
    let enable = json!({ "userId": ada.user_id, "disabled": false });
    root.mutate("user.setDisabled", &enable).assert_status(200);
    sign_in(&host.client, &mut phone).assert_status(200);
    root.mutate("user.delete", &json!({ "userId": ada.user_id }))
        .assert_status(200);
    sign_in(&host.client, &mut phone).assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_challenge_expires_after_five_minutes() {
    let (host, _, ada) = start();
    let mut phone = add(&ada);
    let begun = begin(&host.client);
    host.clock.advance(5 * MINUTE);
    let late = send(&host.client, &begun.cookie, &phone.get(&begun.options));
    late.assert_refused(401, "UNAUTHORIZED");
    let ticket = ticket(&host.client, "ada");
    let options = options_after_password(&host.client, &ticket);
    host.clock.advance(5 * MINUTE);
    complete(&host.client, &ticket, &phone.get(&options)).assert_refused(401, "UNAUTHORIZED");
    // The sign-in goes on with a new challenge.
    let options = options_after_password(&host.client, &ticket);
    complete(&host.client, &ticket, &phone.get(&options)).assert_status(200);
}

#[test]
fn without_a_public_url_there_are_no_passkeys() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    for answer in [
        root.mutate("secondFactor.beginPasskey", &NO_INPUT),
        host.client.post("/api/auth/passkeys/options", &json!({})),
    ] {
        answer.assert_refused(404, "NOT_FOUND");
        assert!(answer.text().contains("--public-url"), "{answer}");
    }
}

#[test]
fn without_a_passkey_none_is_asked_for_after_a_password() {
    let (host, _, ada) = start();
    portico_tests::second_factor::set_up(&ada, host.clock.now());
    let held = json!({ "ticket": ticket(&host.client, "ada") });
    let refused = host.client.post("/api/auth/second-factor/passkey-options", &held);
    refused.assert_refused(409, "CONFLICT");
    assert_eq!(refused.error()["message"], "No passkey is set up");
}
