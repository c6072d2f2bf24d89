//! The second factor of users of a directory.

use portico_model::time::{Clock as _, SystemClock};
use portico_tests::authenticator::Authenticator;
use portico_tests::second_factor::{code_at, set_up, ticket_of};
use portico_tests::{Anonymous, Answer, Client, NO_INPUT, Portico, administrator};
use serde_json::{Value, json};

use crate::ldap::slapd::{PASSWORD, Slapd};

#[test]
#[ignore = "make test-all"]
fn a_user_of_a_directory_needs_it_as_well_as_their_password_there() {
    let slapd = Slapd::start();
    let server = slapd.service().start();
    let root = administrator(&server);
    let client = server.anonymous();
    let sign_in = |password: &str, code: Option<&str>| {
        let mut body = json!({"username": "ada", "password": password, "provider": "ldap"});
        if let Some(code) = code {
            body["code"] = code.into();
        }
        client.send_allowing_5xx("POST", "/api/auth/sign-in", Some(&body))
    };
    let answer = sign_in(PASSWORD, None);
    answer.assert_status(200);
    let ada = server.key(answer.json()["token"].as_str().expect("a token"));
    let (secret, recovery) = set_up(&ada, SystemClock.now());
    let (ticket, kinds) = ticket_of(&sign_in(PASSWORD, None));
    assert_eq!(kinds, ["totp"]);
    let wrong = sign_in("wrong", Some(&recovery[0]));
    assert!(wrong.error()["data"]["ticket"].is_null(), "{wrong}");
    ticket_of(&sign_in(PASSWORD, Some("aaaa-bbbb-cccc-dddd")));
    sign_in(PASSWORD, Some(&recovery[0])).assert_status(200);
    let body = json!({"ticket": ticket, "code": recovery[1]});
    client.post("/api/auth/second-factor", &body).assert_status(200);
    // The code of the next step, in case this one is still that of setting up.
    sign_in(PASSWORD, Some(&code_at(&secret, SystemClock.now() + 30_000))).assert_status(200);
    // Each sign-in in one step has one row, also a refused one.
    let page = json!({"page": 1, "pageSize": 50, "procedure": "sign-in", "outcome": "UNAUTHORIZED"});
    let id = ada.get("/api/auth/session").json()["user"]["id"].clone();
    let rows: Value = root.query("audit.getPaginated", &page).data();
    let rows = rows["items"].as_array().expect("rows").iter();
    let first_steps: Vec<_> = rows
        .filter(|row| row["target"] == id && row["provider"] == "ldap")
        .collect();
    assert!(!first_steps.is_empty(), "no row of the first step");
}

/// Where people open the service, for passkeys.
const ORIGIN: &str = "http://localhost:7575";

/// Signs in with a passkey alone.
fn sign_in_with(client: &Anonymous, phone: &mut Authenticator) -> Answer {
    let begun = client.post("/api/auth/passkeys/options", &json!({}));
    let cookie = begun.assert_status(200).header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().expect("a pair");
    let body = json!({"credential": phone.get(&begun.json()["publicKey"])}).to_string();
    let headers = [("content-type", "application/json"), ("cookie", cookie)];
    let answer = client.try_send(
        "POST",
        "/api/auth/passkeys/sign-in",
        &headers,
        Some(body.as_bytes()),
    );
    answer.expect("an answer")
}

/// A passkey that ada adds after her password in the directory, and her id.
fn with_passkey(server: &Portico) -> (Authenticator, Value) {
    let body = json!({"username": "ada", "password": PASSWORD, "provider": "ldap"});
    let answer = server.anonymous().post("/api/auth/sign-in", &body);
    let token = answer.assert_status(200).json()["token"].clone();
    let ada = server.key(token.as_str().expect("a token"));
    let mut phone = Authenticator::new(ORIGIN);
    let begun = ada.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
    let credential = phone.create(&begun["publicKey"]);
    let named = json!({"name": "Phone", "credential": credential});
    ada.mutate("secondFactor.addPasskey", &named).assert_status(200);
    let id = ada.get("/api/auth/session").json()["user"]["id"].clone();
    (phone, id)
}

#[test]
#[ignore = "make test-all"]
fn a_passkey_of_a_user_of_a_directory_is_asked_for_after_their_password_and_signs_in_alone() {
    let mut slapd = Slapd::start();
    let public_url = format!("--public-url={ORIGIN}");
    let server = slapd.service().argument(public_url).start();
    administrator(&server);
    let client = server.anonymous();
    let sign_in = |password: &str| {
        let body = json!({"username": "ada", "password": password, "provider": "ldap"});
        client.post("/api/auth/sign-in", &body)
    };
    let (mut phone, id) = with_passkey(&server);
    let (ticket, kinds) = ticket_of(&sign_in(PASSWORD));
    assert_eq!(kinds, ["passkey"]);
    let held = json!({"ticket": ticket});
    let begun = client.post("/api/auth/second-factor/passkey-options", &held);
    let credential = phone.get(&begun.assert_status(200).json()["publicKey"]);
    let shown = json!({"ticket": ticket, "credential": credential});
    let answer = client.post("/api/auth/second-factor/passkey", &shown);
    assert_eq!(answer.assert_status(200).json()["user"]["id"], id);

    let alone = sign_in_with(&client, &mut phone);
    assert_eq!(alone.assert_status(200).json()["user"]["id"], id);
    // Only as long as the directory says that it still has them.
    slapd.stop();
    assert_eq!(sign_in_with(&client, &mut phone).status, 503);
    slapd.start_again();
    sign_in_with(&client, &mut phone).assert_status(200);
    slapd.change("dn: uid=Ada,ou=people,dc=example\nchangetype: delete\n");
    sign_in_with(&client, &mut phone).assert_refused(401, "UNAUTHORIZED");
}

#[test]
#[ignore = "make test-all"]
fn a_passkey_alone_needs_the_group_of_the_directory_whatever_its_entries_are_known_by() {
    let slapd = Slapd::start();
    for id in ["entryUUID", "dn"] {
        let server = slapd
            .service()
            .argument(format!("--public-url={ORIGIN}"))
            .environment("PORTICO_LDAP_ID_ATTRIBUTE", id)
            .environment("PORTICO_LDAP_REQUIRED_GROUP", "Editors")
            .start();
        administrator(&server);
        let client = server.anonymous();
        let (mut phone, _) = with_passkey(&server);
        sign_in_with(&client, &mut phone).assert_status(200);
        slapd.change(&member("delete"));
        sign_in_with(&client, &mut phone).assert_refused(401, "UNAUTHORIZED");
        slapd.change(&member("add"));
        sign_in_with(&client, &mut phone).assert_status(200);
    }
}

/// A change of the group of editors: ada is added or deleted.
fn member(change: &str) -> String {
    let group = "dn: cn=editors,ou=groups,dc=example\nchangetype: modify";
    format!("{group}\n{change}: member\nmember: uid=ada,ou=people,dc=example\n")
}
