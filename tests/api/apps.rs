//! Apps, as `wit/apps.wit` describes them. What a text may hold is tested in `component/src/validate`.

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, Portico, Session, administrator};
use serde_json::{Value, json};

/// Creates an app with these fields in addition to a name and an icon.
#[track_caller]
fn create(admin: &Session, extra: &Value) -> portico_tests::Answer {
    let mut input = json!({"name": "An app", "iconUrl": "/icon.svg"});
    input
        .as_object_mut()
        .expect("an object")
        .extend(extra.as_object().cloned().expect("an object"));
    admin.mutate("app.create", &input)
}

fn by_id(admin: &Session, id: &str) -> Value {
    admin.query("app.byId", &json!({"id": id})).data()
}

#[test]
fn an_app_comes_back_trimmed_as_it_was_created() {
    let server = Portico::start();
    let admin = administrator(&server);
    let full = json!({
        "name": "  Jellyfin \u{1f3ac} ", "description": " Films\n\tand series ", "iconUrl": " https://example.com/j.svg ",
        "href": " https://jellyfin.example.com:8096/web?a=b#c ", "pingUrl": " HTTP://10.0.0.1:8096 ", "unknown": 1,
    });
    let created = create(&admin, &full).data();
    let id = created["id"].as_str().expect("an id");
    let app = json!({
        "id": id, "name": "Jellyfin \u{1f3ac}", "description": "Films\n\tand series",
        "iconUrl": "https://example.com/j.svg", "href": "https://jellyfin.example.com:8096/web?a=b#c",
        "pingUrl": "HTTP://10.0.0.1:8096",
    });
    let mut expected = app.clone();
    expected["appId"] = id.into();
    assert_eq!(created, expected);
    assert_eq!(by_id(&admin, id), app);
    assert_eq!(admin.query("app.all", &NO_INPUT).data(), json!([app]));
    assert_eq!(admin.query("app.selectable", &NO_INPUT).data(), json!([app]));

    // Absent, null and empty are the same.
    for nothing in [
        json!({}),
        json!({"href": null, "pingUrl": null, "description": null}),
        json!({"href": " ", "pingUrl": "", "description": "  "}),
    ] {
        let app = create(&admin, &nothing).data();
        let fields = ["href", "pingUrl", "description"].map(|field| app[field].clone());
        assert_eq!(fields, [Value::Null, Value::Null, Value::Null]);
    }
}

#[test]
fn an_update_changes_what_it_names_and_clears_with_null_or_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    let full = json!({"description": "d", "href": "https://a.example", "pingUrl": "https://b.example"});
    let id = create(&admin, &full).data()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let update = |extra: Value| {
        let mut input = json!({"id": id});
        input
            .as_object_mut()
            .expect("an object")
            .extend(extra.as_object().cloned().expect("an object"));
        admin.mutate("app.update", &input)
    };
    let mut expected = by_id(&admin, &id);

    update(json!({})).assert_done();
    assert_eq!(by_id(&admin, &id), expected, "nothing named, nothing changed");
    update(json!({"name": " New ", "href": "https://c.example"})).assert_done();
    expected["name"] = "New".into();
    expected["href"] = "https://c.example".into();
    assert_eq!(by_id(&admin, &id), expected);

    update(json!({"iconUrl": "/other.svg", "name": Value::Null})).assert_bad_field("name");
    assert_eq!(by_id(&admin, &id), expected, "a refused call changed something");

    update(json!({"description": null, "href": ""})).assert_done();
    expected["description"] = Value::Null;
    expected["href"] = Value::Null;
    assert_eq!(by_id(&admin, &id), expected);
    update(json!({"pingUrl": null, "iconUrl": "/new.svg"})).assert_done();
    expected["pingUrl"] = Value::Null;
    expected["iconUrl"] = "/new.svg".into();
    assert_eq!(by_id(&admin, &id), expected);

    admin
        .mutate("app.update", &json!({"id": MISSING, "name": "x"}))
        .assert_refused(404, "NOT_FOUND");
    // What is wrong with the input comes before what does not exist.
    admin
        .mutate("app.update", &json!({"id": MISSING, "name": ""}))
        .assert_bad_field("name");
    admin
        .mutate("app.update", &json!({"name": "x"}))
        .assert_bad_field("id");
}

#[test]
fn many_apps_are_created_in_order_with_an_icon_each_or_not_at_all() {
    let server = Portico::start();
    let admin = administrator(&server);
    let created = admin.mutate(
        "app.createMany",
        &json!([
            {"name": "zz", "iconUrl": null, "pingUrl": "http://10.0.0.1"},
            {"name": "aa", "iconUrl": " /own.svg ", "description": "", "href": "https://a.example"},
            {"name": "mm"},
        ]),
    );
    let created = created.data();
    // Without a source of icons there is the default one.
    let default = "https://cdn.jsdelivr.net/gh/homarr-labs/dashboard-icons@master/svg/homarr.svg";
    let expected = [
        json!({"name": "zz", "iconUrl": default, "description": null, "href": null, "pingUrl": "http://10.0.0.1"}),
        json!({"name": "aa", "iconUrl": "/own.svg", "description": null, "href": "https://a.example", "pingUrl": null}),
        json!({"name": "mm", "iconUrl": default, "description": null, "href": null, "pingUrl": null}),
    ];
    assert_eq!(created.as_array().map(Vec::len), Some(3));
    for (index, mut expected) in expected.into_iter().enumerate() {
        expected["id"] = created[index]["id"].clone();
        assert_eq!(
            by_id(&admin, created[index]["id"].as_str().expect("an id")),
            expected
        );
        expected["appId"] = expected["id"].clone();
        assert_eq!(created[index], expected);
    }

    admin.mutate("app.createMany", &json!([])).assert_bad_input();
    admin
        .mutate("app.createMany", &json!({"name": "x"}))
        .assert_bad_input();
    let one_bad = json!([{"name": "good"}, {"name": "bad", "href": "javascript:x"}, {"name": "good"}]);
    let answer = admin.mutate("app.createMany", &one_bad);
    answer.assert_refused(400, "BAD_REQUEST");
    let error = answer.error().to_string();
    assert!(error.contains("href"), "the field is named: {error}");
    admin
        .mutate("app.createMany", &json!([{"name": "x", "iconUrl": " "}]))
        .assert_refused(400, "BAD_REQUEST");
    assert_eq!(admin.app_names(), ["aa", "mm", "zz"], "nothing was written");
}
