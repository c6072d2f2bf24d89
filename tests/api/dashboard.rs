//! The dashboard side: groups, boards and search engines. Bounds of inputs and refusals are in `openapi`.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, Portico, administrator, keys, names};
use serde_json::{Value, json};

#[test]
fn a_group_has_a_name_of_its_own_permissions_and_members() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let permissions = [
        "app-create",
        "app-full-all",
        "app-modify-all",
        "board-create",
        "board-full-all",
        "board-modify-all",
        "board-view-all",
    ];
    let (editors, readers) = (admin.group("Editors", &permissions), admin.group("Readers", &[]));
    let member = json!({"groupId": editors, "userId": alice.id});
    admin.mutate("group.addMember", &member).assert_done();
    let rename =
        |group: &str, name: &str| admin.mutate("group.rename", &json!({"groupId": group, "name": name}));
    rename(&editors, " Writers ").assert_done();
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let mut groups = groups.as_array().expect("a list").iter();
    let writers = groups.find(|group| group["id"] == editors.as_str());
    let members = json!([{"id": alice.id, "name": "alice"}]);
    let expected = json!({"id": editors, "name": "Writers", "permissions": permissions, "members": members});
    assert_eq!(writers, Some(&expected));
    rename(&readers, "WRITERS").assert_refused(409, "CONFLICT");
    // Another way to write its own name, and the name that has become free.
    rename(&editors, "writers").assert_done();
    rename(&readers, "Editors").assert_done();
}

#[test]
fn no_path_takes_admin_from_the_last_administrator() {
    let server = Portico::start();
    let admin = administrator(&server);
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let group = groups[0]["id"].as_str().expect("the group of administrators");
    // A group without members makes no user an administrator, and one who is disabled does not count.
    admin.group("empty", &["admin"]);
    let deputy = admin.user_with("deputy", "admin");
    let disable = |disabled: bool| json!({"userId": deputy.id, "disabled": disabled});
    admin.output_of("user.setDisabled", &disable(true));
    let attempts = [
        (
            "group.removeMember",
            json!({"groupId": group, "userId": admin.user_id}),
        ),
        (
            "group.savePermissions",
            json!({"groupId": group, "permissions": ["app-full-all"]}),
        ),
        ("group.deleteGroup", json!({"id": group})),
        ("user.delete", json!({"userId": admin.user_id})),
        (
            "user.setDisabled",
            json!({"userId": admin.user_id, "disabled": true}),
        ),
        (
            "state.apply",
            json!({"users": [{"name": "root", "provider": "credentials", "disabled": true}]}),
        ),
    ];
    for (procedure, input) in &attempts {
        admin.mutate(procedure, input).assert_refused(409, "CONFLICT");
        admin.query("user.getAll", &NO_INPUT).assert_status(200);
    }
    admin.output_of("user.setDisabled", &disable(false));
    let (procedure, input) = &attempts[0];
    admin.mutate(procedure, input).assert_done();
    admin
        .query("user.getAll", &NO_INPUT)
        .assert_refused(403, "FORBIDDEN");
}

/// Apps and bookmarks as the one section of a board.
fn one_section(items: &Value) -> Value {
    let mut placed = items.clone();
    for item in placed.as_array_mut().expect("a list") {
        item["size"] = "1x1".into();
    }
    json!([{"name": null, "collapsed": false, "items": placed}])
}

#[test]
fn a_board_is_seen_by_its_creator_those_it_is_shared_with_and_board_permissions() {
    let server = Portico::start();
    let admin = administrator(&server);
    let friends = admin.group("friends", &[]);
    let alice = admin.user("alice");
    let bob = admin.user_in("bobby", &[&friends]);
    let carol = admin.user("carol");
    let app = admin.app("An app");
    let items = json!([{"kind": "app", "appId": app}, {"kind": "bookmarks", "appIds": [app]}]);
    let public = admin.board_of("public", true, &items);
    let private = admin.board_of("private", false, &items);
    let anonymous = server.anonymous();
    let see = |client: &dyn Client, board: &str| client.query("board.byId", &json!({"id": board}));
    let listed = |client: &dyn Client| names(&client.query("board.getVisible", &NO_INPUT).data());
    let share = |users: &[&str], groups: &[&str]| {
        let shares = json!({"boardId": private, "users": users, "groups": groups});
        admin.mutate("board.share", &shares)
    };

    let expected = json!({
        "id": public, "name": "public", "slug": null, "isPublic": true, "creatorId": admin.user_id, "items": items,
        "sections": one_section(&items),
    });
    assert_eq!(see(&anonymous, &public).data(), expected);
    see(&admin, &private).assert_status(200);
    // A board that the caller may not see gets the same response as one that does not exist, byte for byte.
    for client in [&anonymous as &dyn Client, &alice, &bob] {
        let hidden = see(client, &private);
        hidden.assert_refused(404, "NOT_FOUND");
        assert_eq!(hidden.text(), see(client, MISSING).text());
        assert_eq!(listed(client), ["public"]);
    }

    share(&[&carol.id, &alice.id], &[&friends]).assert_done();
    // By name.
    let shares = admin.query("board.getShares", &json!({"boardId": private}));
    let expected = json!({
        "users": [
            {"id": alice.id, "name": "alice", "mayChange": false},
            {"id": carol.id, "name": "carol", "mayChange": false},
        ],
        "groups": [{"id": friends, "name": "friends", "mayChange": false}],
    });
    assert_eq!(shares.data(), expected);
    for permission in ["board-view-all", "board-modify-all", "board-full-all"] {
        let viewer = admin.user_with(&format!("with-{permission}"), permission);
        assert_eq!(listed(&viewer), ["private", "public"]);
    }
    let of_apps = admin.user_with("with-apps", "app-full-all");
    see(&of_apps, &private).assert_refused(404, "NOT_FOUND");
    for client in [&alice, &bob, &carol] {
        see(client, &private).assert_status(200);
        assert_eq!(listed(client), ["private", "public"]);
    }
    // Sharing sets the whole list, or nothing.
    share(&[&carol.id], &[]).assert_done();
    share(&[&alice.id, MISSING], &[]).assert_refused(404, "NOT_FOUND");
    share(&[&alice.id], &[MISSING]).assert_refused(404, "NOT_FOUND");
    see(&carol, &private).assert_status(200);
    see(&alice, &private).assert_refused(404, "NOT_FOUND");
    see(&bob, &private).assert_refused(404, "NOT_FOUND");

    let listed = admin.query("board.getAll", &NO_INPUT).data();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    let fields = BTreeSet::from(["id", "name", "slug", "isPublic", "creatorId"]);
    assert_eq!(keys(&listed[0]), fields);
    admin.mutate("board.delete", &json!({"id": public})).assert_done();
    see(&admin, &public).assert_refused(404, "NOT_FOUND");
}

#[test]
fn a_board_is_replaced_and_keeps_its_creator_and_its_shares() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let (first, second) = (admin.app("First"), admin.app("Second"));
    let items = json!([{"kind": "app", "appId": first}, {"kind": "bookmarks", "appIds": [first, second]}]);
    let board = admin.board_of("Home", false, &items);
    let share = json!({"boardId": board, "users": [alice.id], "groups": []});
    admin.mutate("board.share", &share).assert_done();
    let found = || alice.query("board.byId", &json!({"id": board})).data();

    let items = json!([{"kind": "bookmarks", "appIds": [second]}, {"kind": "app", "appId": first}]);
    let update = json!({"id": board, "name": " Start ", "isPublic": true, "items": items});
    admin.mutate("board.update", &update).assert_done();
    let expected = json!({
        "id": board, "name": "Start", "slug": null, "isPublic": true, "creatorId": admin.user_id, "items": items,
        "sections": one_section(&items),
    });
    assert_eq!(found(), expected);
    let with = |field: &str, value: Value| {
        let mut input = update.clone();
        input[field] = value;
        admin.mutate("board.update", &input)
    };
    // A refused change leaves the board as it was.
    with("items", json!([{"kind": "app", "appId": MISSING}])).assert_refused(404, "NOT_FOUND");
    for bad in [
        json!({"kind": "weather"}),
        json!({"kind": "app"}),
        json!({"kind": "bookmarks", "appIds": first}),
        json!(5),
    ] {
        with("items", json!([bad])).assert_refused(400, "BAD_REQUEST");
    }
    assert_eq!(found(), expected);
    // Private again, it is still shared.
    with("isPublic", json!(false)).assert_done();
    assert_eq!(found()["isPublic"], false);
    let anonymous = server.anonymous();
    anonymous
        .query("board.byId", &json!({"id": board}))
        .assert_refused(404, "NOT_FOUND");
}

#[test]
fn a_search_engine_is_replaced_and_offered_to_every_user() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let mut engine = json!({
        "name": "Wiki", "short": "w", "urlTemplate": "https://wiki.example/?q=%s", "iconUrl": "/wiki.svg",
        "description": "An encyclopaedia",
    });
    let id = admin.make("searchEngine.create", &engine, "id");
    engine["id"] = id.as_str().into();
    let offered = || alice.query("searchEngine.getSelectable", &NO_INPUT).data();
    assert_eq!(offered(), json!([engine]));
    let mut update = json!({
        "id": id, "name": "Lexicon", "short": "l", "urlTemplate": "https://lexicon.example/%s",
        "iconUrl": "/lexicon.svg", "description": "Words",
    });
    admin.mutate("searchEngine.update", &update).assert_done();
    assert_eq!(offered(), json!([update]));
    assert_eq!(offered(), admin.query("searchEngine.getAll", &NO_INPUT).data());
    let by_id = alice.query("searchEngine.byId", &json!({"id": id}));
    assert_eq!(by_id.data(), update);

    let mut without_place = update.clone();
    without_place["urlTemplate"] = "https://lexicon.example/".into();
    admin
        .mutate("searchEngine.update", &without_place)
        .assert_bad_field("urlTemplate");
    // Its own name and short are free for it; a description that is absent goes.
    update["description"] = Value::Null;
    admin.mutate("searchEngine.update", &update).assert_done();
    assert_eq!(offered(), json!([update]));
}
