//! `prune` removes the records that the lists do not name, and never the last administrator.

use portico_tests::{Client, Fixtures, NO_INPUT, Portico, administrator, command, data_in, run};
use serde_json::{Value, json};

use super::{apply, changes, export, named, with};

#[test]
fn prune_removes_what_the_lists_do_not_name_and_no_list_that_is_absent() {
    let server = Portico::start();
    let admin = administrator(&server);
    let family = admin.group("family", &[]);
    let alice = admin.user_in("alice", &[&family]);
    let old = admin.app("Old");
    admin.app("Kept");
    let items = json!([{"kind": "app", "appId": old}]);
    let board = admin.board_of("Home", true, &items);
    admin.board("Old board", true);
    admin.search_engine("Old engine", "o");
    admin.search_engine("Kept engine", "k");

    let apps = json!({"apps": [{"name": "kept"}, {"name": "New", "iconUrl": "/i"}], "prune": true});
    let report = apply(&admin, &apps);
    assert_eq!(named(&report, "removed"), ["app Old"]);
    assert_eq!(named(&report, "created"), ["app New"]);
    // The report names the other records that a removal changes.
    assert_eq!(changes(&report, "Home"), json!([["items", [{"app": "Old"}], []]]));
    assert_eq!(
        admin.query("board.byId", &json!({"id": board})).data()["items"],
        json!([])
    );

    let rest = json!({
        "groups": [{"name": "admins"}],
        "users": [{"name": "root", "provider": "credentials"}],
        "searchEngines": [{"name": "Other engine", "short": "O", "urlTemplate": "https://x.example/%s", "iconUrl": "/x"}],
        "boards": [{"name": "Home"}],
    });
    let kept = export(&admin);
    apply(&admin, &with(&rest, &json!({"searchEngines": [], "boards": []})));
    assert_eq!(export(&admin), kept, "without prune nothing goes");
    let report = apply(&admin, &with(&rest, &json!({"prune": true})));
    assert_eq!(
        named(&report, "removed"),
        [
            "group family",
            "user alice",
            "searchEngine Kept engine",
            "searchEngine Old engine",
            "board Old board"
        ]
    );
    assert_eq!(
        named(&report, "created"),
        ["searchEngine Other engine"],
        "its short was let go"
    );
    assert_eq!(report["unnamed"]["apps"], 2);
    // A user who goes takes everything with them.
    alice
        .query("app.all", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
    let report = apply(&admin, &json!({"boards": [], "apps": [], "prune": true}));
    assert_eq!(named(&report, "removed").len(), 3);
}

#[test]
fn references_to_what_is_removed_are_refused() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.app("Old");
    admin.user("alice");
    admin.group("family", &[]);
    let board = json!({"name": "Home", "creator": "alice", "items": [{"app": "Old"}], "sharedWith": {"groups": ["family"]}});
    let lists = json!({"apps": [], "groups": [{"name": "admins"}], "users": [{"name": "root", "provider": "credentials"}],
        "boards": [board], "prune": true});
    let answer = admin.mutate("state.apply", &lists);
    assert_eq!(
        super::places(&answer),
        [
            "boards[0].creator",
            "boards[0].items[0].app",
            "boards[0].sharedWith.groups[0]"
        ]
    );
    apply(&admin, &with(&lists, &json!({"prune": false})));
}

#[test]
fn the_last_administrator_stays_whatever_a_document_says() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.user("alice");
    let before = export(&admin);
    for document in [
        json!({"users": [], "prune": true}),
        json!({"users": [{"name": "alice", "provider": "credentials"}], "prune": true}),
        json!({"groups": [{"name": "others", "permissions": ["admin"]}], "prune": true}),
        json!({"groups": [{"name": "admins", "permissions": ["app-create"]}]}),
        json!({"users": [{"name": "root", "provider": "credentials", "groups": []}]}),
    ] {
        for document in [with(&document, &json!({"dryRun": true})), document.clone()] {
            let answer = admin.mutate("state.apply", &document);
            answer.assert_refused(409, "CONFLICT");
            assert_eq!(export(&admin), before, "{document}");
        }
    }

    // Another one may take over in the same document, also through another group.
    let document = json!({
        "groups": [{"name": "Owners", "permissions": ["admin"]}],
        "users": [{"name": "alice", "provider": "credentials", "groups": ["owners"]}],
        "prune": true,
    });
    let report = apply(&admin, &document);
    assert_eq!(named(&report, "removed"), ["group admins", "user root"]);
    admin
        .query("state.export", &NO_INPUT)
        .assert_refused(401, "UNAUTHORIZED");
}

#[test]
fn a_state_without_an_administrator_is_not_applied_to_an_empty_dashboard() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let call = |input: &Value| {
        let mut command = command();
        command
            .args(["call", "state.apply", "-", "--data"])
            .arg(data_in(&folder));
        run(&mut command, &input.to_string())
    };
    let user = json!({"users": [{"name": "ada", "provider": "credentials", "password": "correct horse"}]});
    for document in [json!({}), user.clone()] {
        let text = call(&document).failed();
        assert!(text.contains("administrator"), "{text}");
    }
    let mut document = with(
        &user,
        &json!({"groups": [{"name": "admins", "permissions": ["admin"]}]}),
    );
    document["users"][0]["groups"] = json!(["admins"]);
    call(&document).succeeded();
    // No other first user can be created: the dashboard has one.
    let text = call(&json!({"users": [], "prune": true})).failed();
    assert!(text.contains("administrator"), "{text}");
}
