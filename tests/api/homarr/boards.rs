//! Boards that Portico and a client of Homarr both change, and `/api/boards/items`, which nabla and seed scripts
//! use.

use portico_tests::{Client, Fixtures};
use serde_json::{Value, json};

use super::{ask, read, tell, with_administrator};

#[test]
fn items_that_portico_has_get_places_and_those_of_clients_keep_theirs() {
    let (_server, admin, key) = with_administrator();
    let (one, two, three) = (admin.app("one"), admin.app("two"), admin.app("three"));
    let own = json!([{"kind": "app", "appId": one}, {"kind": "bookmarks", "appIds": [one, two]}]);
    let id = admin.board_of("mixed", true, &own);
    let whole = || read(&ask(&key, "board.getBoardByName", &json!({"name": "MIXED"})));
    let before = whole();
    assert_eq!(before["items"][0]["options"], json!({"appId": one}));
    assert_eq!(before["items"][1]["options"], json!({"items": [one, two]}));
    let place = &before["items"][1]["layouts"][0];
    assert_eq!((&place["xOffset"], &place["yOffset"]), (&json!(1), &json!(0)));
    assert_eq!(place["sectionId"], before["sections"][0]["id"]);
    assert_eq!(whole(), before, "reading changes nothing");

    // A client moves an item, adds a widget that Portico knows nothing of and one that Portico has too, and saves.
    let mut items = before["items"].clone();
    items[0]["layouts"][0]["xOffset"] = json!(7);
    let looks = json!({"title": "Now", "customCssClasses": [], "borderColor": "#ff0000"});
    let added = [
        ("weather", json!({"isFormatFahrenheit": false})),
        ("clock", json!({"is24HourFormat": true})),
    ];
    items
        .as_array_mut()
        .expect("items")
        .extend(added.map(|(kind, options)| {
            json!({
                "id": kind, "kind": kind, "options": options, "layouts": [], "integrationIds": [],
                "advancedOptions": looks,
            })
        }));
    let saved = json!({"id": id, "sections": before["sections"], "items": items});
    tell(&key, "board.saveBoard", &saved).assert_status(200);
    assert_eq!(whole()["items"], items);

    let own = admin.query("board.byId", &json!({"id": id})).data()["items"].clone();
    assert_eq!(own[2], json!({"kind": "clock", "timeZone": null}));
    assert_eq!(own.as_array().map(Vec::len), Some(3));

    // Portico's board changes: what is gone is gone, what is new has a place, all else stays.
    let own = json!({"id": id, "name": "mixed", "isPublic": true, "items": [
        {"kind": "bookmarks", "appIds": [two]}, {"kind": "app", "appId": three},
    ]});
    admin.mutate("board.update", &own).assert_done();
    let after = whole();
    let kinds: Vec<_> = after["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["kind"].clone())
        .collect();
    assert_eq!(kinds, ["bookmarks", "weather", "app"]);
    assert_eq!(after["items"][1], items[2]);
    assert_eq!(after["items"][0]["options"], json!({"items": [two]}));
    assert_eq!(after["items"][2]["options"], json!({"appId": three}));
    tell(&key, "app.delete", &json!({"id": three})).assert_status(200);
    assert_eq!(whole()["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_board_that_cannot_be_kept_is_refused_and_stays_as_it_was() {
    let (_server, admin, key) = with_administrator();
    let app = admin.app("one");
    let id = admin.board_of("kept", true, &json!([{"kind": "app", "appId": app}]));
    let whole = || read(&ask(&key, "board.getBoardByName", &json!({"name": "kept"})));
    let before = whole();
    let item =
        |id: &str, app: &str| json!({"id": id, "kind": "app", "options": {"appId": app}, "layouts": []});
    for (items, status) in [
        (json!([item("a", "missing")]), 404),
        (json!("none"), 400),
        (json!([{"id": "a"}]), 400),
        (json!([5]), 400),
        (
            Value::Array((0..1001).map(|number| item(&number.to_string(), &app)).collect()),
            400,
        ),
        (
            json!([{"id": "a", "kind": "notebook", "options": {"content": "x".repeat(600_000)}, "layouts": []}]),
            400,
        ),
    ] {
        let saved = json!({"id": id, "sections": before["sections"], "items": items});
        tell(&key, "board.saveBoard", &saved).assert_status(status);
        assert_eq!(whole(), before, "{status}");
    }
    let saved = json!({"id": id, "sections": [], "items": []});
    let plain = admin.user("plain");
    tell(&plain, "board.saveBoard", &saved).assert_status(403);
    assert_eq!(whole(), before);
}

#[test]
fn a_seed_script_adds_items_one_by_one() {
    let (_server, admin, key) = with_administrator();
    let id = admin.board("seeded", true);
    let app = admin.app("one");
    let add = |input: &Value| key.post("/api/boards/items", input);
    let input = json!({"boardId": id, "kind": "app", "options": {"appId": app}});
    let first = add(&input).assert_status(200).json()["itemId"].clone();
    let second = add(&json!({"boardId": id, "kind": "clock"}))
        .assert_status(200)
        .json()["itemId"]
        .clone();
    assert!(first.is_string() && first != second);
    let whole = read(&ask(&key, "board.getBoardByName", &json!({"name": "seeded"})));
    let items = whole["items"].as_array().expect("items");
    let added = items
        .iter()
        .filter(|item| item["id"] == first || item["id"] == second);
    let places: Vec<_> = added
        .map(|item| {
            (
                item["layouts"][0]["xOffset"].clone(),
                item["layouts"][0]["yOffset"].clone(),
            )
        })
        .collect();
    assert_eq!(places.len(), 2, "{whole}");
    assert_ne!(places[0], places[1], "they have places of their own");
    add(&json!({"boardId": "missing", "kind": "clock"})).assert_status(404);
    add(&json!({"boardId": id, "kind": "clock", "options": 5})).assert_status(400);
}

#[test]
fn a_board_is_visible_to_those_who_may_view_it() {
    let (server, admin, key) = with_administrator();
    let board = json!({"name": "hidden", "columnCount": 3, "isPublic": false});
    let id = read(&tell(&key, "board.createBoard", &board))["boardId"].clone();
    let plain = admin.user("plain");
    for client in [&plain as &dyn Client, &server.anonymous()] {
        assert_eq!(read(&ask(client, "board.getAllBoards", &Value::Null)), json!([]));
        ask(client, "board.getBoardByName", &json!({"name": "hidden"})).assert_status(404);
        ask(client, "extras.ofBoard", &json!({"id": id})).assert_status(404);
    }
    tell(
        &key,
        "board.changeBoardVisibility",
        &json!({"id": id, "visibility": "public"}),
    )
    .assert_status(200);
    let seen = read(&ask(
        &server.anonymous(),
        "board.getBoardByName",
        &json!({"name": "hidden"}),
    ));
    assert_eq!(seen["layouts"][0]["columnCount"], 3);
    tell(&plain, "board.setHomeBoard", &json!({"id": id})).assert_status(200);
    assert_eq!(read(&ask(&plain, "board.getHomeBoard", &Value::Null))["id"], id);
}

#[test]
fn items_that_portico_adds_never_have_the_id_of_one_that_a_client_has_kept() {
    let (_server, admin, key) = with_administrator();
    let apps: Vec<String> = ["one", "two", "three"].map(|name| admin.app(name)).into();
    let app = |number: usize| json!({"kind": "app", "appId": apps[number]});
    let id = admin.board_of("mixed", true, &json!([app(0)]));
    let whole = || read(&ask(&key, "board.getBoardByName", &json!({"name": "mixed"})));
    let before = whole();
    // The client keeps the id that the item was given.
    let saved = json!({"id": id, "sections": before["sections"], "items": before["items"]});
    tell(&key, "board.saveBoard", &saved).assert_status(200);
    let own = json!({"id": id, "name": "mixed", "isPublic": true, "items": [app(0), app(1), app(2)]});
    admin.mutate("board.update", &own).assert_done();
    let after = whole();
    let ids: Vec<&str> = after["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["id"].as_str().expect("an id"))
        .collect();
    let different: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), different.len()), (3, 3), "{ids:?}");
    assert_eq!(after["items"][0], before["items"][0]);
    assert_eq!(whole(), after, "reading changes nothing");
}

#[test]
fn a_copy_of_a_board_that_cannot_be_kept_is_not_made() {
    let (_server, admin, key) = with_administrator();
    let app = json!({"kind": "app", "appId": admin.app("one")});
    let apps = Value::Array(vec![app; 1000]);
    let id = admin.board_of("large", true, &apps);
    // Without places of their own the items take little room; a copy has a place for each in each layout.
    let layouts: Vec<Value> = (0..20)
        .map(|number| json!({"id": format!("layout-{number}"), "name": "L", "columnCount": 10, "breakpoint": number}))
        .collect();
    let kept = json!({ "layouts": layouts }).to_string();
    admin
        .mutate("extras.saveOfBoard", &json!({"id": id, "extras": kept}))
        .assert_done();
    let copy = json!({"id": id, "name": "copy"});
    tell(&key, "board.duplicateBoard", &copy).assert_status(400);
    let boards = read(&ask(&key, "board.getAllBoards", &Value::Null));
    assert_eq!(boards.as_array().map(Vec::len), Some(1), "{boards}");
}

#[test]
fn what_is_kept_is_not_replaced_by_a_client_that_has_not_read_it() {
    let (_server, admin, _key) = with_administrator();
    let app = admin.app("one");
    let board = admin.board_of("kept", true, &json!([{"kind": "app", "appId": app}]));
    for (of, id) in [("User", &admin.user_id), ("Board", &board)] {
        let (read, save) = (format!("extras.of{of}"), format!("extras.saveOf{of}"));
        let read = || admin.query(&read, &json!({"id": id})).data();
        let save = |extras: &str, version: &Value| {
            admin.mutate(&save, &json!({"id": id, "extras": extras, "version": version}))
        };
        let first = read();
        save("one", &first["version"]).assert_done();
        let second = read();
        assert_eq!(second["extras"], "one");
        assert_ne!(second["version"], first["version"]);
        save("two", &first["version"]).assert_refused(409, "CONFLICT");
        assert_eq!(read(), second);
        save("two", &second["version"]).assert_done();
        // Without a version it is replaced in any case.
        admin
            .mutate(&format!("extras.saveOf{of}"), &json!({"id": id, "extras": null}))
            .assert_done();
        assert_eq!(read(), first);
    }
    // The version of a board is also that of its items.
    let read = || admin.query("extras.ofBoard", &json!({"id": board})).data();
    let version = read()["version"].clone();
    let none = json!({"id": board, "name": "kept", "isPublic": true, "items": []});
    admin.mutate("board.update", &none).assert_done();
    let saved = json!({"id": board, "extras": "new", "version": version, "name": "renamed"});
    admin
        .mutate("extras.saveOfBoard", &saved)
        .assert_refused(409, "CONFLICT");
    let saved = json!({
        "id": board, "extras": "new", "version": read()["version"], "isPublic": false,
        "items": [{"kind": "app", "appId": app}],
    });
    admin.mutate("extras.saveOfBoard", &saved).assert_done();
    let whole = admin.query("board.byId", &json!({"id": board})).data();
    assert_eq!(
        (&whole["name"], &whole["isPublic"]),
        (&json!("kept"), &json!(false))
    );
    assert_eq!(whole["items"], json!([{"kind": "app", "appId": app}]));
    assert_eq!(read()["extras"], "new");
}

#[test]
fn changes_of_one_board_and_one_user_at_once_are_all_kept() {
    let (_server, admin, key) = with_administrator();
    let id = admin.board("busy", true);
    let preferences = ["ddgBangs", "enableRightClickOnWidgets"];
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (key, id) = (&key, &id);
            scope.spawn(move || {
                let input = json!({"boardId": id, "kind": "clock", "options": {"number": number}});
                key.post("/api/boards/items", &input).assert_status(200);
            });
        }
        for name in preferences {
            let key = &key;
            scope.spawn(move || {
                key.patch("/api/users/preferences", &json!({ name: false }))
                    .assert_status(200);
            });
        }
    });
    let whole = read(&ask(&key, "board.getBoardByName", &json!({"name": "busy"})));
    assert_eq!(whole["items"].as_array().map(Vec::len), Some(8), "{whole}");
    let own = read(&ask(&key, "user.getById", &json!({"userId": admin.user_id})));
    assert_eq!(
        preferences.map(|name| own[name].clone()),
        [false, false].map(Value::from)
    );
}

#[test]
fn the_first_board_is_the_home_of_its_maker_and_items_get_the_next_free_cells() {
    let (_server, admin, key) = with_administrator();
    let make = |name: &str| {
        let board = json!({"name": name, "columnCount": 4, "isPublic": false});
        read(&tell(&key, "board.createBoard", &board))["boardId"].clone()
    };
    // board.ts:94: only a maker who has none gets it.
    let first = make("first");
    make("second");
    let home = || {
        let input = json!({"userId": admin.user_id});
        read(&ask(&key, "user.getById", &input))["homeBoardId"].clone()
    };
    assert_eq!(home(), first);
    // board.ts:1905: the first free cells, line by line, and the size of the kind.
    let mut places = Vec::new();
    for kind in ["clock", "bazarr", "clock", "mediaMissing", "clock"] {
        let item = key.post("/api/boards/items", &json!({"boardId": first, "kind": kind}));
        let id = item.assert_status(200).json()["itemId"].clone();
        let whole = read(&ask(&key, "board.getBoardByName", &json!({"name": "first"})));
        let items = whole["items"].as_array().expect("items");
        let item = items.iter().find(|item| item["id"] == id).expect("the item");
        let place = &item["layouts"][0];
        places.push(["xOffset", "yOffset", "width", "height"].map(|key| place[key].as_u64()));
    }
    let expected = [
        [0, 0, 1, 1],
        [1, 0, 2, 2],
        [3, 0, 1, 1],
        [0, 2, 4, 3],
        [0, 1, 1, 1],
    ];
    assert_eq!(places, expected.map(|place| place.map(Some)));
    // group.ts:235: a group's home boards are changed in part.
    let group = read(&tell(&key, "group.createGroup", &json!({"name": "family"})));
    for (settings, expected) in [
        (json!({"homeBoardId": first}), [first.clone(), Value::Null]),
        (
            json!({"mobileHomeBoardId": first}),
            [first.clone(), first.clone()],
        ),
        (json!({"homeBoardId": null}), [Value::Null, first.clone()]),
    ] {
        let input = json!({"id": group, "settings": settings});
        tell(&key, "group.savePartialSettings", &input).assert_status(200);
        let shown = read(&ask(&key, "group.getById", &json!({"id": group})));
        assert_eq!(
            ["homeBoardId", "mobileHomeBoardId"].map(|field| shown[field].clone()),
            expected,
            "{settings}"
        );
    }
}
