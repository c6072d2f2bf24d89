//! Documents that are refused write nothing.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{export, places};

/// A large document without a fault.
fn right() -> Value {
    let apps: Vec<_> = (0..2_500)
        .map(|number| json!({"name": format!("App {number}"), "iconUrl": "/icon.svg"}))
        .collect();
    json!({
        "groups": [{"name": "family", "permissions": ["app-create"]}],
        "users": [{"name": "grace", "provider": "oidc", "groups": ["family"]}],
        "apps": apps,
        "searchEngines": [{"name": "New", "short": "n", "urlTemplate": "https://x.example/%s", "iconUrl": "/x"}],
        "boards": [{"name": "Home", "items": [{"app": "App 7"}], "creator": "grace"}],
    })
}

#[test]
fn nothing_is_written_when_the_last_entry_is_wrong() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.search_engine("Wiki", "w");
    let before = export(&admin);
    let wrong = |list: &str, entry: Value| {
        let mut document = right();
        document[list].as_array_mut().expect("a list").push(entry);
        document
    };
    #[rustfmt::skip]
    let table = [
        (wrong("groups", json!({"name": "x", "permissions": ["app-create", "root"]})), "groups[1].permissions[1]"),
        (wrong("users", json!({"name": "a\u{7}b", "provider": "oidc"})), "users[1].name"),
        (wrong("users", json!({"name": "abc", "provider": "oidc", "email": "nonsense"})), "users[1].email"),
        (wrong("users", json!({"name": "abc", "provider": "credentials", "image": "https://x.example/i.png"})),
            "users[1].image"),
        // The component finds this one, in the middle of the transaction.
        (wrong("users", json!({"name": "abc", "provider": "oidc", "emailVerified": "2026-01-01T00:00:00Z"})),
            "users[1].emailVerified"),
        (wrong("apps", json!({"name": "Bad", "href": "java\tscript:alert(1)"})), "apps[2500].href"),
        (wrong("apps", json!({"name": "a\u{0}b"})), "apps[2500].name"),
        (wrong("searchEngines", json!({"name": "X", "short": "x", "urlTemplate": "ftp://%s", "iconUrl": "/x"})),
            "searchEngines[1].urlTemplate"),
        (wrong("boards", json!({"name": "Other", "items": [{"app": "App 1"}, {"app": "App 9999"}]})),
            "boards[1].items[1].app"),
        (wrong("boards", json!({"name": "Other", "items": [{"app": "App 1", "bookmarks": []}]})), "boards[1].items[0]"),
        (wrong("boards", json!({"name": "Other", "items": [{}]})), "boards[1].items[0]"),
    ];
    for (document, place) in table {
        let answer = admin.mutate("state.apply", &document);
        assert_eq!(places(&answer), [place]);
        assert_eq!(export(&admin), before, "{place}");
    }
    let taken = json!({"name": "X", "short": "W", "urlTemplate": "https://x.example/%s", "iconUrl": "/x"});
    let answer = admin.mutate("state.apply", &wrong("searchEngines", taken));
    answer.assert_refused(409, "CONFLICT");
    assert!(answer.text().contains("searchEngines[1]"), "{answer}");
    assert_eq!(export(&admin), before, "a short that is taken");
    admin.mutate("state.apply", &right()).assert_status(200);
}

#[test]
fn all_broken_rules_are_told_at_once() {
    let server = Portico::start();
    let admin = administrator(&server);
    let document = json!({
        "groups": [{"name": ""}],
        "users": [{"name": "", "provider": "oidc"}],
        "apps": [{"name": "", "href": "x"}],
    });
    let answer = admin.mutate("state.apply", &document);
    assert_eq!(
        places(&answer),
        ["groups[0].name", "users[0].name", "apps[0].name", "and"]
    );
    let errors = answer.error()["data"]["zodError"]["fieldErrors"].clone();
    assert_eq!(errors["apps"].as_array().map(Vec::len), Some(2), "{errors}");
    // Not thousands of them.
    let apps = vec![json!({"name": ""}); 3_000];
    let answer = admin.mutate("state.apply", &json!({"apps": apps}));
    assert!(
        places(&answer)[0].starts_with("apps[0]") && answer.body.len() < 20_000,
        "{answer}"
    );
}

#[test]
fn lists_are_bounded() {
    let server = Portico::start();
    let admin = administrator(&server);
    let apps = vec![json!({"name": "a"}); 100_001];
    assert_eq!(
        places(&admin.mutate("state.apply", &json!({"apps": apps}))),
        ["apps"]
    );
    let groups = vec![json!({"name": "a"}); 10_001];
    assert_eq!(
        places(&admin.mutate("state.apply", &json!({"groups": groups}))),
        ["groups"]
    );
    let items = vec![json!({"bookmarks": []}); 1_001];
    let board = json!({"boards": [{"name": "a", "items": items}]});
    assert_eq!(places(&admin.mutate("state.apply", &board)), ["boards[0].items"]);
    let users: Vec<_> = (0..201)
        .map(|number| json!({"name": format!("user {number}"), "provider": "credentials", "password": "long enough"}))
        .collect();
    assert_eq!(
        places(&admin.mutate("state.apply", &json!({"users": users}))),
        ["users"]
    );
    let many = format!("{{\"apps\": [{}1]}}", "1,".repeat(1_000_000));
    let answer = admin.send_text("POST", "/api/trpc/state.apply", &many);
    assert!(
        answer
            .assert_refused(400, "BAD_REQUEST")
            .text()
            .contains("1000000"),
        "{answer}"
    );
}
