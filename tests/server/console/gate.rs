//! The page of an app at the gate.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, page::Page};

/// The fingerprint that a page carries of a field.
#[track_caller]
fn was(page: &Page, field: &str) -> String {
    let marker = format!("name=\"was-{field}\" value=\"");
    let (_, rest) = page.html.split_once(&marker).expect("a fingerprint");
    rest[..16].to_owned()
}

#[test]
fn two_tabs_that_change_an_app_at_the_gate_keep_each_others_fields() {
    let server = Portico::start();
    let root = administrator(&server);
    let id = root.app("wiki");
    let path = format!("/apps/{id}/gate");
    let (one, other) = (Browser::of(&server, "root"), Browser::of(&server, "root"));
    let save = |browser: &Browser, page: &Page, addresses: &str, is_open: bool| {
        let prints = ["addresses", "isOpen"].map(|field| was(page, field));
        let mut fields = vec![
            ("addresses", addresses),
            ("was-addresses", &prints[0]),
            ("was-isOpen", &prints[1]),
        ];
        if is_open {
            fields.push(("isOpen", "yes"));
        }
        browser.submit(page, &path, &fields)
    };
    let stored = || -> Value {
        let gate = root.query("gate.byId", &json!({ "id": id })).data();
        json!([gate["addresses"], gate["isOpen"]])
    };
    let (a, b, c) = ("https://a.example/", "https://b.example/", "https://c.example/");
    let saved = format!("{path}?note=saved");

    let (first, second) = (one.open(&path), other.open(&path));
    assert_eq!(save(&one, &first, &format!(" {a}\r\n\r\n{b}"), false).path, saved);
    // The other tab shows no address yet, and ticks the box.
    assert_eq!(save(&other, &second, "", true).path, saved);
    assert_eq!(stored(), json!([[a, b], true]));
    // Nor does a tab that changes addresses take the tick away.
    assert_eq!(save(&one, &one.open(&path), b, true).path, saved);
    assert_eq!(
        save(&one, &first, a, false)
            .assert_status(422)
            .problem("addresses"),
        {
            let text = format!("This was changed meanwhile, to: {b}. Save again to replace it.");
            Some(text)
        }
    );
    assert_eq!(stored(), json!([[b], true]));
    // What was shown is replaced, and what is wrong with it is said at the field; then, too, nothing of the other is lost.
    let shown = save(&one, &first, "not a URL", false);
    let wrong = save(&one, &shown, "not a URL", false);
    assert!(wrong.assert_status(422).problem("addresses").is_some());
    assert_eq!(save(&one, &wrong, c, false).path, saved);
    assert_eq!(stored(), json!([[c], true]));
    // Nothing was edited.
    let fresh = one.open(&path);
    fresh.assert_shows(c);
    assert_eq!(save(&one, &fresh, c, true).path, saved);
    assert_eq!(stored(), json!([[c], true]));
}
