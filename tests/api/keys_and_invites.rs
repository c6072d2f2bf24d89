//! The dashboard side: API keys and invites.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, Invite, MISSING, NO_INPUT, PASSWORD, Portico, administrator, keys};
use serde_json::{Value, json};

#[test]
fn a_key_is_shown_once_and_works_until_it_is_revoked() {
    let server = Portico::start();
    let admin = administrator(&server);
    let created = admin.output_of("apiKeys.create", &json!({"name": "for scripts"}));
    assert_eq!(keys(&created), BTreeSet::from(["id", "apiKey"]));
    let key = created["apiKey"].as_str().expect("a key");
    let (id, secret) = key.split_once('.').expect("<id>.<secret>");
    assert_eq!(created["id"], id, "what stands before the dot is the key's id");
    // 128 bits take 22 characters of base64 at least; there is a checksum too.
    assert!(secret.len() >= 22 + 4, "a short secret");

    let client = server.key(key);
    for client in [client.clone(), client.in_api_key_header()] {
        assert_eq!(client.profile(&admin.user_id)["name"], "root");
        client
            .mutate("user.changeColorScheme", &json!({"colorScheme": "light"}))
            .assert_done();
    }
    let listed = admin.query("apiKeys.getAll", &NO_INPUT).data();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    let fields = BTreeSet::from(["id", "name", "userId", "createdAt", "expiresAt", "lastUsedAt"]);
    assert_eq!(keys(&listed[0]), fields);
    assert_eq!(listed[0]["name"], "for scripts");
    assert_eq!(listed[0]["userId"], admin.user_id);
    assert_eq!(listed[0]["expiresAt"], Value::Null);
    assert!(!listed.to_string().contains(secret), "a key is shown once");

    admin
        .mutate("apiKeys.delete", &json!({"apiKeyId": id}))
        .assert_done();
    client
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    client
        .in_api_key_header()
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_bad_key_makes_the_caller_anonymous() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = admin.app("public by id");
    let alice = admin.user("alice");
    let good = alice.key.key.clone();
    let (id, secret) = good.split_once('.').expect("<id>.<secret>");
    let last = if secret.ends_with('a') { "b" } else { "a" };
    let first = if secret.starts_with('a') { "b" } else { "a" };
    let bad = [
        format!("{id}.{}{last}", &secret[..secret.len() - 1]),
        format!("{id}.{first}{}", &secret[1..]),
        format!("{good}.junk"),
        format!("{good}a"),
        format!("{id}."),
        format!(".{secret}"),
        id.to_owned(),
        secret.to_owned(),
        "a".repeat(4_000),
        "\"'; --".to_owned(),
    ];
    for key in bad {
        for client in [server.key(&key), server.key(&key).in_api_key_header()] {
            client
                .query("app.all", &NO_INPUT)
                .assert_refused(401, "UNAUTHORIZED");
            client.query("app.byId", &json!({"id": app})).assert_status(200);
        }
    }
    let header = |value: &str| {
        server
            .anonymous()
            .send("GET", "/api/apps", &[("authorization", value)], None)
            .status
    };
    assert_eq!(header(&format!("bearer {good}")), 200, "the scheme in any case");
    for bad in [good.as_str(), "Bearer", "Bearer ", &format!("Basic {good}")] {
        assert_eq!(header(bad), 401, "{bad}");
    }
    // A key may be created with a time in the past; it is not a valid credential.
    let past = json!({"userId": alice.id, "expiresAt": "2001-01-01T00:00:00.000Z"});
    let expired = server.key(&admin.make("apiKeys.create", &past, "apiKey"));
    expired
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    let later = json!({"userId": alice.id, "expiresAt": "2999-01-01T00:00:00.000Z"});
    let key = server.key(&admin.make("apiKeys.create", &later, "apiKey"));
    key.query("app.all", &NO_INPUT).assert_status(200);
    admin
        .mutate("apiKeys.create", &json!({"userId": MISSING}))
        .assert_refused(404, "NOT_FOUND");
    admin
        .mutate("apiKeys.create", &json!({"expiresAt": "tomorrow"}))
        .assert_bad_field("expiresAt");
}

fn registration(name: &str, id: &str, token: &str) -> Value {
    json!({"username": name, "password": PASSWORD, "email": "new@example.com", "inviteId": id, "token": token})
}

#[test]
fn an_invite_makes_one_user_who_has_no_permissions() {
    let server = Portico::start();
    let admin = administrator(&server);
    let anonymous = server.anonymous();
    let register =
        |name: &str, id: &str, token: &str| anonymous.mutate("user.register", &registration(name, id, token));
    let Invite { id, token } = admin.invite();
    let listed = admin.query("invite.getAll", &NO_INPUT).data();
    let creator = json!({"id": admin.user_id, "name": "root"});
    let expected = json!([{"id": id, "expirationDate": "2999-12-31T00:00:00.000Z", "creator": creator}]);
    assert_eq!(listed, expected);

    register("alice", MISSING, &token).assert_refused(403, "FORBIDDEN");
    register("alice", &id, "wrong").assert_refused(403, "FORBIDDEN");
    register("alice", &id, "").assert_status(403);
    // The invite is checked before the name.
    register("root", &id, "wrong").assert_refused(403, "FORBIDDEN");
    // A name that is taken does not use the invite up.
    register("root", &id, &token).assert_refused(409, "CONFLICT");
    let mut input = registration("alice", &id, &token);
    input["email"] = Value::Null;
    anonymous
        .mutate("user.register", &input)
        .assert_bad_field("email");
    let made = register("alice", &id, &token).data();
    assert_eq!(keys(&made), BTreeSet::from(["id"]));
    register("bobby", &id, &token).assert_refused(403, "FORBIDDEN");
    assert_eq!(admin.query("invite.getAll", &NO_INPUT).data(), json!([]));
    assert_eq!(admin.user_names(), ["alice", "root"]);

    let alice = server.sign_in("alice", PASSWORD);
    assert_eq!(alice.user_id, made["id"]);
    assert_eq!(alice.profile(&alice.user_id)["email"], "new@example.com");
    assert_eq!(
        alice.get("/api/auth/session").json()["user"]["permissions"],
        json!([])
    );
}

#[test]
fn an_invite_that_expired_or_was_withdrawn_is_refused() {
    let server = Portico::start();
    let admin = administrator(&server);
    let refuse = |id: &str, token: &str| {
        let input = registration("alice", id, token);
        server
            .anonymous()
            .mutate("user.register", &input)
            .assert_refused(403, "FORBIDDEN");
    };
    let past = admin.output_of(
        "invite.createInvite",
        &json!({"expirationDate": "2001-01-01T00:00:00.000Z"}),
    );
    refuse(
        past["id"].as_str().expect("an id"),
        past["token"].as_str().expect("a token"),
    );
    let invite = admin.invite();
    admin
        .mutate("invite.deleteInvite", &json!({"id": invite.id}))
        .assert_done();
    refuse(&invite.id, &invite.token);
    admin
        .mutate("invite.createInvite", &json!({"expirationDate": "soon"}))
        .assert_bad_field("expirationDate");

    // The same by REST.
    let made = admin.post("/api/invites", &json!({"expirationDate": "2999-12-31T00:00:00Z"}));
    assert_eq!(
        keys(&made.assert_status(200).json()),
        BTreeSet::from(["id", "token"])
    );
    let id = made.json()["id"].as_str().expect("an id").to_owned();
    let listed = admin.get("/api/invites").assert_status(200).json();
    assert!(
        listed
            .as_array()
            .is_some_and(|all| all.iter().any(|invite| invite["id"] == id.as_str())),
        "{listed}"
    );
    assert!(
        !listed
            .to_string()
            .contains(made.json()["token"].as_str().expect("a token")),
        "the token is shown once"
    );
    admin.delete(&format!("/api/invites/{id}")).assert_empty();
    refuse(&id, made.json()["token"].as_str().expect("a token"));
    assert_eq!(admin.user_names(), ["root"]);
}
