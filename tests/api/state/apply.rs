//! Applying documents.

use std::thread;

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

use super::{apply, assert_nothing_changed, changes, export, named, with};

/// One of each, with everything that a document may say.
fn document() -> Value {
    json!({
        "groups": [{"name": "Family", "permissions": ["board-view-all", "app-create"]}],
        "users": [
            {"name": "Grace", "provider": "credentials", "email": "grace@example.org",
                "emailVerified": "2026-01-01T00:00:00.000Z", "password": PASSWORD, "groups": ["family"]},
            {"name": "heidi", "provider": "oidc", "image": "https://example.org/heidi.png"},
        ],
        "apps": [
            {"name": "Jellyfin", "description": "films", "iconUrl": "/j.svg", "href": "https://j.example",
                "pingUrl": "http://j.local"},
            {"id": "the-nas", "name": "NAS", "iconUrl": "/nas.svg"},
        ],
        "searchEngines": [{"name": "Wiki", "short": "w", "urlTemplate": "https://w.example/%s",
            "iconUrl": "/w.svg", "description": "An encyclopaedia"}],
        "boards": [{"name": "Home", "isPublic": true, "creator": "grace",
            "items": [{"app": "jellyfin"}, {"bookmarks": ["NAS", "Jellyfin", {"id": "the-nas"}]}],
            "sharedWith": {"users": ["heidi"], "groups": ["Family"]}}],
    })
}

#[test]
fn a_document_creates_what_is_not_there_and_changes_what_differs() {
    let server = Portico::start();
    let admin = administrator(&server);
    let report = apply(&admin, &document());
    assert_eq!(
        named(&report, "created"),
        [
            "group Family",
            "user grace",
            "user heidi",
            "app Jellyfin",
            "app NAS",
            "searchEngine Wiki",
            "board Home"
        ]
    );
    assert_eq!(report["dryRun"], false);
    assert_eq!(
        report["unnamed"],
        json!({"groups": 1, "users": 1, "apps": 0, "searchEngines": 0, "boards": 0})
    );
    // Everyone else can see it too.
    server.sign_in("grace", PASSWORD);
    assert_eq!(admin.app_names(), ["Jellyfin", "NAS"]);
    assert_eq!(
        admin.query("app.byId", &json!({"id": "the-nas"})).data()["iconUrl"],
        "/nas.svg"
    );
    let boards = admin.query("board.getAll", &NO_INPUT).data();
    let board = admin.query("board.byId", &json!({"id": boards[0]["id"]})).data();
    assert_eq!(board["items"][1]["appIds"][0], "the-nas");

    let before = export(&admin);
    let report = apply(&admin, &document());
    assert_nothing_changed(&report);
    assert_eq!(named(&report, "unchanged").len(), 7);
    assert_eq!(export(&admin), before);

    let report = apply(
        &admin,
        &json!({
            "groups": [{"name": "FAMILY", "permissions": ["app-create"]}],
            "users": [{"name": "heidi", "provider": "oidc", "email": "h@example.org", "groups": ["admins"]}],
            "apps": [{"id": "the-nas", "name": "Storage", "href": "https://nas.example"}],
            "boards": [{"name": "home", "items": [{"app": "storage"}], "sharedWith": {"users": []}}],
        }),
    );
    assert_eq!(
        changes(&report, "FAMILY"),
        json!([
            ["name", "Family", "FAMILY"],
            ["permissions", ["app-create", "board-view-all"], ["app-create"]],
        ])
    );
    assert_eq!(
        changes(&report, "heidi"),
        json!([["email", null, "h@example.org"], ["groups", [], ["admins"]],])
    );
    assert_eq!(
        changes(&report, "Storage"),
        json!([["name", "NAS", "Storage"], ["href", null, "https://nas.example"],])
    );
    assert_eq!(
        changes(&report, "home"),
        json!([
            ["name", "Home", "home"],
            ["items", [{"app": "Jellyfin"}, {"bookmarks": ["NAS", "Jellyfin", "NAS"]}], [{"app": "Storage"}]],
            ["sharedWith.users", ["heidi"], []],
        ])
    );
    assert_eq!(named(&report, "changed").len(), 4);
    assert_eq!(report["unchanged"], json!([]));
    assert_eq!(
        report["unnamed"],
        json!({"groups": 1, "users": 2, "apps": 1, "searchEngines": 1, "boards": 0})
    );
}

#[test]
fn fields_that_a_document_leaves_out_stay_and_null_clears() {
    let server = Portico::start();
    let admin = administrator(&server);
    apply(&admin, &document());
    let before = export(&admin);
    let names = json!({
        "groups": [{"name": "Family"}],
        "users": [{"name": "grace", "provider": "credentials"}, {"name": "heidi", "provider": "oidc"}],
        "apps": [{"name": "Jellyfin"}, {"name": "NAS"}],
        "boards": [{"name": "Home"}],
    });
    assert_nothing_changed(&apply(&admin, &names));
    assert_eq!(export(&admin), before);

    let report = apply(
        &admin,
        &json!({
            "users": [{"name": "grace", "provider": "credentials", "email": null, "groups": []},
                {"name": "heidi", "provider": "oidc", "image": null}],
            "apps": [{"name": "Jellyfin", "description": null, "href": "", "pingUrl": null}],
            "searchEngines": [{"name": "Wiki", "short": "w", "urlTemplate": "https://w.example/%s",
                "iconUrl": "/w.svg", "description": null}],
            "boards": [{"name": "Home", "creator": null, "sharedWith": null}],
        }),
    );
    assert_eq!(named(&report, "changed").len(), 5, "{report}");
    let state = export(&admin);
    let user = json!({"name": "grace", "provider": "credentials", "email": null, "emailVerified": null,
        "image": null, "disabled": false, "secondFactor": false, "groups": []});
    assert_eq!(state["users"][0], user);
    assert_eq!(state["users"][1]["image"], Value::Null);
    assert_eq!(state["apps"][0]["href"], Value::Null);
    assert_eq!(state["boards"][0]["creator"], Value::Null);
    assert_eq!(
        state["boards"][0]["sharedWith"],
        json!({"users": [], "groups": []})
    );
    assert_eq!(state["boards"][0]["items"], before["boards"][0]["items"]);
}

#[test]
fn new_records_get_the_defaults_of_fields_that_are_left_out() {
    let server = Portico::start();
    let admin = administrator(&server);
    let report = apply(
        &admin,
        &json!({
            "groups": [{"name": "empty"}],
            "users": [{"name": "grace", "provider": "credentials"}],
            "apps": [{"name": "Plain"}],
            "boards": [{"name": "blank"}],
        }),
    );
    assert_eq!(named(&report, "created").len(), 4);
    let state = export(&admin);
    assert_eq!(
        state["groups"][1],
        json!({"name": "empty", "permissions": [], "homeBoard": null, "mobileHomeBoard": null})
    );
    assert_eq!(
        state["boards"],
        json!([{"name": "blank", "isPublic": false, "creator": null, "slug": null, "items": [],
            "sharedWith": {"users": [], "groups": []}}])
    );
    assert_eq!(state["apps"][0]["iconUrl"], "/icons/default.svg");
    let users = admin.query("user.getAll", &NO_INPUT).data();
    let grace = admin.profile(users[0]["id"].as_str().expect("an id"));
    assert_eq!(
        (&grace["firstDayOfWeek"], &grace["openSearchInNewTab"]),
        (&json!(1), &json!(true))
    );
    // A user without a password cannot sign in until an administrator sets one.
    let sign_in = json!({"username": "grace", "password": PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &sign_in)
        .assert_refused(401, "UNAUTHORIZED");
    let password = json!({"userId": grace["id"], "password": PASSWORD});
    admin.mutate("user.changePassword", &password).assert_done();
    server.sign_in("grace", PASSWORD);
}

#[test]
fn a_dry_run_answers_the_same_and_writes_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    apply(&admin, &json!({"apps": [{"name": "jellyfin"}, {"name": "Old"}]}));
    let before = export(&admin);
    let mut wanted = with(&document(), &json!({"prune": true}));
    // The administrators' group is not in the document, and must not go.
    wanted.as_object_mut().expect("an object").remove("groups");
    wanted["users"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"name": "root", "provider": "credentials"}));
    wanted["users"][0]["groups"] = json!(["admins"]);
    wanted["boards"][0]["sharedWith"]["groups"] = json!(["admins"]);

    let mut dry = apply(&admin, &with(&wanted, &json!({"dryRun": true})));
    assert_eq!(export(&admin), before, "it wrote");
    assert_eq!(dry["dryRun"], true);
    let sign_in = json!({"username": "grace", "password": PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &sign_in)
        .assert_refused(401, "UNAUTHORIZED");

    let mut wet = apply(&admin, &wanted);
    assert_eq!(named(&wet, "removed"), ["app Old"]);
    assert_eq!(
        changes(&wet, "Jellyfin")[0],
        json!(["name", "jellyfin", "Jellyfin"])
    );
    // After a dry run no record has the new ids, except ids that the document gives.
    for entry in dry["created"].as_array().expect("a list") {
        let expected = if entry["name"] == "NAS" {
            json!("the-nas")
        } else {
            Value::Null
        };
        assert_eq!(entry["id"], expected, "{entry}");
    }
    for report in [&mut dry, &mut wet] {
        report["dryRun"] = Value::Null;
        for entry in report["created"].as_array_mut().expect("a list") {
            entry["id"] = Value::Null;
        }
    }
    assert_eq!(dry, wet);
}

#[test]
fn a_password_counts_only_when_its_user_is_created_and_comes_out_nowhere() {
    const OTHER: &str = "canary-another-one-&5";
    let server = Portico::start();
    let admin = administrator(&server);
    let user = |password: &str| json!({"users": [{"name": "grace", "provider": "credentials", "password": password}]});
    let mut answers = vec![
        admin.mutate("state.apply", &with(&user(PASSWORD), &json!({"dryRun": true}))),
        admin.mutate("state.apply", &user(PASSWORD)),
    ];
    assert_eq!(named(&answers[1].data(), "created"), ["user grace"]);
    answers.push(admin.mutate("state.apply", &user(OTHER)));
    assert_nothing_changed(&answers[2].data());
    server.sign_in("grace", PASSWORD);
    let sign_in = json!({"username": "grace", "password": OTHER});
    server
        .anonymous()
        .post("/api/auth/sign-in", &sign_in)
        .assert_refused(401, "UNAUTHORIZED");

    // One that breaks the rule is refused, also where it would not be used.
    let short = "canary6";
    for document in [user(short), with(&user(short), &json!({"dryRun": true}))] {
        answers.push(admin.mutate("state.apply", &document));
        answers.last().expect("an answer").assert_bad_field("users");
    }
    let external = json!({"users": [{"name": "heidi", "provider": "ldap", "password": PASSWORD}]});
    answers.push(admin.mutate("state.apply", &external));
    answers.last().expect("an answer").assert_bad_field("users");
    answers.push(admin.query("state.export", &NO_INPUT));
    for answer in &answers {
        let text = answer.text();
        assert!(!text.contains("canary") && !text.contains("argon2"), "{answer}");
    }
}

#[test]
fn two_search_engines_change_shorts_with_each_other() {
    let server = Portico::start();
    let admin = administrator(&server);
    let engines = |first: &str, second: &str| {
        let engine = |name: &str, short: &str| json!({"name": name, "short": short, "urlTemplate": "https://x.example/%s", "iconUrl": "/x.svg"});
        json!({"searchEngines": [engine("One", first), engine("Two", second)]})
    };
    apply(&admin, &engines("a", "b"));
    let report = apply(&admin, &engines("B", "a"));
    assert_eq!(changes(&report, "One"), json!([["short", "a", "B"]]));
    assert_eq!(changes(&report, "Two"), json!([["short", "b", "a"]]));
    assert_nothing_changed(&apply(&admin, &engines("B", "a")));
    // The short that was freed on the way is taken for good.
    let third =
        json!({"name": "Three", "short": "A", "urlTemplate": "https://x.example/%s", "iconUrl": "/x.svg"});
    admin
        .mutate("searchEngine.create", &third)
        .assert_refused(409, "CONFLICT");
    admin
        .mutate("state.apply", &json!({"searchEngines": [third]}))
        .assert_refused(409, "CONFLICT");
}

#[test]
fn ten_thousand_apps_are_applied_and_applied_again() {
    let server = Portico::start();
    let admin = administrator(&server);
    let apps: Vec<_> = (0..10_000)
        .map(|number| json!({"name": format!("App {number}"), "iconUrl": "/icon.svg", "href": "https://app.example"}))
        .collect();
    let document = json!({"apps": apps});
    let report = apply(&admin, &document);
    assert_eq!(named(&report, "created").len(), 10_000);
    let report = apply(&admin, &document);
    assert_nothing_changed(&report);
    assert_eq!(named(&report, "unchanged").len(), 10_000);
    let report = apply(&admin, &json!({"apps": apps[..10], "prune": true}));
    assert_eq!(named(&report, "removed").len(), 9_990);
    assert_eq!(admin.app_names().len(), 10);
}

#[test]
fn others_write_while_documents_are_applied_and_nothing_is_lost() {
    // More calls than there are permits: calls that wait for the document must not hold what the
    // document needs.
    const WRITERS: usize = 200;
    let server = Portico::start();
    let admin = administrator(&server);
    // Few, so that on a slow machine no writer waits for longer than a call may.
    let apps: Vec<_> = (0..300)
        .map(|number| json!({"name": format!("listed {number}"), "iconUrl": "/icon.svg"}))
        .collect();
    thread::scope(|scope| {
        let admin = &admin;
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for number in 0..3 {
                    admin.app(&format!("by {writer}, {number}"));
                }
            });
        }
        scope.spawn(|| {
            for round in 0..3 {
                let description = json!({"name": "listed 0", "description": format!("round {round}")});
                apply(admin, &json!({"apps": apps}));
                apply(admin, &json!({"apps": [description]}));
            }
        });
    });
    assert_eq!(admin.app_names().len(), WRITERS * 3 + 300);
}
