//! Accounts: making, listing and deleting them, as `wit/users.wit` describes it.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Portico, administrator, keys};
use serde_json::{Value, json};

#[test]
fn the_first_user_has_exactly_the_fields_and_defaults_that_are_promised() {
    let server = Portico::start();
    let account = json!({"username": "  RoOt ", "password": PASSWORD, "confirmPassword": "ignored"});
    let created = server.anonymous().mutate("user.initUser", &account).data();
    assert_eq!(keys(&created), BTreeSet::from(["id"]));
    let root = server.sign_in("root", PASSWORD);
    assert_eq!(created["id"], root.user_id);
    let expected = json!({
        "id": root.user_id, "name": "root", "email": null, "emailVerified": null, "image": null,
        "provider": "credentials", "homeBoardId": null, "mobileHomeBoardId": null, "firstDayOfWeek": 1,
        "pingIconsEnabled": false, "defaultSearchEngineId": null, "openSearchInNewTab": true,
    });
    assert_eq!(root.profile(&root.user_id), expected);
    let session = root.get("/api/auth/session").json();
    assert_eq!(session["user"]["colorScheme"], "dark");
    assert_eq!(
        session["user"]["permissions"]
            .as_array()
            .map(|all| all.contains(&json!("admin"))),
        Some(true)
    );
}

#[test]
fn lists_of_users_carry_their_own_fields_in_the_order_of_names() {
    let server = Portico::start();
    let admin = administrator(&server);
    let bob = admin.user("Bob_1");
    let anna = admin.user("anna%");

    let all = admin.query("user.getAll", &NO_INPUT).data();
    assert_eq!(
        keys(&all[0]),
        BTreeSet::from(["id", "name", "email", "emailVerified", "image"])
    );
    assert_eq!(admin.user_names(), ["anna%", "bob_1", "root"]);
    assert_eq!(all[2]["email"], "root@example.com");
    assert_eq!(all[1]["email"], Value::Null);

    // Everyone may choose from a list of users, so it has no emails.
    let expected = json!([
        {"id": anna.id, "name": "anna%", "image": null},
        {"id": bob.id, "name": "bob_1", "image": null},
        {"id": admin.user_id, "name": "root", "image": null},
    ]);
    assert_eq!(anna.query("user.selectable", &NO_INPUT).data(), expected);
    assert_eq!(anna.query("user.selectable", &json!({})).data(), expected);
    assert_eq!(
        anna.query("user.selectable", &json!({"excludeExternalProviders": true}))
            .data(),
        expected
    );
    anna.query("user.selectable", &json!({"excludeExternalProviders": "true"}))
        .assert_bad_field("excludeExternalProviders");

    let found = |input: Value| admin.query("user.search", &input).data();
    assert_eq!(
        found(json!({"query": "OB"})),
        json!([{"id": bob.id, "name": "bob_1", "email": null, "image": null}])
    );
    assert_eq!(found(json!({"query": " OB\n"})), found(json!({"query": "OB"})));
    assert_eq!(found(json!({"query": ""})).as_array().map(Vec::len), Some(3));
    assert_eq!(found(json!({"query": "", "limit": 2}))[1]["name"], "bob_1");
    assert_eq!(
        found(json!({"query": "example.com"})),
        json!([]),
        "only names are searched"
    );
    admin
        .query("user.search", &json!({"limit": 1}))
        .assert_bad_field("query");
}

#[test]
fn a_username_is_folded_and_taken_once() {
    let server = Portico::start();
    let admin = administrator(&server);
    let create = |name: &str| {
        admin.mutate(
            "user.create",
            &json!({"username": name, "password": PASSWORD, "groupIds": []}),
        )
    };
    // An "é" of two characters is the same letter as the one that is a single character.
    create(" Andre\u{301} ").assert_status(200);
    assert_eq!(admin.user_names(), ["andr\u{e9}", "root"]);
    create("ANDR\u{c9}").assert_refused(409, "CONFLICT");
    create("Root").assert_refused(409, "CONFLICT");
    create("ab").assert_bad_field("username");
    assert_eq!(
        admin.user_names().len(),
        2,
        "nothing was written for a refused name"
    );
}

#[test]
fn a_user_is_created_in_its_groups_or_not_at_all() {
    let server = Portico::start();
    let admin = administrator(&server);
    let group = admin.group("creators", &["app-create"]);
    let create = |extra: Value| {
        let mut account = json!({"username": "alice", "password": PASSWORD});
        account
            .as_object_mut()
            .expect("an object")
            .extend(extra.as_object().cloned().expect("an object"));
        admin.mutate("user.create", &account)
    };
    create(json!({})).assert_bad_field("groupIds");
    create(json!({"groupIds": "creators"})).assert_bad_field("groupIds");
    create(json!({"groupIds": [], "email": "not an email"})).assert_bad_field("email");
    create(json!({"groupIds": [], "email": null})).assert_bad_field("email");
    create(json!({"groupIds": [group, MISSING]})).assert_refused(404, "NOT_FOUND");
    assert_eq!(admin.user_names(), ["root"], "nothing was written");

    let id = create(json!({"groupIds": [group], "email": "al\u{ed}ce@ex\u{e4}mple.com"})).data();
    assert_eq!(keys(&id), BTreeSet::from(["id"]));
    let profile = admin.profile(id["id"].as_str().expect("an id"));
    assert_eq!(profile["email"], "al\u{ed}ce@ex\u{e4}mple.com");
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let creators = groups
        .as_array()
        .expect("groups")
        .iter()
        .find(|entry| entry["id"] == group.as_str());
    assert_eq!(
        creators.expect("the group")["members"],
        json!([{"id": id["id"], "name": "alice"}])
    );
    // An email is not unique.
    let second =
        json!({"username": "bobby", "password": PASSWORD, "email": "root@example.com", "groupIds": []});
    admin.mutate("user.create", &second).assert_status(200);
}

#[test]
fn a_deleted_user_is_gone_with_everything_that_was_theirs() {
    let server = Portico::start();
    let admin = administrator(&server);
    let group = admin.group("administrators too", &["admin"]);
    let alice = admin.user_in("alice", &[&group]);
    let session = server.sign_in("alice", PASSWORD);
    let invite = alice.invite();
    let board = alice.board("made by alice", false);
    admin
        .mutate(
            "board.share",
            &json!({"boardId": board, "users": [alice.id], "groups": []}),
        )
        .assert_done();

    admin
        .mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();
    alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    session.get("/api/auth/session").assert_status(401);
    assert_eq!(admin.user_names(), ["root"]);
    admin
        .query("user.getById", &json!({"userId": alice.id}))
        .assert_refused(404, "NOT_FOUND");
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    assert!(
        !groups.to_string().contains(&alice.id),
        "still a member: {groups}"
    );
    let keys = admin.query("apiKeys.getAll", &NO_INPUT).data();
    assert!(!keys.to_string().contains(&alice.id), "still has a key: {keys}");
    assert_eq!(
        admin.query("invite.getAll", &NO_INPUT).data(),
        json!([]),
        "the invite stayed"
    );
    let registration = json!({
        "username": "guest", "password": PASSWORD, "email": "g@example.com",
        "inviteId": invite.id, "token": invite.token,
    });
    server
        .anonymous()
        .mutate("user.register", &registration)
        .assert_refused(403, "FORBIDDEN");
    // The board stays, without a creator.
    let seen = admin.query("board.byId", &json!({"id": board})).data();
    assert_eq!(seen["creatorId"], Value::Null);

    // Gone is gone: once more is fine, and the name is free.
    admin
        .mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();
    let again = admin.user("alice");
    assert_ne!(again.id, alice.id);
}
