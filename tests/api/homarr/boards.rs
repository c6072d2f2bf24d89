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

    // A client moves an item, adds a widget that Portico knows nothing of, and saves.
    let mut items = before["items"].clone();
    items[0]["layouts"][0]["xOffset"] = json!(7);
    let clock = json!({
        "id": "clock", "kind": "clock", "options": {"is24HourFormat": true}, "layouts": [], "integrationIds": [],
        "advancedOptions": {"title": "Time", "customCssClasses": [], "borderColor": "#ff0000"},
    });
    items.as_array_mut().expect("items").push(clock);
    let saved = json!({"id": id, "sections": before["sections"], "items": items});
    tell(&key, "board.saveBoard", &saved).assert_status(200);
    assert_eq!(whole()["items"], items);

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
    assert_eq!(kinds, ["bookmarks", "clock", "app"]);
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
    let rows: Vec<_> = added.map(|item| item["layouts"][0]["yOffset"].clone()).collect();
    assert_eq!(rows.len(), 2, "{whole}");
    assert_ne!(rows[0], rows[1], "they have places of their own");
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
