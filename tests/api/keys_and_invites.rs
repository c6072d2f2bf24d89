//! The dashboard side: API keys and invites.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, Invite, NO_INPUT, PASSWORD, Portico, administrator, keys};
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
    let fields = BTreeSet::from([
        "id",
        "name",
        "userId",
        "permissions",
        "readOnly",
        "createdAt",
        "expiresAt",
        "lastUsedAt",
    ]);
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

/// What else is not a key is tested in `host/storage/src/secrets.rs`.
#[test]
fn a_bad_key_makes_the_caller_anonymous() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = admin.app("public by id");
    let good = admin.key_of(&admin.user_id).key;
    let last = if good.ends_with('a') { "b" } else { "a" };
    for key in [
        &format!("{}{last}", &good[..good.len() - 1]),
        &format!("{good}.junk"),
        &"a".repeat(4_000),
        "\"'; --",
    ] {
        for client in [server.key(key), server.key(key).in_api_key_header()] {
            client
                .query("app.all", &NO_INPUT)
                .assert_refused(401, "UNAUTHORIZED");
            client.query("app.byId", &json!({"id": app})).assert_status(200);
        }
    }
    let header = |value: &str| {
        let headers = [("authorization", value)];
        server.anonymous().send("GET", "/api/apps", &headers, None).status
    };
    assert_eq!(header(&format!("bearer {good}")), 200, "the scheme in any case");
    for bad in [good.as_str(), "Bearer", "Bearer ", &format!("Basic {good}")] {
        assert_eq!(header(bad), 401, "{bad}");
    }
    // That a key ends is tested in `tests/sign_in/credentials/keys.rs`.
    let past = json!({"expiresAt": "2001-01-01T00:00:00.000Z"});
    for procedure in ["apiKeys.create", "apiKeys.createOwn"] {
        admin.mutate(procedure, &past).assert_bad_field("expiresAt");
    }
}

/// When an invite is good is tested in `storage-kit` and `tests/library/component/rules.rs`.
#[test]
fn an_invite_makes_one_user_who_has_no_permissions() {
    let server = Portico::start();
    let admin = administrator(&server);
    let register = |name: &str, invite: &Invite| {
        let input = json!({
            "username": name, "password": PASSWORD, "email": "new@example.com", "inviteId": invite.id,
            "token": invite.token,
        });
        server.anonymous().mutate("user.register", &input)
    };
    let invite = admin.invite();
    // The token is shown once.
    let listed = admin.query("invite.getAll", &NO_INPUT).data();
    let creator = json!({"id": admin.user_id, "name": "root"});
    let expected = json!([{
        "id": invite.id, "expirationDate": "2999-12-31T00:00:00.000Z", "creator": creator, "note": null, "groups": [],
    }]);
    assert_eq!(listed, expected);

    // The invite is checked before the name, and a name that is taken does not use it up.
    let wrong = Invite {
        token: "wrong".into(),
        ..invite.clone()
    };
    register("root", &wrong).assert_refused(403, "FORBIDDEN");
    register("root", &invite).assert_refused(409, "CONFLICT");
    let made = register("alice", &invite).data();
    assert_eq!(keys(&made), BTreeSet::from(["id"]));
    register("bobby", &invite).assert_refused(403, "FORBIDDEN");
    assert_eq!(admin.query("invite.getAll", &NO_INPUT).data(), json!([]));
    assert_eq!(admin.user_names(), ["alice", "root"]);
    let alice = server.sign_in("alice", PASSWORD);
    let session = alice.get("/api/auth/session").json();
    assert_eq!(session["user"]["permissions"], json!([]));
    // Withdrawn, it is not good any more.
    let withdrawn = admin.invite();
    admin
        .mutate("invite.deleteInvite", &json!({"id": withdrawn.id}))
        .assert_done();
    register("bobby", &withdrawn).assert_refused(403, "FORBIDDEN");
}

#[test]
fn an_invite_names_for_whom_it_is_and_gives_the_groups_that_its_maker_may_give() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (family, gone) = (admin.group("Family", &[]), admin.group("Gone", &[]));
    let invite = |input: Value| {
        let mut whole = json!({"expirationDate": "2999-12-31T00:00:00.000Z"});
        whole
            .as_object_mut()
            .unwrap()
            .extend(input.as_object().unwrap().clone());
        admin.mutate("invite.createInvite", &whole)
    };
    for (note, rule) in [
        ("x".repeat(65), "at most 64"),
        ("a\nb".into(), "control characters"),
        ("a\u{202e}b".into(), "direction"),
    ] {
        let refused = invite(json!({"note": note}));
        refused.assert_refused(400, "BAD_REQUEST");
        assert!(refused.text().contains("note"), "{rule}: {}", refused.text());
    }
    invite(json!({"groupIds": ["missing"]})).assert_refused(404, "NOT_FOUND");
    let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    invite(json!({"groupIds": many})).assert_refused(400, "BAD_REQUEST");
    assert_eq!(invite(json!({"note": " "})).status, 200);

    let made = invite(json!({"note": " Grace ", "groupIds": [gone, family, family]})).data();
    let held = json!({"inviteId": made["id"], "token": made["token"]});
    let seen = server.anonymous().query("invite.getByToken", &held).data();
    assert_eq!(
        seen,
        json!({"expirationDate": "2999-12-31T00:00:00.000Z", "note": "Grace"})
    );
    let wrong = json!({"inviteId": made["id"], "token": "wrong"});
    let refused = server.anonymous().query("invite.getByToken", &wrong);
    refused.assert_refused(403, "FORBIDDEN");

    admin
        .mutate("group.deleteGroup", &json!({"id": gone}))
        .assert_done();
    let input = json!({
        "username": "grace", "password": PASSWORD, "email": "g@example.com", "inviteId": made["id"],
        "token": made["token"],
    });
    let id = server.anonymous().mutate("user.register", &input).data()["id"].clone();
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let members = |name: &str| {
        let mut groups = groups.as_array().unwrap().iter();
        groups.find(|group| group["name"] == name).unwrap()["members"].clone()
    };
    assert_eq!(members("Family"), json!([{"id": id, "name": "grace"}]));
    let filter = json!({"page": 1, "pageSize": 1, "procedure": "user.register"});
    let rows = admin.query("audit.getPaginated", &filter).data();
    assert_eq!(rows["items"][0]["groups"], format!("+{family}"), "{rows}");
}
