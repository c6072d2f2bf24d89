//! How names refer to records, and the errors for names that are ambiguous.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{apply, assert_nothing_changed, changes, export, named, places};

fn app(name: &str) -> Value {
    json!({"name": name, "iconUrl": "/icon.svg"})
}

#[test]
fn an_app_whose_name_fits_two_is_refused_with_its_place() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.app("Same");
    let second = admin.app("same");
    admin.app("Other");
    let before = export(&admin);
    let apps = json!({"apps": [app("New"), app("Other"), {"id": "x", "name": "free", "iconUrl": "/i"}, app("SAME")]});
    let answer = admin.mutate("state.apply", &apps);
    assert_eq!(places(&answer), ["apps[3].name"]);
    let issues = answer.error()["data"]["zodError"]["fieldErrors"]["apps"].to_string();
    assert!(issues.contains("fits 2 apps"), "{issues}");
    let board =
        json!({"boards": [{"name": "Home", "items": [{"app": "other"}, {"bookmarks": ["Other", "same"]}]}]});
    assert_eq!(
        places(&admin.mutate("state.apply", &board)),
        ["boards[0].items[1].bookmarks[1]"]
    );
    assert_eq!(export(&admin), before);

    // The id says which.
    let report = apply(&admin, &json!({"apps": [{"id": second, "name": "Different"}]}));
    assert_eq!(
        changes(&report, "Different"),
        json!([["name", "same", "Different"]])
    );
    let board = json!({"boards": [{"name": "Home", "items": [{"app": {"id": second}}]}]});
    assert_eq!(named(&apply(&admin, &board), "created"), ["board Home"]);
}

#[test]
fn a_user_whose_name_fits_two_is_refused_with_its_place() {
    let server = Portico::start();
    let admin = administrator(&server);
    let users = json!({"users": [{"name": "ROOT", "provider": "oidc"}]});
    assert_eq!(named(&apply(&admin, &users), "created"), ["user root"]);
    let board = |creator: Value, shared: Value| json!({"boards": [{"name": "Home", "creator": creator, "sharedWith": {"users": [shared]}}]});
    let answer = admin.mutate("state.apply", &board(json!("root"), json!("Root")));
    assert_eq!(
        places(&answer),
        ["boards[0].creator", "boards[0].sharedWith.users[0]"]
    );
    let exact = json!({"name": "Root", "provider": "oidc"});
    apply(&admin, &board(exact.clone(), exact));
    assert_eq!(
        export(&admin)["boards"][0]["creator"],
        json!({"name": "root", "provider": "oidc"})
    );
    let none = json!({"name": "root", "provider": "ldap"});
    let answer = admin.mutate("state.apply", &board(none, json!("root")));
    assert_eq!(
        places(&answer),
        ["boards[0].creator", "boards[0].sharedWith.users[0]"]
    );
}

#[test]
fn entries_that_are_there_twice_and_unknown_names_are_refused_with_their_places() {
    let server = Portico::start();
    let admin = administrator(&server);
    let engine = |name: &str, short: &str| json!({"name": name, "short": short, "urlTemplate": "https://x.example/%s", "iconUrl": "/x.svg"});
    #[rustfmt::skip]
    let table = [
        (json!({"groups": [{"name": "A"}, {"name": " a"}]}), &["groups[1].name"][..]),
        (json!({"users": [{"name": "grace", "provider": "oidc"}, {"name": "Grace", "provider": "ldap"},
            {"name": "GRACE", "provider": "oidc"}]}), &["users[2].name"]),
        (json!({"apps": [app("A"), app("a ")]}), &["apps[0].name", "apps[1].name"]),
        (json!({"apps": [{"id": "1", "name": "A"}, app("a")]}), &["apps[1].name"]),
        (json!({"apps": [{"id": "1", "name": "A"}, {"id": "1", "name": "b"}]}), &["apps[1].id"]),
        (json!({"searchEngines": [engine("One", "a"), engine("one", "b")]}), &["searchEngines[1].name"]),
        (json!({"searchEngines": [engine("One", "a"), engine("Two", "A")]}), &["searchEngines[1].short"]),
        (json!({"boards": [{"name": "Home"}, {"name": "HOME"}]}), &["boards[1].name"]),
        (json!({"users": [{"name": "grace", "provider": "oidc", "groups": ["none"]}]}), &["users[0].groups[0]"]),
        (json!({"boards": [{"name": "Home", "creator": "mallory", "items": [{"app": "nothing"}, {"app": {"id": "?"}}]}]}),
            &["boards[0].creator", "boards[0].items[0].app", "boards[0].items[1].app"]),
        (json!({"boards": [{"name": "Home", "sharedWith": {"users": ["mallory"], "groups": ["admins", "none"]}}]}),
            &["boards[0].sharedWith.users[0]", "boards[0].sharedWith.groups[1]"]),
    ];
    for (document, expected) in table {
        let answer = admin.mutate("state.apply", &document);
        assert_eq!(places(&answer), expected, "{document}");
    }
    let state = export(&admin);
    assert_eq!((&state["apps"], &state["boards"]), (&json!([]), &json!([])));
}

#[test]
fn an_app_is_found_by_its_id_and_created_under_it() {
    let server = Portico::start();
    let admin = administrator(&server);
    let document = json!({"apps": [{"id": "one", "name": "Same"}, {"id": "two", "name": "same"}]});
    assert_eq!(
        named(&apply(&admin, &document), "created"),
        ["app Same", "app same"]
    );
    assert_nothing_changed(&apply(&admin, &document));
    // Another name under the same id is a new name; the old one is free for a new app.
    let document =
        json!({"apps": [{"id": "one", "name": "Renamed"}, {"id": "two", "name": "same"}, app("Renamed 2")]});
    let report = apply(&admin, &document);
    assert_eq!(named(&report, "created"), ["app Renamed 2"]);
    assert_eq!(changes(&report, "Renamed"), json!([["name", "Same", "Renamed"]]));
    let document = json!({"apps": [{"id": "two", "name": "Also renamed"}, app("same")]});
    let report = apply(&admin, &document);
    assert_eq!(named(&report, "created"), ["app same"]);
    assert_nothing_changed(&apply(&admin, &document));
    for id in ["", &"i".repeat(129), "a\nb"] {
        let document = json!({"apps": [{"id": id, "name": "A"}]});
        assert_eq!(
            places(&admin.mutate("state.apply", &document)),
            ["apps[0].id"],
            "{id:?}"
        );
    }
}
