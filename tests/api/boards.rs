//! What is on a board: sections, sizes, notes, clocks, and its short address. Who may do what is in `board_rights`.

use portico_tests::{Answer, Client, Fixtures, Portico, Session, administrator};
use serde_json::{Value, json};

#[track_caller]
fn found(client: &impl Client, board: &str) -> Value {
    client.query("board.byId", &json!({ "id": board })).data()
}

/// A board with these sections.
#[track_caller]
fn board_with(admin: &Session, sections: &Value) -> String {
    let input = json!({ "name": "Home", "isPublic": false, "sections": sections });
    admin.make("board.create", &input, "id")
}

/// Replaces what is on a board called Home.
fn update(admin: &Session, board: &str, more: &Value) -> Answer {
    let mut input = json!({ "id": board, "name": "Home", "isPublic": false });
    for (key, value) in more.as_object().expect("an object") {
        input[key] = value.clone();
    }
    admin.mutate("board.update", &input)
}

#[test]
fn a_board_has_sections_and_reads_show_its_items_as_well() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (first, second) = (admin.app("First"), admin.app("Second"));
    let sections = json!([
        { "name": " Media ", "collapsed": true, "items": [
            { "kind": "app", "appId": first, "size": "2x2" },
            { "kind": "note", "text": " Milk\n\nhttps://shop.example/ " },
        ] },
        { "items": [
            { "kind": "clock", "timeZone": "Europe/Berlin", "size": "wide" },
            { "kind": "clock" },
            { "kind": "bookmarks", "appIds": [second, first] },
        ] },
        { "name": null, "collapsed": false, "items": [] },
    ]);
    let board = board_with(&admin, &sections);
    let board = found(&admin, &board);
    let expected = json!([
        { "name": "Media", "collapsed": true, "items": [
            { "kind": "app", "appId": first, "size": "2x2" },
            { "kind": "note", "text": "Milk\n\nhttps://shop.example/", "size": "2x2" },
        ] },
        { "name": null, "collapsed": false, "items": [
            { "kind": "clock", "timeZone": "Europe/Berlin", "size": "wide" },
            { "kind": "clock", "timeZone": null, "size": "1x1" },
            { "kind": "bookmarks", "appIds": [second, first], "size": "1x1" },
        ] },
        { "name": null, "collapsed": false, "items": [] },
    ]);
    assert_eq!(board["sections"], expected);
    let items = json!([
        { "kind": "app", "appId": first },
        { "kind": "note", "text": "Milk\n\nhttps://shop.example/" },
        { "kind": "clock", "timeZone": "Europe/Berlin" },
        { "kind": "clock", "timeZone": null },
        { "kind": "bookmarks", "appIds": [second, first] },
    ]);
    assert_eq!(board["items"], items);
    // A board that is read can be sent back whole.
    let id = board["id"].as_str().expect("an id");
    update(&admin, id, &board).assert_done();
    assert_eq!(found(&admin, id), board);
    // An app that is deleted leaves its section.
    admin.mutate("app.delete", &json!({ "id": first })).assert_done();
    let sections = found(&admin, id)["sections"].clone();
    assert_eq!(sections[0]["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(sections[1]["items"][2]["appIds"], json!([second]));
}

#[test]
fn who_knows_no_sections_keeps_them_and_makes_one_of_other_items() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (first, second) = (admin.app("First"), admin.app("Second"));
    let app = |id: &str| json!({ "kind": "app", "appId": id });
    let sections = json!([
        { "name": "One", "collapsed": false, "items": [{ "kind": "app", "appId": first, "size": "2x1" }] },
        { "name": "Two", "collapsed": true, "items": [{ "kind": "app", "appId": second, "size": "wide" }] },
    ]);
    let board = board_with(&admin, &sections);
    update(&admin, &board, &json!({ "items": [app(&first), app(&second)] })).assert_done();
    assert_eq!(found(&admin, &board)["sections"], sections);
    update(&admin, &board, &json!({ "items": [app(&second), app(&first)] })).assert_done();
    let one = json!([{ "name": null, "collapsed": false, "items": [
        { "kind": "app", "appId": second, "size": "wide" },
        { "kind": "app", "appId": first, "size": "2x1" },
    ] }]);
    assert_eq!(found(&admin, &board)["sections"], one);
    // Neither of the two, and two that say different things.
    update(&admin, &board, &json!({})).assert_bad_field("items");
    let differ = json!({ "items": [app(&first)], "sections": sections });
    update(&admin, &board, &differ).assert_bad_field("items");
    update(&admin, &board, &json!({ "sections": [] })).assert_done();
    let none = json!([{ "name": null, "collapsed": false, "items": [] }]);
    assert_eq!(found(&admin, &board)["sections"], none);
}

#[test]
fn a_board_of_more_than_the_bounds_is_refused_with_the_place() {
    let server = Portico::start();
    let admin = administrator(&server);
    let board = board_with(&admin, &json!([]));
    let clock = json!({ "kind": "clock" });
    let many = |count: usize| vec![&clock; count];
    let note = |length: usize| json!({ "kind": "note", "text": "ä".repeat(length) });
    let section = |items: Value| json!({ "items": items });
    // The most that fits.
    let full = json!([section(json!(many(999))), section(json!([note(8_192)]))]);
    update(&admin, &board, &json!({ "sections": full })).assert_done();
    update(
        &admin,
        &board,
        &json!({ "sections": vec![section(json!([])); 50] }),
    )
    .assert_done();
    let notes = vec![note(8_192); 16];
    update(&admin, &board, &json!({ "sections": [section(json!(notes))] })).assert_done();
    let before = found(&admin, &board);
    let mut one_more = notes.clone();
    one_more.push(note(1));
    for (sections, place) in [
        (json!(vec![section(json!([])); 51]), "sections"),
        (
            json!([section(json!(many(501))), section(json!(many(500)))]),
            "sections",
        ),
        (
            json!([section(json!([note(8_193)]))]),
            "sections[0].items[0].text",
        ),
        (json!([section(json!(one_more))]), "sections"),
        (
            json!([{ "name": "x".repeat(65), "items": [] }]),
            "sections[0].name",
        ),
        (json!([{ "name": "a\nb", "items": [] }]), "sections[0].name"),
        (
            json!([section(json!([{ "kind": "note", "text": "a\u{7}" }]))]),
            "sections[0].items[0].text",
        ),
        (
            json!([section(
                json!([{ "kind": "clock", "timeZone": "../../etc/passwd" }])
            )]),
            "sections[0].items[0].timeZone",
        ),
        (
            json!([section(json!([{ "kind": "clock", "size": "3x3" }]))]),
            "sections[0].items[0].size",
        ),
        (
            json!([section(json!([{ "kind": "weather" }]))]),
            "sections[0].items[0].kind",
        ),
        (
            json!([section(
                json!([{ "kind": "bookmarks", "appIds": vec!["a"; 1_001] }])
            )]),
            "sections[0].items[0].appIds",
        ),
    ] {
        let answer = update(&admin, &board, &json!({ "sections": sections }));
        let refusal = answer.assert_refused(400, "BAD_REQUEST").text();
        assert!(refusal.contains(place), "{place}: {refusal}");
    }
    let answer = update(&admin, &board, &json!({ "items": many(1_001) }));
    answer.assert_bad_field("items");
    assert_eq!(found(&admin, &board), before, "nothing was written");
}

#[test]
fn a_short_address_leads_to_those_boards_that_the_caller_may_view() {
    let server = Portico::start();
    let admin = administrator(&server);
    let create = |name: &str, slug: Value| {
        let input = json!({ "name": name, "isPublic": name == "Public", "slug": slug, "items": [] });
        admin.mutate("board.create", &input)
    };
    create("Kitchen", json!("kitchen")).data();
    create("Public", json!("for-all-2")).data();
    let by_slug = |client: &dyn Client, slug: &str| client.query("board.bySlug", &json!({ "slug": slug }));
    let anonymous = server.anonymous();
    assert_eq!(by_slug(&admin, "kitchen").data()["name"], "Kitchen");
    assert_eq!(by_slug(&anonymous, "for-all-2").data()["slug"], "for-all-2");
    assert_eq!(admin.get("/api/boards/by-slug/kitchen").json()["name"], "Kitchen");
    for (client, slug) in [
        (&admin as &dyn Client, "missing"),
        (&admin, "Kitchen"),
        (&anonymous, "kitchen"),
    ] {
        by_slug(client, slug).assert_refused(404, "NOT_FOUND");
    }
    let taken = create("Other", json!("kitchen"));
    let text = taken.assert_refused(409, "CONFLICT").text();
    assert!(text.contains("The board's short address is taken"), "{text}");
    let long = "a".repeat(65);
    for bad in ["", "Kitchen", "a--b", "-a", "a-", "a/b", "ä", "a b", "..", &long] {
        create("Other", json!(bad)).assert_bad_field("slug");
    }
    create("Other", json!(&long[..64])).data();

    // Absent it stays, null removes it, and then another board may have it.
    let board = by_slug(&admin, "kitchen").data()["id"].clone();
    let change = |slug: Option<Value>| {
        let mut input = json!({ "id": board, "name": "Kitchen", "isPublic": false, "items": [] });
        if let Some(slug) = slug {
            input["slug"] = slug;
        }
        admin.mutate("board.update", &input)
    };
    change(None).assert_done();
    assert_eq!(by_slug(&admin, "kitchen").data()["id"], board);
    change(Some(json!("for-all-2"))).assert_refused(409, "CONFLICT");
    change(Some(Value::Null)).assert_done();
    by_slug(&admin, "kitchen").assert_refused(404, "NOT_FOUND");
    create("New kitchen", json!("kitchen")).data();
}
