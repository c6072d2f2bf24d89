//! Who must have a second factor: `--second-factor`.

use portico_model::time::Clock as _;
use portico_service::{second_factor::SecondFactorPolicy, throttle::Throttle};
use portico_tests::second_factor::{code_at, set_up, sign_in_with, ticket_of, wrong_code};
use portico_tests::{Anonymous, Client, Fixtures, Listening, PASSWORD, TestService, administrator_of};
use serde_json::{Value, json};

use crate::credentials::harness::Host;

fn begin(client: &Anonymous, name: &str) -> portico_tests::Answer {
    client.post(
        "/api/auth/sign-in",
        &json!({"username": name, "password": PASSWORD}),
    )
}

/// The same dashboard, by a host with this policy.
fn again(host: &Host, policy: SecondFactorPolicy) -> Listening {
    TestService::over(host.storage.clone())
        .clock(host.clock.clone())
        .throttle(Throttle::off())
        .second_factor(policy)
        .listen()
}

#[test]
fn people_who_must_have_one_set_it_up_before_a_session_begins() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let alice = root.user("alice");
    let before = host.client.sign_in("alice", PASSWORD);
    let strict = again(&host, SecondFactorPolicy::Everyone);
    let client = &strict.client;
    let now = || host.clock.now();

    // What began before goes on, keys as well.
    client
        .key(&before.token)
        .get("/api/auth/session")
        .assert_status(200);
    client
        .key(&alice.key.key)
        .get("/api/auth/session")
        .assert_status(200);
    // A wrong password is refused as before.
    let wrong = client.post(
        "/api/auth/sign-in",
        &json!({"username": "alice", "password": "a wrong horse"}),
    );
    assert!(wrong.error()["data"]["ticket"].is_null(), "{wrong}");

    let (ticket, kinds) = ticket_of(&begin(client, "alice"));
    assert_eq!(kinds, [""; 0]);
    // There is no factor to which a code could belong.
    assert_eq!(
        ticket_of(&sign_in_with(client, "alice", PASSWORD, "123456")).1,
        [""; 0]
    );
    let made = client
        .post("/api/auth/second-factor/secret", &json!({"ticket": ticket}))
        .json();
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    let uri = made["uri"].as_str().expect("a URI");
    assert_eq!(
        uri,
        format!("otpauth://totp/Portico:alice?secret={secret}&issuer=Portico")
    );
    let confirm = |secret: &str, code: &str| {
        let body = json!({"ticket": ticket, "secret": secret, "code": code});
        client.post("/api/auth/second-factor/set-up", &body)
    };
    confirm(&secret, &wrong_code(&secret, now())).assert_bad_field("code");
    confirm("AAAA", &code_at(&secret, now())).assert_bad_field("secret");
    let code = code_at(&secret, now());
    let done = confirm(&secret, &code);
    done.assert_status(200);
    assert!(done.header("set-cookie").is_some(), "{done}");
    let recovery = done.json()["recoveryCodes"].clone();
    assert_eq!(recovery.as_array().expect("codes").len(), 10);
    client
        .key(done.json()["token"].as_str().expect("a token"))
        .get("/api/auth/session")
        .assert_status(200);
    // The ticket has ended, and the code is used.
    confirm(&secret, &code).assert_refused(401, "UNAUTHORIZED");
    ticket_of(&sign_in_with(client, "alice", PASSWORD, &code));
    host.clock.advance(30_000);
    sign_in_with(client, "alice", PASSWORD, &code_at(&secret, now())).assert_status(200);
    // The log has that it was set up, and by whom.
    let page = json!({"page": 1, "pageSize": 10, "procedure": "second-factor-set-up"});
    let rows = client.key(&root.token).query("audit.getPaginated", &page).data();
    assert_eq!(rows["items"][0]["actorId"], json!(alice.id), "{rows}");
    assert_eq!(rows["totalCount"], 1, "{rows}");
    assert!(!rows.to_string().contains(&secret));
}

#[test]
fn administrators_must_have_one_where_only_they_must() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    root.user("alice");
    let strict = again(&host, SecondFactorPolicy::Administrators);
    begin(&strict.client, "alice").assert_status(200);
    assert_eq!(ticket_of(&begin(&strict.client, "root")).1, [""; 0]);
    let (secret, _) = set_up(&root, host.clock.now());
    assert_eq!(ticket_of(&begin(&strict.client, "root")).1, ["totp"]);
    host.clock.advance(30_000);
    let code = code_at(&secret, host.clock.now());
    sign_in_with(&strict.client, "root", PASSWORD, &code).assert_status(200);
    let own = strict
        .client
        .key(&root.token)
        .query("secondFactor.getOwn", &Value::Null)
        .data();
    assert_eq!(own["required"], true);
    // A user who becomes an administrator must have one at the next sign-in.
    let group = root.group("bosses", &["admin"]);
    let alice = root.query("user.search", &json!({"query": "alice"})).data()[0]["id"].clone();
    root.mutate("group.addMember", &json!({"groupId": group, "userId": alice}))
        .assert_done();
    assert_eq!(ticket_of(&begin(&strict.client, "alice")).1, [""; 0]);
}
