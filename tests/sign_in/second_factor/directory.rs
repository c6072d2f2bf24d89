//! The second factor of users of a directory.

use portico_model::time::{Clock as _, SystemClock};
use portico_tests::second_factor::{code_at, set_up, ticket_of};
use portico_tests::{Client, administrator};
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
