//! Export: the state as a document.

use portico_tests::{Client, Fixtures, Portico, administrator, command, data_in, run};
use serde_json::{Value, json};

use super::{apply, assert_nothing_changed, export, named, places};

/// The beginning of a PNG.
const IMAGE: &str = "data:image/png;base64,iVBORw0KGgo=";

/// A dashboard with everything that makes names hard, made by ordinary procedures where they can.
fn fill(server: &Portico) -> impl Client {
    let admin = administrator(server);
    let family = admin.group("Aile 👪", &["board-view-all"]);
    let izmir = admin.user_in("İZMİR", &[&family]);
    admin.user("straße");
    admin.user("strasse");
    let image = json!({"userId": izmir.id, "image": IMAGE});
    admin.mutate("user.setProfileImage", &image).assert_done();
    let external = json!({"users": [
        {"name": "root", "provider": "oidc", "email": "r@example.org", "emailVerified": "2026-02-03T04:05:06.789Z"},
        {"name": "root", "provider": "ldap", "groups": ["aile 👪"]},
        {"name": "ὀδυσσεύς", "provider": "ldap", "image": "https://example.org/o.png"},
    ]});
    apply(&admin, &external);
    let first = admin.app("Same");
    let second = admin.app("SAME");
    let only = admin.app("🦊 İstanbul");
    let engine = admin.search_engine("Arama ğ", "ğ");
    let preference = json!({"userId": izmir.id, "defaultSearchEngineId": engine, "openInNewTab": false});
    admin
        .mutate("user.changeSearchPreferences", &preference)
        .assert_done();
    let items = json!([{"kind": "app", "appId": second}, {"kind": "bookmarks", "appIds": [only, first, only]},
        {"kind": "bookmarks", "appIds": []}]);
    let board = admin.board_of("Ev ☂", false, &items);
    let users = admin.query("user.getAll", &Value::Null).data();
    let users: Vec<_> = users
        .as_array()
        .expect("a list")
        .iter()
        .map(|user| &user["id"])
        .collect();
    let share = json!({"boardId": board, "users": users, "groups": [family]});
    admin.mutate("board.share", &share).assert_done();
    admin.board("Zweites", true);
    for (app, addresses) in [(&second, &["https://same.home.example/"][..]), (&only, &[])] {
        let gate = json!({"id": app, "addresses": addresses, "isOpen": addresses.is_empty()});
        admin.mutate("gate.update", &gate).assert_done();
    }
    let sections = json!([
        {"name": "Üst", "collapsed": true, "items": [{"kind": "app", "appId": only, "size": "wide"},
            {"kind": "note", "text": "Süt\n\nhttps://x.example/"}]},
        {"items": [{"kind": "clock"}, {"kind": "clock", "timeZone": "Europe/Istanbul", "size": "2x1"},
            {"kind": "note", "text": "", "size": "1x1"}]},
    ]);
    let arranged = json!({"name": "Üçüncü", "isPublic": false, "slug": "ucuncu", "sections": sections});
    admin.mutate("board.create", &arranged).data();
    admin
}

#[test]
fn values_older_than_a_rule_stay_and_new_ones_are_refused() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    admin.app("An app");
    admin.search_engine("Wiki", "w");
    admin.user("grace");
    admin.board("Home", false);
    let group = admin.group("Family", &[]);
    // As a release without these rules left them.
    server.stop();
    let database = rusqlite::Connection::open(server.data().join("portico.db")).expect("the database");
    let sql = "UPDATE app SET icon_url = 'javascript:1'; UPDATE search_engine SET icon_url = 'javascript:2';
        UPDATE app SET description = char(0x202e), href = 'nas:5000';
        UPDATE search_engine SET description = char(0x2066);
        UPDATE board SET name = 'Ho' || char(0x202a) || 'me', name_key = 'ho' || char(0x202a) || 'me';
        UPDATE user_group SET name = 'Fa' || char(0x202a), name_key = 'fa' || char(0x202a) WHERE name = 'Family';
        UPDATE user_account SET image = 'data:image/gif;base64,R0lGODlh/////wAAADs=' WHERE name = 'grace';
        UPDATE user_account SET name = 'gr' || char(0x200b) || 'ace', name_key = 'gr' || char(0x200b) || 'ace' WHERE name = 'grace'";
    database.execute_batch(sql).expect("the values");
    drop(database);
    server.start_again();

    let state = export(&admin);
    assert_eq!(state["apps"][0]["iconUrl"], "javascript:1");
    let report = apply(&admin, &state);
    assert_nothing_changed(&report);
    let message = "must be an absolute URL: did you mean http://nas:5000?";
    assert_eq!(
        report["warnings"],
        json!([{"kind": "app", "name": "An app", "field": "href", "message": message}])
    );
    for (pointer, value, place) in [
        ("/apps/0/iconUrl", "javascript:3", "apps[0].iconUrl"),
        (
            "/searchEngines/0/iconUrl",
            "javascript:3",
            "searchEngines[0].iconUrl",
        ),
        ("/apps/0/description", "a\u{202e}", "apps[0].description"),
        (
            "/searchEngines/0/description",
            "a\u{202e}",
            "searchEngines[0].description",
        ),
        ("/boards/0/name", "a\u{202e}", "boards[0].name"),
        (
            "/users/0/image",
            "data:image/gif;base64,R0lGODlh//8BAAAAADs=",
            "users[0].image",
        ),
    ] {
        let mut document = state.clone();
        document["prune"] = false.into();
        *document.pointer_mut(pointer).expect("a field") = value.into();
        assert_eq!(
            places(&admin.mutate("state.apply", &document)),
            [place],
            "{pointer}"
        );
    }
    // With another name it is another record, which may have none of them. An app is found by its id.
    for (pointer, key, refused) in [
        (
            "/searchEngines/0/name",
            "Another",
            ["searchEngines[0].description", "searchEngines[0].iconUrl"],
        ),
        (
            "/users/0/name",
            "gr\u{200c}ace",
            ["users[0].name", "users[0].image"],
        ),
        (
            "/apps/0/id",
            "another",
            ["apps[0].description", "apps[0].iconUrl"],
        ),
    ] {
        let mut document = state.clone();
        document["prune"] = false.into();
        *document.pointer_mut(pointer).expect("a field") = key.into();
        assert_eq!(
            places(&admin.mutate("state.apply", &document)),
            refused,
            "{pointer}"
        );
    }
    assert_nothing_changed(&apply(&admin, &state));

    let rename = |name: &str| {
        let input = json!({"groupId": group, "name": name});
        admin.mutate("group.rename", &input)
    };
    rename("Fa\u{202a}").assert_done();
    rename("Fb\u{202a}").assert_bad_field("name");
    let board = &admin.query("board.getAll", &Value::Null).data()[0];
    let update = |name: &str| {
        let input = json!({"id": board["id"], "name": name, "isPublic": true, "items": []});
        admin.mutate("board.update", &input)
    };
    update("Ho\u{202a}me").assert_done();
    update("Ho\u{202a}").assert_bad_field("name");
    let mut engine = admin.query("searchEngine.getAll", &Value::Null).data()[0].clone();
    engine["iconUrl"] = "/w.svg".into();
    admin.mutate("searchEngine.update", &engine).assert_done();
    engine["description"] = "\u{202a}".into();
    admin
        .mutate("searchEngine.update", &engine)
        .assert_bad_field("description");
}

#[test]
fn an_export_uses_plain_names_where_they_are_unambiguous_and_applied_changes_nothing() {
    let server = Portico::start();
    let admin = fill(&server);
    let state = export(&admin);
    let all = 2 + 7 + 3 + 1 + 3;
    let report = apply(&admin, &state);
    assert_nothing_changed(&report);
    // And what the dashboard looks like.
    assert_eq!(named(&report, "unchanged").len(), all + 1);
    let mut pruned = state.clone();
    pruned["prune"] = true.into();
    assert_nothing_changed(&apply(&admin, &pruned));
    assert_eq!(export(&admin), state);

    let ids: Vec<_> = state["apps"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|app| &app["id"])
        .collect();
    let board = &state["boards"][0];
    assert_eq!(
        board["creator"],
        json!({"name": "root", "provider": "credentials"})
    );
    assert_eq!(
        board["items"],
        json!([{"app": {"id": ids[1], "name": "SAME"}},
            {"bookmarks": ["🦊 İstanbul", {"id": ids[0], "name": "Same"}, "🦊 İstanbul"]}, {"bookmarks": []}])
    );
    assert_eq!(
        board["sharedWith"],
        json!({"groups": ["Aile 👪"], "users": [
            "i\u{307}zmi\u{307}r",
            {"name": "root", "provider": "credentials"}, {"name": "root", "provider": "oidc"},
            {"name": "root", "provider": "ldap"}, "strasse", "straße", "ὀδυσσεύς",
        ]})
    );
    let arranged = json!([
        {"name": "Üst", "collapsed": true, "items": [{"app": "🦊 İstanbul", "size": "wide"},
            {"note": "Süt\n\nhttps://x.example/"}]},
        {"name": null, "collapsed": false, "items": [{"clock": {"timeZone": null}},
            {"clock": {"timeZone": "Europe/Istanbul"}, "size": "2x1"}, {"note": "", "size": "1x1"}]},
    ]);
    let third = &state["boards"][2];
    assert_eq!(
        (&third["sections"], &third["slug"]),
        (&arranged, &json!("ucuncu"))
    );
    assert_eq!(third.get("items"), None);
    assert_eq!(
        state["users"][0],
        json!({"name": "i\u{307}zmi\u{307}r", "provider": "credentials", "email": null, "emailVerified": null,
            "image": IMAGE, "disabled": false, "secondFactor": false, "groups": ["Aile 👪"]})
    );
    assert_eq!(state["users"][2]["emailVerified"], "2026-02-03T04:05:06.789Z");
    assert_eq!(
        state["boards"][1]["sharedWith"],
        json!({"users": [], "groups": []})
    );

    // Applied to an empty dashboard it gives an equal export.
    // No administrator exists there yet: the operator applies it, on the machine itself.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let call = |arguments: &[&str], input: &str| {
        let mut command = command();
        command
            .arg("call")
            .args(arguments)
            .arg("--data")
            .arg(data_in(&folder));
        let text = run(&mut command, input).succeeded();
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let report = call(&["state.apply", "-"], &state.to_string());
    assert_eq!(named(&report, "created").len(), all);
    assert_eq!(call(&["state.export"], ""), state);
    assert_nothing_changed(&call(&["state.apply", "-"], &state.to_string()));
}
