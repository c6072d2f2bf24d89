//! Setting up, removing and listing second factors, and what that ends.

use portico_model::{Provider, time::Clock as _};
use portico_tests::second_factor::{code_at, set_up, ticket_of, wrong_code};
use portico_tests::{Client, Fixtures};
use serde_json::{Value, json};

use super::Bench;

fn own(client: &dyn Client) -> Value {
    client.query("secondFactor.getOwn", &Value::Null).data()
}

fn is_open(client: &dyn Client) -> bool {
    client.get("/api/auth/session").status == 200
}

#[test]
fn a_user_removes_their_own_with_a_code_which_ends_their_other_sessions() {
    let bench = Bench::new();
    let session = |code: &str| {
        let answer = bench.sign_in(code);
        answer.assert_status(200);
        bench
            .host
            .client
            .key(answer.json()["token"].as_str().expect("a token"))
    };
    let (mine, other) = (session(&bench.code_after(1)), session(&bench.recovery[0]));
    let factors = own(&mine);
    let id = factors["factors"][0]["id"].clone();
    assert!(!factors.to_string().contains(&bench.secret), "{factors}");
    let delete = |client: &dyn Client, id: &Value, code: &str| {
        client.mutate("secondFactor.delete", &json!({"id": id, "code": code}))
    };
    let wrong = wrong_code(&bench.secret, bench.host.clock.now());
    for code in [
        wrong.as_str(),
        "",
        "aaaa-bbbb-cccc-dddd",
        &bench.code_after(1),
        &bench.recovery[0],
    ] {
        delete(&mine, &id, code).assert_refused(403, "FORBIDDEN");
    }
    // Another's counts as missing, and costs no code.
    let root_code = &bench.recovery[1];
    delete(&mine, &json!("none"), root_code).assert_refused(404, "NOT_FOUND");
    delete(&bench.root, &id, root_code).assert_refused(404, "NOT_FOUND");
    assert!(is_open(&other));

    delete(&mine, &id, root_code).assert_done();
    assert!(is_open(&mine) && !is_open(&other) && is_open(&bench.alice));
    let left = own(&mine);
    assert_eq!(
        (&left["factors"], &left["recoveryCodes"]),
        (&json!([]), &json!(0))
    );
    bench.begin().assert_status(200);
    // Recovery codes are gone with it.
    let (_, recovery) = set_up(&mine, bench.host.clock.now());
    assert_ne!(recovery, bench.recovery);
    ticket_of(&bench.sign_in(&bench.recovery[2]));
    let audit = json!({"page": 1, "pageSize": 10, "procedure": "secondFactor.delete", "outcome": "OK"});
    let rows = bench.root.query("audit.getPaginated", &audit).data();
    assert_eq!(
        (&rows["totalCount"], &rows["items"][0]["target"]),
        (&json!(1), &id),
        "{rows}"
    );
}

#[test]
fn an_administrator_removes_those_of_another_which_ends_the_sessions() {
    let bench = Bench::new();
    let answer = bench.sign_in(&bench.code_after(1));
    let session = bench
        .host
        .client
        .key(answer.json()["token"].as_str().expect("a token"));
    let user = json!({"userId": bench.alice.id});
    for procedure in ["secondFactor.getOfUser", "secondFactor.deleteOfUser"] {
        let call = |client: &dyn Client| match procedure {
            "secondFactor.getOfUser" => client.query(procedure, &user),
            _ => client.mutate(procedure, &user),
        };
        call(&bench.host.client).assert_refused(401, "UNAUTHORIZED");
        call(&bench.alice).assert_refused(403, "FORBIDDEN");
    }
    let seen = bench.root.query("secondFactor.getOfUser", &user).data();
    assert_eq!(seen["factors"][0]["kind"], "totp");
    assert!(is_open(&session));
    let removed = bench.root.mutate("secondFactor.deleteOfUser", &user).data();
    assert_eq!(removed, json!({"deleted": 1}));
    assert!(!is_open(&session) && is_open(&bench.alice), "keys stay");
    bench.begin().assert_status(200);
    // Their own needs a code, also for an administrator.
    let now = bench.host.clock.now();
    set_up(&bench.root, now);
    let own = json!({"userId": bench.root.user_id});
    bench
        .root
        .mutate("secondFactor.deleteOfUser", &own)
        .assert_refused(403, "FORBIDDEN");
    let audit = json!({"page": 1, "pageSize": 10, "procedure": "secondFactor.deleteOfUser", "outcome": "OK"});
    let rows = bench.root.query("audit.getPaginated", &audit).data();
    assert_eq!(rows["items"][0]["target"], json!(bench.alice.id), "{rows}");
}

#[test]
fn one_app_for_each_user_and_none_for_users_of_an_issuer() {
    let bench = Bench::new();
    let now = bench.host.clock.now();
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    let add = |client: &dyn Client, secret: &str, code: &str| {
        client.mutate("secondFactor.addTotp", &json!({"secret": secret, "code": code}))
    };
    let code = code_at(secret, now);
    add(&bench.alice, secret, &code).assert_refused(409, "CONFLICT");
    let bob = bench.root.user("bob");
    add(&bob, secret, &wrong_code(secret, now)).assert_bad_field("code");
    for bad in [
        "",
        "gezdgnbvgy3tqojqgezdgnbvgy3tqoj!",
        &"A".repeat(10_000),
        &secret[..16],
    ] {
        add(&bob, bad, &code).assert_bad_field("secret");
    }
    bench.host.insert_user("carol", Provider::Oidc, None);
    let carol = bench.root.key_of("carol");
    add(&carol, secret, &code).assert_refused(403, "FORBIDDEN");
    carol
        .query("secondFactor.newSecret", &Value::Null)
        .assert_refused(403, "FORBIDDEN");
    assert_eq!(own(&carol)["required"], false);
    add(&bob, secret, &code).assert_done();
}

#[test]
fn the_export_says_who_has_one_and_never_the_secret_and_applying_it_changes_none() {
    let bench = Bench::new();
    let exported = bench.root.query("state.export", &Value::Null).data();
    let has = |document: &Value| -> Vec<(String, bool)> {
        let users = document["users"].as_array().expect("users").iter();
        let has = |user: &Value| user["secondFactor"].as_bool().expect("a truth value");
        users
            .map(|user| (user["name"].as_str().expect("a name").to_owned(), has(user)))
            .collect()
    };
    assert_eq!(
        has(&exported),
        [("alice".to_owned(), true), ("root".to_owned(), false)]
    );
    let text = exported.to_string();
    assert!(!text.contains(&bench.secret) && !text.contains(&bench.recovery[0]));
    let mut others = exported.clone();
    for user in others["users"].as_array_mut().expect("users") {
        user["secondFactor"] = json!(user["name"] == "root");
    }
    bench.root.mutate("state.apply", &others).data();
    assert_eq!(bench.root.query("state.export", &Value::Null).data(), exported);
    ticket_of(&bench.begin());
}
