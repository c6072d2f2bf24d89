//! API keys that may do less than their user: chosen permissions, and reading only.

use portico_tests::procedures::{Row, TABLE, Who};
use portico_tests::{
    Builder, Client, Fixtures, Key, NO_INPUT, PASSWORD, Portico, Target, User, World, administrator, names,
};
use serde_json::{Value, json};

use super::audit::{last_number, new_rows};

/// What an administrator makes for this user, with these limits.
fn limited(admin: &impl Client, user: &str, limits: &Value) -> Key {
    let mut input = json!({"userId": user});
    let fields = limits.as_object().expect("limits").clone();
    input.as_object_mut().expect("an input").extend(fields);
    Key::new(admin.endpoint(), &admin.make("apiKeys.create", &input, "apiKey"))
}

/// Procedures that a key with less than its user does not call at all.
const MAKE_KEYS: [&str; 2] = ["apiKeys.create", "apiKeys.createOwn"];
const OWN_ACCESS: [&str; 5] = [
    "apiKeys.getOwn",
    "secondFactor.getOwn",
    "session.delete",
    "session.deleteOthers",
    "session.getAll",
];

/// The same, and what such a key calls for itself alone.
fn is_refused(name: &str) -> bool {
    // Without the permission admin such a key changes no second factor, and a user changes their own.
    let changes_factor = [
        "secondFactor.addPasskey",
        "secondFactor.addTotp",
        "secondFactor.delete",
        "secondFactor.rename",
        "secondFactor.renewRecoveryCodes",
    ];
    MAKE_KEYS.contains(&name)
        || OWN_ACCESS.contains(&name)
        || changes_factor.contains(&name)
        || name == "apiKeys.deleteOwn"
}

/// A good input for a call of this user.
fn input(world: &World, row: &Row, own: &User) -> Value {
    match row.who {
        Who::OwnOnly => world.input(row, &Target::from(own)),
        _ => world.input_about_new_user(row),
    }
}

#[test]
fn a_key_with_a_permission_of_an_administrator_is_answered_like_a_user_with_only_that() {
    let server = Portico::start();
    let world = World::new(administrator(&server));
    for (number, permission) in [
        None,
        Some("app-modify-all"),
        Some("board-full-all"),
        Some("admin"),
    ]
    .into_iter()
    .enumerate()
    {
        let chosen: Vec<&str> = permission.into_iter().collect();
        let group = world.admin.group(&format!("group {number}"), &chosen);
        let user = world.admin.user_in(&format!("user-{number}"), &[&group]);
        let boss = world.admin.user_with(&format!("boss-{number}"), "admin");
        let key = User {
            key: limited(&world.admin, &boss.id, &json!({"permissions": chosen})),
            ..boss
        };
        for row in TABLE.iter().filter(|row| !is_refused(row.name)) {
            let expected = row.call(&user, &input(&world, row, &user));
            let answer = row.call(&key, &input(&world, row, &key));
            assert_eq!(
                answer.status, expected.status,
                "{} with {permission:?}: {answer}, and the user: {expected}",
                row.name
            );
        }
        for name in MAKE_KEYS {
            let refused = key.mutate(name, &json!({"permissions": []}));
            refused.assert_refused(403, "FORBIDDEN");
        }
    }
}

#[test]
fn a_key_that_may_only_read_changes_nothing_by_call_or_route() {
    let server = Portico::start();
    let world = World::new(administrator(&server));
    let boss = world.admin.user_with("boss", "admin");
    let full = User {
        key: world.admin.key_of(&boss.id),
        ..boss
    };
    let key = User {
        id: full.id.clone(),
        name: full.name.clone(),
        key: limited(&world.admin, &full.id, &json!({"readOnly": true})),
    };
    for row in TABLE {
        let input = input(&world, row, &key);
        let mut answers = vec![row.call(&key, &input)];
        answers.extend(row.rest.map(|_| row.call_rest(&key, &input)));
        for answer in answers {
            if row.kind == "mutation" {
                answer.assert_refused(403, "FORBIDDEN");
                assert_eq!(
                    answer.error()["message"],
                    "This API key may only read",
                    "{}: {answer}",
                    row.name
                );
            } else if OWN_ACCESS.contains(&row.name) {
                answer.assert_refused(403, "FORBIDDEN");
            } else {
                assert_eq!(
                    answer.status,
                    row.call(&full, &input).status,
                    "{}: {answer}",
                    row.name
                );
            }
        }
    }
    // A batch is refused call by call.
    let body = json!({"0": {"name": "a", "iconUrl": "/i"}, "1": {"name": "b", "iconUrl": "/i"}});
    let batch = key.post("/api/trpc/app.create,app.create?batch=1", &body).json();
    for answer in batch.as_array().expect("two answers") {
        assert_eq!(answer["error"]["data"]["code"], "FORBIDDEN", "{batch}");
    }
    assert!(!world.admin.app_names().contains(&"a".to_owned()));
}

#[test]
fn a_key_with_less_makes_no_key_and_changes_no_account_but_ends_its_own() {
    let server = Portico::start();
    let root = administrator(&server);
    let alice = root.user_with("alice", "admin");
    for limits in [
        json!({"permissions": []}),
        json!({"permissions": ["app-full-all", "board-full-all"]}),
        json!({"permissions": ["app-create"], "readOnly": false}),
    ] {
        let key = limited(&root, &alice.id, &limits);
        for (procedure, input) in [
            ("apiKeys.create", json!({})),
            ("apiKeys.createOwn", limits.clone()),
            (
                "user.editProfile",
                json!({"id": alice.id, "name": "alice", "email": "evil@example.com"}),
            ),
            (
                "user.changePassword",
                json!({"userId": alice.id, "previousPassword": PASSWORD, "password": "another password"}),
            ),
            ("user.delete", json!({"userId": alice.id})),
            (
                "user.create",
                json!({"username": "eve", "password": PASSWORD, "groupIds": []}),
            ),
            ("user.createPasswordLink", json!({"userId": root.user_id})),
            (
                "invite.createInvite",
                json!({"expirationDate": "2999-12-31T00:00:00.000Z"}),
            ),
            ("group.createGroup", json!({"name": "mine"})),
            ("state.apply", json!({"document": {"apps": []}})),
        ] {
            let refused = key.mutate(procedure, &input);
            assert_eq!(
                (refused.status, &*refused.code()),
                (403, "FORBIDDEN"),
                "{procedure}: {refused}"
            );
        }
    }
    assert_eq!(server.sign_in("alice", PASSWORD).user_id, alice.id);
    // With admin, a key manages others, and still makes no key.
    let key = limited(&root, &alice.id, &json!({"permissions": ["admin"]}));
    key.output_of(
        "user.create",
        &json!({"username": "bob", "password": PASSWORD, "groupIds": []}),
    );
    key.mutate("apiKeys.createOwn", &json!({}))
        .assert_refused(403, "FORBIDDEN");
    let own = alice.query("apiKeys.getOwn", &NO_INPUT).data();
    assert_eq!(
        own.as_array().map(Vec::len),
        Some(5),
        "one with everything, and four with less"
    );
}

#[test]
fn a_key_with_less_neither_sees_nor_ends_sessions_and_deletes_no_key_but_itself() {
    let server = Portico::start();
    let root = administrator(&server);
    let alice = root.user_with("alice", "admin");
    let session = server.sign_in("alice", PASSWORD);
    let sessions = session.query("session.getAll", &NO_INPUT).data();
    let id_of = |key: &Key| {
        let keys = session.query("apiKeys.getOwn", &NO_INPUT).data();
        let keys = keys.as_array().expect("keys").iter();
        let ids: Vec<_> = keys
            .map(|key| key["id"].as_str().expect("an id").to_owned())
            .collect();
        ids.into_iter()
            .find(|id| key.key.starts_with(&format!("{id}.")))
            .expect("the key")
    };
    let of_alice = id_of(&alice.key);
    for limits in [
        json!({"permissions": []}),
        json!({"permissions": ["admin"]}),
        json!({"readOnly": true}),
    ] {
        let key = limited(&root, &alice.id, &limits);
        let own = json!({"apiKeyId": id_of(&key)});
        for (procedure, input) in [
            ("session.delete", json!({"id": sessions[0]["id"]})),
            ("session.deleteOthers", NO_INPUT),
            ("apiKeys.deleteOwn", json!({"apiKeyId": of_alice})),
            ("apiKeys.deleteOwn", json!({"apiKeyId": "of no one"})),
        ] {
            key.mutate(procedure, &input).assert_refused(403, "FORBIDDEN");
        }
        for procedure in ["session.getAll", "apiKeys.getOwn"] {
            key.query(procedure, &NO_INPUT).assert_refused(403, "FORBIDDEN");
        }
        // It ends itself, unless it may only read.
        let ended = key.mutate("apiKeys.deleteOwn", &own);
        if limits["readOnly"] == true {
            ended.assert_refused(403, "FORBIDDEN");
            continue;
        }
        ended.assert_done();
        key.query("user.getById", &json!({"userId": alice.id}))
            .assert_refused(401, "UNAUTHORIZED");
    }
    assert_eq!(
        session
            .query("session.getAll", &NO_INPUT)
            .data()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    // With everything that its user may, a key ends them.
    alice.mutate("session.deleteOthers", &NO_INPUT).data();
    session
        .query("session.getAll", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_key_follows_its_user_and_never_has_more() {
    let server = Portico::start();
    let root = administrator(&server);
    let group = root.group("makers", &["app-full-all"]);
    let alice = root.user_in("alice", &[&group]);
    // The choice may name what the user does not have (yet).
    let key = limited(
        &root,
        &alice.id,
        &json!({"permissions": ["app-modify-all", "admin"]}),
    );
    let permissions = |key: &Key| key.get("/api/auth/session").json()["user"]["permissions"].clone();
    assert_eq!(
        permissions(&key),
        json!(["app-create", "app-full-all", "app-modify-all"])
    );
    key.query("user.getAll", &NO_INPUT)
        .assert_refused(403, "FORBIDDEN");
    let key = limited(&root, &alice.id, &json!({"permissions": ["app-modify-all"]}));
    assert_eq!(permissions(&key), json!(["app-create", "app-modify-all"]));
    let app = key.app("by the key");
    key.mutate("app.delete", &json!({"id": app}))
        .assert_refused(403, "FORBIDDEN");
    for (now, may_create) in [
        (json!([]), false),
        (json!(["admin"]), true),
        (json!(["board-create"]), false),
    ] {
        let input = json!({"groupId": group, "permissions": now});
        root.mutate("group.savePermissions", &input).assert_done();
        let made = key.mutate("app.create", &json!({"name": "an app", "iconUrl": "/i"}));
        assert_eq!(made.status, if may_create { 200 } else { 403 }, "{now}: {made}");
        key.query("user.getAll", &NO_INPUT)
            .assert_refused(403, "FORBIDDEN");
    }
}

#[test]
fn a_key_sees_boards_and_apps_by_its_permissions_and_by_what_is_its_users() {
    let server = Builder::default().argument("--app-visibility=boards").start();
    let root = administrator(&server);
    let alice = root.user_with("alice", "admin");
    let hidden = root.app("hidden");
    let items = json!([{"kind": "app", "appId": hidden}]);
    let board = root.board_of("of root", false, &items);
    let full = root.key_of(&alice.id);
    let none = limited(&root, &alice.id, &json!({"permissions": []}));
    let views = limited(&root, &alice.id, &json!({"permissions": ["board-view-all"]}));
    let board_names = |key: &Key| names(&key.query("board.getVisible", &NO_INPUT).data());
    let app = json!({"id": hidden});
    let of = json!({"id": board});
    for key in [&full, &views] {
        assert_eq!(board_names(key), ["of root"]);
        assert_eq!(key.app_names(), ["hidden"]);
        key.query("app.byId", &app).assert_status(200);
        key.query("board.byId", &of).assert_status(200);
    }
    let home = json!({"userId": alice.id, "homeBoardId": board, "mobileHomeBoardId": null});
    assert!(board_names(&none).is_empty() && none.app_names().is_empty());
    none.query("app.byId", &app).assert_refused(404, "NOT_FOUND");
    none.query("board.byId", &of).assert_refused(404, "NOT_FOUND");
    let refused = none.mutate("user.changeHomeBoards", &home);
    assert!([403, 404].contains(&refused.status), "{refused}");
    // What is shared with the user, and what the user made, is the key's too.
    let share = json!({"boardId": board, "users": [alice.id], "groups": []});
    root.mutate("board.share", &share).assert_done();
    full.board("of alice", false);
    assert_eq!(board_names(&none), ["of alice", "of root"]);
    assert_eq!(none.app_names(), ["hidden"]);
}

#[test]
fn limits_are_in_lists_and_in_the_audit_log_and_in_no_document() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    let input = json!({
        "name": "backup", "permissions": ["board-view-all", "app-create", "app-create"], "readOnly": true,
    });
    let id = root.make("apiKeys.create", &input, "id");
    let plain = root.make("apiKeys.create", &json!({"permissions": null}), "id");
    for list in ["apiKeys.getAll", "apiKeys.getOwn"] {
        let keys = root.query(list, &NO_INPUT).data();
        let found = |id: &str| {
            keys.as_array()
                .unwrap()
                .iter()
                .find(|key| key["id"] == id)
                .cloned()
        };
        let key = found(&id).expect("the key");
        assert_eq!(key["permissions"], json!(["app-create", "board-view-all"]));
        assert_eq!(key["readOnly"], true);
        let key = found(&plain).expect("the other key");
        assert_eq!(
            (&key["permissions"], &key["readOnly"]),
            (&Value::Null, &json!(false))
        );
    }
    let rows = new_rows(&root, before);
    assert_eq!(
        rows[0]["target"],
        format!("{id} readOnly permissions=app-create,board-view-all")
    );
    assert_eq!(rows[1]["target"], plain);
    let document = root.query("state.export", &NO_INPUT).data().to_string();
    assert!(
        !document.contains(&id) && !document.contains("backup"),
        "{document}"
    );
    for (field, wrong) in [
        ("permissions", json!(["root"])),
        ("permissions", json!("admin")),
        ("readOnly", json!("yes")),
    ] {
        let refused = root.mutate("apiKeys.createOwn", &json!({field: wrong}));
        assert_eq!(refused.status, 400, "{field}: {refused}");
    }
}
