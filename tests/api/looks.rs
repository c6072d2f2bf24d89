//! What the dashboard looks like: for everyone, set by administrators, and in documents.

use portico_tests::{Client, Fixtures, NO_INPUT, Portico, administrator, procedures::picture};
use serde_json::{Value, json};

fn looks(client: &impl Client) -> Value {
    client.query("site.get", &NO_INPUT).data()
}

fn upload(client: &impl Client, name: &str) -> String {
    let created = client
        .mutate("picture.create", &json!({"image": picture(name)}))
        .data();
    created["id"].as_str().expect("an id").to_owned()
}

#[test]
fn everyone_sees_what_administrators_set_and_absent_fields_stay() {
    let server = Portico::start();
    let admin = administrator(&server);
    let anonymous = server.anonymous();
    let none = json!({"name": null, "logo": null, "accentColor": null, "wallpaper": null, "density": "comfortable",
        "columns": null, "wideScreens": true, "appVisibility": "everyone", "fixedAppVisibility": null, "startBoard": null,
        "pingAllow": null, "fixedPingAllow": null});
    assert_eq!(looks(&anonymous), none);
    let (logo, wallpaper) = (upload(&admin, "logo"), upload(&admin, "wallpaper"));
    let all = json!({"name": " Casa ", "logo": logo, "accentColor": "#3A5BCC", "wallpaper": wallpaper,
        "density": "icons", "columns": 12, "wideScreens": false});
    admin.patch("/api/site", &all).assert_empty();
    let mut stored = all;
    stored["appVisibility"] = "everyone".into();
    for none in ["fixedAppVisibility", "startBoard", "pingAllow", "fixedPingAllow"] {
        stored[none] = Value::Null;
    }
    stored["name"] = "Casa".into();
    stored["accentColor"] = "#3a5bcc".into();
    assert_eq!(anonymous.get("/api/site").json(), stored);

    admin.mutate("site.update", &json!({"columns": 1})).assert_done();
    admin
        .mutate("site.update", &json!({"name": null, "logo": null}))
        .assert_done();
    stored["columns"] = 1.into();
    stored["name"] = Value::Null;
    stored["logo"] = Value::Null;
    assert_eq!(looks(&anonymous), stored);
    admin.mutate("site.update", &json!({})).assert_done();
    assert_eq!(looks(&anonymous), stored);
}

#[test]
fn what_breaks_a_rule_is_refused_by_its_field() {
    let server = Portico::start();
    let admin = administrator(&server);
    let missing = "0".repeat(64);
    for (field, values) in [
        (
            "name",
            vec![
                json!(""),
                json!("x".repeat(65)),
                json!("a\u{7}"),
                json!("a\u{202e}b"),
                json!(1),
            ],
        ),
        (
            "logo",
            vec![
                json!(missing),
                json!("../x"),
                json!(""),
                json!(upload(&admin, "x").to_uppercase()),
            ],
        ),
        ("wallpaper", vec![json!(missing), json!("/api/pictures/x")]),
        (
            "accentColor",
            vec![
                json!("red"),
                json!("#12345"),
                json!("#12345g"),
                json!("#1234567"),
                json!("#ééé"),
                json!(""),
            ],
        ),
        ("density", vec![json!("huge"), Value::Null]),
        (
            "columns",
            vec![json!(0), json!(13), json!(-1), json!(2.5), json!("2")],
        ),
        ("wideScreens", vec![json!("yes"), Value::Null]),
        (
            "pingAllow",
            vec![
                json!(["http://nas.lan"]),
                json!(["127.0.0.1"]),
                json!(["10.0.0.0/8", "169.254.169.254"]),
                json!(["0.0.0.0/0"]),
                json!(vec!["nas.lan"; 101]),
                json!("nas.lan"),
                Value::Null,
            ],
        ),
    ] {
        for value in values {
            let refused = admin.mutate("site.update", &json!({field: value}));
            refused.assert_bad_field(field);
        }
    }
    let plain = admin.user_with("bob", "app-full-all");
    plain
        .mutate("site.update", &json!({}))
        .assert_refused(403, "FORBIDDEN");
}

#[test]
fn an_export_holds_looks_and_small_pictures_and_applying_it_changes_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (logo, icon) = (upload(&admin, "logo"), upload(&admin, "icon"));
    let app = json!({"name": "NAS", "iconUrl": format!("/api/pictures/{icon}")});
    admin.mutate("app.create", &app).assert_status(200);
    upload(&admin, "unused");
    let board = admin.board("Hall", true);
    let set = json!({"name": "Casa", "logo": logo, "accentColor": "#aa3355", "columns": 4, "startBoard": board,
        "pingAllow": [" 192.168.1.7/16 ", "NAS.lan", "192.168.0.0/16"]});
    admin.mutate("site.update", &set).assert_done();
    assert_eq!(looks(&admin)["pingAllow"], json!(["192.168.0.0/16", "nas.lan"]));
    let state = admin.query("state.export", &NO_INPUT).data();
    let mut stored = looks(&admin);
    // They are the host's, and not of the state.
    for of_host in ["fixedAppVisibility", "fixedPingAllow"] {
        let stored = stored.as_object_mut().expect("an object");
        assert_eq!(stored.remove(of_host), Some(Value::Null));
    }
    // A document names boards by their names.
    stored["startBoard"] = json!("Hall");
    assert_eq!(state["site"], stored);
    let ids: Vec<_> = state["pictures"]
        .as_array()
        .expect("pictures")
        .iter()
        .map(|one| &one["id"])
        .collect();
    let mut expected = [json!(logo), json!(icon)];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(ids, expected.iter().collect::<Vec<_>>());
    let report = admin.mutate("state.apply", &state).data();
    for part in ["created", "changed", "removed"] {
        assert_eq!(report[part], json!([]), "{report}");
    }

    let other = Portico::start();
    let root = administrator(&other);
    let report = root.mutate("state.apply", &state).data();
    let changed = report["changed"].as_array().expect("a list");
    let site = changed
        .iter()
        .find(|entry| entry["kind"] == "site")
        .expect("the looks");
    assert_eq!((&site["name"], &site["id"]), (&json!("Casa"), &Value::Null));
    assert_eq!(
        site["changes"][0],
        json!({"field": "name", "before": null, "after": "Casa"})
    );
    let without_board = |mut looks: Value| {
        assert!(looks["startBoard"].take().is_string());
        looks
    };
    assert_eq!(without_board(looks(&root)), without_board(looks(&admin)));
    for id in [&logo, &icon] {
        let path = format!("/api/pictures/{id}");
        assert_eq!(
            other.anonymous().get(&path).body,
            server.anonymous().get(&path).body
        );
    }
}

#[test]
fn a_document_without_a_picture_leaves_it_out_and_says_so() {
    let server = Portico::start();
    let admin = administrator(&server);
    let logo = upload(&admin, "logo");
    admin.mutate("site.update", &json!({"logo": logo})).assert_done();
    let document = json!({"site": {"logo": "0".repeat(64), "density": "icons"}});
    let report = admin.mutate("state.apply", &document).data();
    let warning = json!({"kind": "site", "name": "Portico", "field": "logo", "message": "must be the id of a stored picture"});
    assert_eq!(report["warnings"], json!([warning]));
    assert_eq!(
        (&looks(&admin)["logo"], &looks(&admin)["density"]),
        (&json!(logo), &json!("icons"))
    );

    for (place, document) in [
        ("site.accentColor", json!({"site": {"accentColor": "red"}})),
        (
            "pictures[0].image",
            json!({"pictures": [{"image": "data:image/png;base64,AAAA"}]}),
        ),
        (
            "pictures[0].id",
            json!({"pictures": [{"id": logo, "image": picture("another")}]}),
        ),
    ] {
        let refused = admin.mutate("state.apply", &document);
        let key = place.split(['.', '[']).next().expect("a key");
        refused.assert_bad_field(key);
        let message = refused.error()["message"].to_string();
        assert!(
            message.contains(&format!(": {place} must ")),
            "{place}: {refused}"
        );
    }
    let dry = json!({"site": {"name": "Not yet"}, "dryRun": true});
    admin.mutate("state.apply", &dry).assert_status(200);
    assert_eq!(looks(&admin)["name"], Value::Null);
}

#[test]
fn the_start_board_goes_with_its_board_and_what_may_be_checked_is_for_administrators() {
    let server = Portico::start();
    let admin = administrator(&server);
    let bob = admin.user_with("bob", "app-full-all");
    let board = admin.board("Hall", true);
    let set = json!({"startBoard": board, "pingAllow": ["*.lan"]});
    admin.mutate("site.update", &set).assert_done();
    for (client, hosts) in [(&admin as &dyn Client, json!(["*.lan"])), (&bob, Value::Null)] {
        let site = client.query("site.get", &NO_INPUT).data();
        assert_eq!((&site["startBoard"], &site["pingAllow"]), (&json!(board), &hosts));
    }
    let missing = json!({"startBoard": "no-such-board"});
    admin
        .mutate("site.update", &missing)
        .assert_refused(404, "NOT_FOUND");

    // A document names it, also in the document that makes it; and one that removes it leaves none.
    let document = json!({"boards": [{"name": "Porch", "isPublic": true}], "site": {"startBoard": "porch"}});
    let report = admin.mutate("state.apply", &document).data();
    let changes = &report["changed"][0]["changes"];
    assert_eq!(
        changes,
        &json!([{"field": "startBoard", "before": "Hall", "after": "Porch"}]),
        "{report}"
    );
    let removed = json!({"boards": [], "prune": true, "site": {"columns": 3}});
    admin.mutate("state.apply", &removed).assert_status(200);
    assert_eq!(looks(&admin)["startBoard"], Value::Null);
    let unknown = json!({"site": {"startBoard": "Porch"}});
    let refused = admin.mutate("state.apply", &unknown);
    refused.assert_bad_field("site");
    assert!(
        refused.error()["message"].to_string().contains("names no board"),
        "{refused}"
    );
}
