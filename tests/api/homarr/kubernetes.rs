//! adamancini/homarr-kubernetes-dashboard-controller at 094d6a1.

use serde_json::{Value, json};

use super::{ask, read, tell, with_administrator};

#[test]
fn a_reconciliation_places_its_apps_in_sections_and_the_next_one_finds_them() {
    let (_server, _, key) = with_administrator();
    // reconciler.go:216: NOT_FOUND comes as 404, so it creates the board.
    ask(&key, "board.getBoardByName", &json!({"name": "cluster"})).assert_status(404);
    let board = json!({"name": "cluster", "columnCount": 10, "isPublic": false});
    tell(&key, "board.createBoard", &board).assert_status(200);
    // reconciler.go:94, client.go:118: a bare query.
    assert_eq!(read(&ask(&key, "app.all", &Value::Null)), json!([]));
    // reconciler.go:111; apps.go sends empty texts where there is nothing.
    let app = json!({
        "name": "Grafana", "iconUrl": "https://icons.example/grafana.svg", "href": "https://grafana.example",
        "description": "", "pingUrl": "",
    });
    let app = read(&tell(&key, "app.create", &app))["id"].clone();
    // reconciler.go:151
    assert_eq!(read(&ask(&key, "integration.all", &Value::Null)), json!([]));
    // reconciler.go:205, 282 and 460
    let whole = read(&ask(&key, "board.getBoardByName", &json!({"name": "cluster"})));
    let mut sections = whole["sections"].as_array().expect("sections").clone();
    sections
        .push(json!({"id": "cat-1", "kind": "category", "name": "Monitoring", "xOffset": 0, "yOffset": 1}));
    sections.push(json!({"id": "sec-1", "kind": "empty", "xOffset": 0, "yOffset": 2}));
    let items = json!([{
        "id": format!("managed-{}", app.as_str().expect("an id")),
        "kind": "app",
        "options": {"appId": app},
        "layouts": [{
            "layoutId": whole["layouts"][0]["id"], "xOffset": 0, "yOffset": 0, "width": 1, "height": 1,
            "sectionId": "sec-1",
        }],
        "integrationIds": null,
        "advancedOptions": {"title": null, "customCssClasses": [], "borderColor": ""},
    }]);
    let saved = json!({"id": whole["id"], "sections": sections, "items": items});
    tell(&key, "board.saveBoard", &saved).assert_status(200);

    let after = read(&ask(&key, "board.getBoardByName", &json!({"name": "cluster"})));
    assert_eq!(after["sections"], json!(sections));
    assert_eq!(after["items"][0]["layouts"], items[0]["layouts"]);
    assert_eq!(after["items"][0]["integrationIds"], json!([]));
    // reconciler.go:132: the app goes, and with it its item.
    tell(&key, "app.delete", &json!({"id": app})).assert_status(200);
    let after = read(&ask(&key, "board.getBoardByName", &json!({"name": "cluster"})));
    assert_eq!(after["items"], json!([]));
    // integrations.go: there are none, and so none can be made.
    tell(&key, "integration.create", &json!({"name": "x"})).assert_status(404);
}
