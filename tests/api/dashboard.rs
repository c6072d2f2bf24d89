//! The dashboard side: groups, boards and search engines.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, Portico, administrator, keys};
use serde_json::{Value, json};

#[test]
fn groups_have_names_of_their_own_and_known_permissions() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let group = admin.group("Editors", &[]);
    admin
        .mutate("group.createGroup", &json!({"name": "Editors"}))
        .assert_refused(409, "CONFLICT");
    for bad in ["", "  ", "a\u{0}b"] {
        admin
            .mutate("group.createGroup", &json!({"name": bad}))
            .assert_bad_field("name");
    }
    let save = |group: &str, permissions: Value| {
        admin.mutate(
            "group.savePermissions",
            &json!({"groupId": group, "permissions": permissions}),
        )
    };
    let all = [
        "app-create",
        "app-full-all",
        "app-modify-all",
        "board-create",
        "board-full-all",
        "board-modify-all",
        "board-view-all",
    ];
    save(&group, json!(all)).assert_done();
    for bad in [
        json!(["app-create", "root"]),
        json!("admin"),
        json!([5]),
        json!([""]),
    ] {
        save(&group, bad).assert_refused(400, "BAD_REQUEST");
    }
    save(MISSING, json!([])).assert_refused(404, "NOT_FOUND");
    let member = |group: &str, user: &str| json!({"groupId": group, "userId": user});
    admin
        .mutate("group.addMember", &member(&group, &alice.id))
        .assert_done();
    admin
        .mutate("group.addMember", &member(&group, MISSING))
        .assert_refused(404, "NOT_FOUND");
    admin
        .mutate("group.addMember", &member(MISSING, &alice.id))
        .assert_refused(404, "NOT_FOUND");

    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let editors = groups
        .as_array()
        .expect("a list")
        .iter()
        .find(|entry| entry["id"] == group.as_str());
    let mut editors = editors.expect("the group").clone();
    let permissions = editors["permissions"].as_array().expect("a list").iter();
    let permissions: BTreeSet<_> = permissions
        .map(|name| name.as_str().expect("a text").to_owned())
        .collect();
    assert_eq!(permissions, BTreeSet::from(all.map(str::to_owned)));
    editors["permissions"] = Value::Null;
    let members = json!([{"id": alice.id, "name": "alice"}]);
    assert_eq!(
        editors,
        json!({"id": group, "name": "Editors", "permissions": null, "members": members})
    );
}

#[test]
fn no_path_takes_admin_from_the_last_administrator() {
    let server = Portico::start();
    let admin = administrator(&server);
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let group = groups.as_array().expect("a list").iter().find(|group| {
        group["permissions"]
            .as_array()
            .is_some_and(|all| all.contains(&json!("admin")))
    });
    let group = group.expect("a group of administrators")["id"]
        .as_str()
        .expect("an id");
    // A group without members makes no user an administrator.
    admin.group("empty", &["admin"]);
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
    ];
    for (procedure, input) in &attempts {
        admin.mutate(procedure, input).assert_refused(409, "CONFLICT");
        admin.query("user.getAll", &NO_INPUT).assert_status(200);
    }
    let alice = admin.user_with("alice", "admin");
    let (procedure, input) = &attempts[0];
    admin.mutate(procedure, input).assert_done();
    admin
        .query("user.getAll", &NO_INPUT)
        .assert_refused(403, "FORBIDDEN");
    assert_eq!(alice.user_names(), ["alice", "root"]);
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
    let see = |client: &dyn Client, board: &str| client.query("board.byId", &json!({"id": board}));

    let expected =
        json!({"id": public, "name": "public", "isPublic": true, "creatorId": admin.user_id, "items": items});
    assert_eq!(see(&server.anonymous(), &public).data(), expected);
    see(&admin, &private).assert_status(200);

    // A board that the caller may not see gets the same response as one that does not exist, byte for byte.
    for client in [&server.anonymous() as &dyn Client, &alice, &bob] {
        let hidden = see(client, &private);
        hidden.assert_refused(404, "NOT_FOUND");
        assert_eq!(hidden.text(), see(client, MISSING).text());
    }
    let shares =
        |client: &dyn Client, board: &str| client.query("board.getShares", &json!({"boardId": board}));
    assert_eq!(
        shares(&admin, &private).data(),
        json!({"users": [], "groups": []})
    );
    let share = json!({"boardId": private, "users": [carol.id, alice.id], "groups": [friends]});
    admin.mutate("board.share", &share).assert_done();
    // By name.
    let expected = json!({
        "users": [
            {"id": alice.id, "name": "alice", "mayChange": false},
            {"id": carol.id, "name": "carol", "mayChange": false},
        ],
        "groups": [{"id": friends, "name": "friends", "mayChange": false}],
    });
    assert_eq!(shares(&admin, &private).data(), expected);
    let by_rest = admin.get(&format!("/api/boards/{private}/shares"));
    assert_eq!(by_rest.assert_status(200).json(), expected);
    shares(&admin, MISSING).assert_refused(404, "NOT_FOUND");
    shares(&alice, &private).assert_refused(403, "FORBIDDEN");
    let share = json!({"boardId": private, "users": [alice.id], "groups": [friends]});
    admin.mutate("board.share", &share).assert_done();
    see(&alice, &private).assert_status(200);
    see(&bob, &private).assert_status(200);
    see(&carol, &private).assert_refused(404, "NOT_FOUND");
    for permission in ["board-view-all", "board-modify-all", "board-full-all"] {
        see(
            &admin.user_with(&format!("with-{permission}"), permission),
            &private,
        )
        .assert_status(200);
    }
    see(&admin.user_with("with-apps", "app-full-all"), &private).assert_refused(404, "NOT_FOUND");

    // Sharing sets the whole list.
    admin
        .mutate(
            "board.share",
            &json!({"boardId": private, "users": [carol.id], "groups": []}),
        )
        .assert_done();
    see(&carol, &private).assert_status(200);
    see(&alice, &private).assert_refused(404, "NOT_FOUND");
    see(&bob, &private).assert_refused(404, "NOT_FOUND");
    for bad in [
        json!({"boardId": MISSING, "users": [], "groups": []}),
        json!({"boardId": private, "users": [MISSING], "groups": []}),
        json!({"boardId": private, "users": [], "groups": [MISSING]}),
    ] {
        admin.mutate("board.share", &bad).assert_refused(404, "NOT_FOUND");
    }
    see(&carol, &private).assert_status(200);

    admin
        .mutate(
            "board.create",
            &json!({"name": "public", "isPublic": false, "items": []}),
        )
        .assert_refused(409, "CONFLICT");
    for (field, bad) in [
        ("name", json!("")),
        ("isPublic", json!("true")),
        ("items", json!(null)),
    ] {
        let mut input = json!({"name": "third", "isPublic": true, "items": []});
        input[field] = bad;
        admin.mutate("board.create", &input).assert_bad_field(field);
    }
    for bad in [
        json!({"kind": "clock"}),
        json!({"kind": "app"}),
        json!({"kind": "bookmarks", "appIds": app}),
        json!(5),
    ] {
        let input = json!({"name": "third", "isPublic": true, "items": [bad]});
        admin
            .mutate("board.create", &input)
            .assert_refused(400, "BAD_REQUEST");
    }
    let listed = admin.query("board.getAll", &NO_INPUT).data();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    assert_eq!(
        keys(&listed[0]),
        BTreeSet::from(["id", "name", "isPublic", "creatorId"])
    );
    admin.mutate("board.delete", &json!({"id": public})).assert_done();
    see(&admin, &public).assert_refused(404, "NOT_FOUND");
}

#[test]
fn search_engines_are_listed_in_full_and_named_once() {
    let server = Portico::start();
    let admin = administrator(&server);
    let input = json!({
        "name": "Wiki", "short": "w", "urlTemplate": "https://wiki.example/?q=%s", "iconUrl": "/wiki.svg",
        "description": "An encyclopaedia",
    });
    let id = admin.make("searchEngine.create", &input, "id");
    let mut expected = input.clone();
    expected["id"] = id.as_str().into();
    assert_eq!(
        admin.query("searchEngine.getAll", &NO_INPUT).data(),
        json!([expected])
    );
    let mut again = input.clone();
    again["short"] = "w2".into();
    admin
        .mutate("searchEngine.create", &again)
        .assert_refused(409, "CONFLICT");
    for (field, bad) in [
        ("name", json!("")),
        ("urlTemplate", json!("javascript:%s")),
        ("iconUrl", json!("")),
        ("short", json!("")),
    ] {
        let mut input = json!({"name": "Other", "short": "o", "urlTemplate": "https://o.example/%s", "iconUrl": "/o.svg"});
        input[field] = bad;
        admin
            .mutate("searchEngine.create", &input)
            .assert_bad_field(field);
    }

    let preference = json!({"userId": admin.user_id, "defaultSearchEngineId": id, "openInNewTab": false});
    admin
        .mutate("user.changeSearchPreferences", &preference)
        .assert_done();
    admin
        .mutate("searchEngine.delete", &json!({"id": id}))
        .assert_done();
    assert_eq!(admin.query("searchEngine.getAll", &NO_INPUT).data(), json!([]));
    assert_eq!(
        admin.profile(&admin.user_id)["defaultSearchEngineId"],
        Value::Null
    );
}

#[test]
fn a_group_has_another_name_unless_another_group_has_it() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let (editors, readers) = (
        admin.group("Editors", &["app-create"]),
        admin.group("Readers", &[]),
    );
    let member = json!({"groupId": editors, "userId": alice.id});
    admin.mutate("group.addMember", &member).assert_done();
    let rename =
        |group: &str, name: &str| admin.mutate("group.rename", &json!({"groupId": group, "name": name}));
    rename(&editors, " Writers ").assert_done();
    let groups = admin.query("group.getAll", &NO_INPUT).data();
    let groups = groups.as_array().expect("a list").iter();
    let writers: Vec<_> = groups.filter(|group| group["id"] == editors.as_str()).collect();
    assert_eq!(
        *writers[0],
        json!({
            "id": editors, "name": "Writers", "permissions": ["app-create"],
            "members": [{"id": alice.id, "name": "alice"}],
        })
    );
    rename(&readers, "WRITERS").assert_refused(409, "CONFLICT");
    // Another way to write its own name, and the name that has become free.
    rename(&editors, "writers").assert_done();
    rename(&readers, "Editors").assert_done();
    rename(MISSING, "Others").assert_refused(404, "NOT_FOUND");
    for bad in ["", " ", "a\u{0}b", &"x".repeat(65)] {
        rename(&editors, bad).assert_bad_field("name");
    }
}

#[test]
fn a_board_is_replaced_and_keeps_its_creator_and_its_shares() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let (first, second) = (admin.app("First"), admin.app("Second"));
    let items = json!([{"kind": "app", "appId": first}, {"kind": "bookmarks", "appIds": [first, second]}]);
    let board = admin.board_of("Home", false, &items);
    admin.board("Other", false);
    let share = json!({"boardId": board, "users": [alice.id], "groups": []});
    admin.mutate("board.share", &share).assert_done();

    let items = json!([{"kind": "bookmarks", "appIds": [second]}, {"kind": "app", "appId": first}]);
    let update = json!({"id": board, "name": " Start ", "isPublic": true, "items": items});
    admin.mutate("board.update", &update).assert_done();
    let found = alice.query("board.byId", &json!({"id": board})).data();
    let expected =
        json!({"id": board, "name": "Start", "isPublic": true, "creatorId": admin.user_id, "items": items});
    assert_eq!(found, expected);

    let with = |field: &str, value: Value| {
        let mut input = update.clone();
        input[field] = value;
        admin.mutate("board.update", &input)
    };
    with("id", json!(MISSING)).assert_refused(404, "NOT_FOUND");
    with("name", json!("OTHER")).assert_refused(409, "CONFLICT");
    with("items", json!([{"kind": "app", "appId": MISSING}])).assert_refused(404, "NOT_FOUND");
    with("name", json!("")).assert_bad_field("name");
    let too_many = vec![json!({"kind": "app", "appId": first}); 1001];
    with("items", json!(too_many)).assert_bad_field("items");
    // A refused change leaves the board as it was.
    let same = alice.query("board.byId", &json!({"id": board})).data();
    assert_eq!(same, expected);
    // Private again, it is still shared.
    with("isPublic", json!(false)).assert_done();
    alice
        .query("board.byId", &json!({"id": board}))
        .assert_status(200);
    server
        .anonymous()
        .query("board.byId", &json!({"id": board}))
        .assert_refused(404, "NOT_FOUND");
}

#[test]
fn callers_list_the_boards_that_they_may_view() {
    let server = Portico::start();
    let admin = administrator(&server);
    let friends = admin.group("friends", &[]);
    let (alice, bob) = (admin.user("alice"), admin.user_in("bobby", &[&friends]));
    let viewer = admin.user_with("viewer", "board-view-all");
    admin.board("Public", true);
    let (shared, private) = (admin.board("Shared", false), admin.board("Private", false));
    let of_group = json!({"boardId": shared, "users": [], "groups": [friends]});
    admin.mutate("board.share", &of_group).assert_done();
    let of_alice = json!({"boardId": private, "users": [alice.id], "groups": []});
    admin.mutate("board.share", &of_alice).assert_done();
    let names = |client: &dyn Client| {
        let boards = client.query("board.getVisible", &NO_INPUT).data();
        let boards = boards.as_array().expect("a list").iter();
        let names = boards.map(|board| board["name"].as_str().expect("a name").to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&server.anonymous()), ["Public"]);
    assert_eq!(names(&alice), ["Private", "Public"]);
    assert_eq!(names(&bob), ["Public", "Shared"]);
    assert_eq!(names(&viewer), ["Private", "Public", "Shared"]);
    assert_eq!(names(&admin), ["Private", "Public", "Shared"]);
    assert_eq!(names(&admin.user("carol")), ["Public"]);
}

#[test]
fn a_search_engine_is_replaced_and_offered_to_every_user() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let id = admin.search_engine("Wiki", "w");
    admin.search_engine("Maps", "m");
    let update = json!({
        "id": id, "name": "Lexicon", "short": "l", "urlTemplate": "https://lexicon.example/%s",
        "iconUrl": "/lexicon.svg", "description": "Words",
    });
    admin.mutate("searchEngine.update", &update).assert_done();
    let offered = alice.query("searchEngine.getSelectable", &NO_INPUT).data();
    assert_eq!(offered[0], update);
    assert_eq!(offered, admin.query("searchEngine.getAll", &NO_INPUT).data());
    let by_id = |client: &dyn Client, id: &str| client.query("searchEngine.byId", &json!({"id": id}));
    assert_eq!(by_id(&alice, &id).data(), update);
    by_id(&alice, MISSING).assert_refused(404, "NOT_FOUND");
    by_id(&server.anonymous(), &id).assert_refused(401, "UNAUTHORIZED");

    let with = |field: &str, value: Value| {
        let mut input = update.clone();
        input[field] = value;
        admin.mutate("searchEngine.update", &input)
    };
    with("id", json!(MISSING)).assert_refused(404, "NOT_FOUND");
    with("name", json!("maps")).assert_refused(409, "CONFLICT");
    with("short", json!("M")).assert_refused(409, "CONFLICT");
    with("urlTemplate", json!("https://lexicon.example/")).assert_bad_field("urlTemplate");
    with("iconUrl", json!("javascript:alert(1)")).assert_bad_field("iconUrl");
    // Its own name and short are free for it; a description that is absent goes.
    with("description", Value::Null).assert_done();
    let offered = alice.query("searchEngine.getSelectable", &NO_INPUT).data();
    assert_eq!(offered[0]["description"], Value::Null);
}
