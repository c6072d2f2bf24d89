//! What is set of apps for the gate, in a document.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::json;

use super::{apply, assert_nothing_changed, changes, export, places, with};

#[test]
fn a_document_says_what_the_gate_knows_of_apps() {
    let server = Portico::start();
    let admin = administrator(&server);
    let old = admin.app("Old");
    let gate = json!({"id": old, "addresses": ["https://old.home.example/"], "isOpen": true});
    admin.mutate("gate.update", &gate).assert_done();

    let document = json!({
        "apps": [{"name": "New", "iconUrl": "/i"}],
        "gate": [{"app": "new", "addresses": ["https://New.home.example", "https://new.home.example:443/"], "isOpen": false}],
    });
    apply(&admin, &with(&document, &json!({"dryRun": true})));
    assert_eq!(export(&admin)["gate"].as_array().map(Vec::len), Some(1));
    apply(&admin, &document);
    assert_nothing_changed(&apply(&admin, &document));
    let state = export(&admin);
    let both = json!([
        {"app": "Old", "addresses": ["https://old.home.example/"], "isOpen": true},
        {"app": "New", "addresses": ["https://new.home.example/"], "isOpen": false},
    ]);
    assert_eq!(state["gate"], both);
    assert_nothing_changed(&apply(&admin, &state));

    let changed = json!({"gate": [{"app": "New", "addresses": [], "isOpen": true}], "prune": true});
    let report = apply(&admin, &changed);
    assert_eq!(
        changes(&report, "New"),
        json!([
            ["gate.addresses", ["https://new.home.example/"], []],
            ["gate.isOpen", false, true]
        ])
    );
    assert_eq!(
        changes(&report, "Old"),
        json!([
            ["gate.addresses", ["https://old.home.example/"], []],
            ["gate.isOpen", true, false]
        ])
    );
    assert_eq!(
        export(&admin)["gate"],
        json!([{"app": "New", "addresses": [], "isOpen": true}])
    );

    let wrong = json!({"gate": [
        {"app": "New", "addresses": ["https://x.example/?q"], "isOpen": false},
        {"app": {"id": old}, "addresses": [], "isOpen": false},
    ]});
    assert_eq!(
        places(&admin.mutate("state.apply", &wrong)),
        ["gate[0].addresses[0]"]
    );
    let unknown = json!({"gate": [
        {"app": "new", "addresses": [], "isOpen": false},
        {"app": "New", "addresses": [], "isOpen": false},
        {"app": "Missing", "addresses": [], "isOpen": false},
    ]});
    assert_eq!(
        places(&admin.mutate("state.apply", &unknown)),
        ["gate[1].app", "gate[2].app"]
    );
}
