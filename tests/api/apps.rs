//! Apps, as `wit/apps.wit` describes them. What a text may hold is tested in `component/src/validate`; lists, searches and
//! pages in `storage-kit`.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

#[test]
fn an_app_comes_back_trimmed_and_an_update_changes_what_it_names() {
    let server = Portico::start();
    let admin = administrator(&server);
    let created = admin.output_of(
        "app.create",
        &json!({
            "name": "  Jellyfin \u{1f3ac} ", "description": " Films\n\tand series ",
            "iconUrl": " https://example.com/j.svg ", "href": " https://jellyfin.example.com:8096/web?a=b#c ",
            "pingUrl": " HTTP://10.0.0.1:8096 ", "unknown": 1,
        }),
    );
    let id = created["id"].as_str().expect("an id");
    let mut app = json!({
        "id": id, "name": "Jellyfin \u{1f3ac}", "description": "Films\n\tand series",
        "iconUrl": "https://example.com/j.svg", "href": "https://jellyfin.example.com:8096/web?a=b#c",
        "pingUrl": "HTTP://10.0.0.1:8096",
    });
    let by_id = || admin.query("app.byId", &json!({"id": id})).data();
    assert_eq!(by_id(), app);
    let mut expected = app.clone();
    expected["appId"] = id.into();
    assert_eq!(created, expected);

    let update = |fields: Value| {
        let mut input = json!({"id": id});
        let fields = fields.as_object().expect("an object").clone();
        input.as_object_mut().expect("an object").extend(fields);
        admin.mutate("app.update", &input)
    };
    update(json!({})).assert_done();
    update(json!({"iconUrl": "/other.svg", "name": null})).assert_bad_field("name");
    assert_eq!(by_id(), app, "nothing named, or refused");
    update(json!({"name": " New ", "description": null, "href": "", "iconUrl": "/new.svg"})).assert_done();
    app["name"] = "New".into();
    app["iconUrl"] = "/new.svg".into();
    app["description"] = Value::Null;
    app["href"] = Value::Null;
    assert_eq!(by_id(), app);
}

#[test]
fn many_apps_are_created_in_order_with_an_icon_each_or_not_at_all() {
    let server = Portico::start();
    let admin = administrator(&server);
    let input = json!([
        {"name": "zz", "iconUrl": null, "pingUrl": "http://10.0.0.1"},
        {"name": "aa", "iconUrl": " /own.svg ", "description": "", "href": "https://a.example"},
    ]);
    let created = admin.output_of("app.createMany", &input);
    // Without a source of icons there is the default one.
    let default = "/icons/default.svg";
    let mut expected = json!([
        {"name": "zz", "iconUrl": default, "description": null, "href": null, "pingUrl": "http://10.0.0.1"},
        {"name": "aa", "iconUrl": "/own.svg", "description": null, "href": "https://a.example", "pingUrl": null},
    ]);
    for (index, expected) in expected.as_array_mut().expect("a list").iter_mut().enumerate() {
        expected["id"] = created[index]["id"].clone();
        expected["appId"] = expected["id"].clone();
    }
    assert_eq!(created, expected);
    let one_bad = json!([{"name": "good"}, {"name": "bad", "href": "javascript:x"}, {"name": "good"}]);
    let answer = admin.mutate("app.createMany", &one_bad);
    let error = answer.assert_refused(400, "BAD_REQUEST").text();
    assert!(error.contains("[1].href"), "{error}");
    assert_eq!(admin.app_names(), ["aa", "zz"], "nothing was written");
}
