//! Boards of a document: what is on them, and their short addresses.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{apply, export, places};

#[test]
fn boards_exchange_their_short_addresses_in_one_document() {
    let server = Portico::start();
    let admin = administrator(&server);
    let boards = |one: Value, other: Value| {
        let board = |name: &str, slug: Value| json!({ "name": name, "slug": slug, "items": [] });
        json!({ "boards": [board("One", one), board("Other", other)] })
    };
    apply(&admin, &boards(json!("one"), json!("other")));
    let report = apply(&admin, &boards(json!("other"), json!("one")));
    let change = &report["changed"][0]["changes"][0];
    assert_eq!(change["field"], "slug", "{report}");
    let slugs = || {
        let boards = export(&admin)["boards"].clone();
        let boards = boards.as_array().expect("a list").clone();
        let slugs = boards.iter().map(|board| board["slug"].clone());
        slugs.collect::<Vec<_>>()
    };
    assert_eq!(slugs(), ["other", "one"]);
    // A board that goes leaves its address to another one.
    let mut rest = json!({ "boards": [{ "name": "New", "slug": "one" }, { "name": "One" }], "prune": true });
    apply(&admin, &rest);
    assert_eq!(slugs(), ["one", "other"]);
    // One that the document does not name keeps it.
    rest = json!({ "boards": [{ "name": "Third", "slug": "other" }] });
    let refusal = admin.mutate("state.apply", &rest);
    refusal.assert_refused(409, "CONFLICT");
    let message = refusal.error()["message"].clone();
    assert_eq!(message, "boards[0]: the short address is taken");
    assert_eq!(slugs(), ["one", "other"]);
}

#[test]
fn boards_of_which_a_document_says_nothing_keep_their_short_addresses() {
    let server = Portico::start();
    let admin = administrator(&server);
    apply(
        &admin,
        &json!({ "boards": [{ "name": "One", "slug": "one", "items": [] }] }),
    );
    let before = export(&admin)["boards"].clone();
    assert_eq!(before[0]["slug"], "one");
    apply(&admin, &json!({ "apps": [], "prune": true }));
    assert_eq!(export(&admin)["boards"], before);
}

#[test]
fn items_are_one_section_and_sections_replace_all_that_was_there() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.app("NAS");
    let with = |content: Value| {
        let mut board = json!({ "name": "Home" });
        for (key, value) in content.as_object().expect("an object") {
            board[key] = value.clone();
        }
        json!({ "boards": [board] })
    };
    let sections = json!([
        { "name": "Media", "items": [{ "app": "NAS", "size": "2x2" }, { "note": " Milk " }] },
        { "collapsed": true, "items": [{ "bookmarks": ["NAS"] }, { "clock": { "timeZone": "UTC" } }] },
    ]);
    apply(&admin, &with(json!({ "sections": sections })));
    let board = export(&admin)["boards"][0].clone();
    let expected = json!([
        { "name": "Media", "collapsed": false, "items": [{ "app": "NAS", "size": "2x2" }, { "note": "Milk" }] },
        { "name": null, "collapsed": true, "items": [{ "bookmarks": ["NAS"] }, { "clock": { "timeZone": "UTC" } }] },
    ]);
    assert_eq!(board["sections"], expected);
    // Without either it stays.
    apply(&admin, &with(json!({ "isPublic": true })));
    assert_eq!(export(&admin)["boards"][0]["sections"], expected);
    let items = json!([{ "app": "NAS" }, { "note": "Milk", "size": "1x1" }]);
    let report = apply(&admin, &with(json!({ "items": items })));
    assert_eq!(
        report["changed"][0]["changes"][0]["field"], "sections",
        "{report}"
    );
    assert_eq!(export(&admin)["boards"][0]["items"], items);

    for (content, place) in [
        (json!({ "items": [], "sections": [] }), "boards[0].items"),
        (
            json!({ "items": [{ "app": "NAS", "note": "" }] }),
            "boards[0].items[0]",
        ),
        (
            json!({ "sections": [{ "items": [{}] }] }),
            "boards[0].sections[0].items[0]",
        ),
        (
            json!({ "sections": [{ "items": [{ "app": "none" }] }] }),
            "boards[0].sections[0].items[0].app",
        ),
        (
            json!({ "sections": [{ "items": [{ "note": "x".repeat(8_193) }] }] }),
            "boards[0].sections[0].items[0].note",
        ),
        (
            json!({ "items": [{ "clock": { "timeZone": "a b" } }] }),
            "boards[0].items[0].clock.timeZone",
        ),
        (
            json!({ "sections": vec![json!({ "items": [] }); 51] }),
            "boards[0].sections",
        ),
        (json!({ "slug": "A" }), "boards[0].slug"),
    ] {
        let answer = admin.mutate("state.apply", &with(content));
        assert_eq!(places(&answer), [place]);
    }
}
