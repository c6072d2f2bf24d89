//! Apps, as `wit/apps.wit` describes them.

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, Portico, Session, administrator};
use serde_json::{Value, json};

/// Creates an app with these fields beside a name and an icon.
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
fn names_descriptions_and_icons_have_bounds() {
    let server = Portico::start();
    let admin = administrator(&server);
    // Characters are counted, not bytes.
    let letter = "\u{1f600}";
    create(&admin, &json!({"name": format!(" {} ", letter.repeat(64))})).assert_status(200);
    create(&admin, &json!({"description": letter.repeat(512)})).assert_status(200);
    let count = admin.app_names().len();
    for name in [
        String::new(),
        "   ".to_owned(),
        letter.repeat(65),
        "a\u{7}b".to_owned(),
        "a\nb".to_owned(),
    ] {
        create(&admin, &json!({"name": name})).assert_bad_field("name");
    }
    create(&admin, &json!({"name": null})).assert_bad_field("name");
    create(&admin, &json!({"description": letter.repeat(513)})).assert_bad_field("description");
    create(&admin, &json!({"description": "a\u{1b}b"})).assert_bad_field("description");
    create(&admin, &json!({"description": 5})).assert_bad_field("description");
    for icon in [json!(""), json!("  "), Value::Null] {
        create(&admin, &json!({"iconUrl": icon})).assert_bad_field("iconUrl");
    }
    admin
        .mutate("app.create", &json!({"name": "No icon"}))
        .assert_bad_field("iconUrl");
    assert_eq!(admin.app_names().len(), count, "nothing was written");

    // Every rule that was broken is told at once.
    let answer = admin.mutate("app.create", &json!({"name": "", "iconUrl": ""}));
    answer.assert_bad_field("name").assert_bad_field("iconUrl");
}

#[test]
fn links_are_what_a_browser_may_follow() {
    let server = Portico::start();
    let admin = administrator(&server);
    for good in [
        "https://example.com",
        "http://[::1]:8080/x",
        "https://user:word@b\u{fc}cher.example/",
        "HTTPS://EXAMPLE.COM",
        "ssh://host",
        "vscode://file/x",
        "mailto:a@example.com",
        "https://example.com/?next=javascript:alert(1)",
    ] {
        let app = create(&admin, &json!({"href": good})).data();
        assert_eq!(app["href"], good, "stored as sent");
    }
    let count = admin.app_names().len();
    for bad in [
        "javascript:alert(1)",
        "  JavaScript:alert(1)",
        "javascript://example.com/%0Aalert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "javascript\r:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "VBScript:x",
        "https://exa\tmple.com",
        "not a url",
        "example.com",
        "/relative",
        "//example.com",
        "http://",
        "https://example.com:99999",
    ] {
        create(&admin, &json!({"href": bad})).assert_bad_field("href");
    }
    for good in [
        "http://10.0.0.1",
        "https://example.com/health",
        "hTTps://example.com",
    ] {
        assert_eq!(create(&admin, &json!({"pingUrl": good})).data()["pingUrl"], good);
    }
    for bad in [
        "ftp://example.com",
        "ssh://host",
        "javascript:alert(1)",
        "ht\ntp://x",
        "example.com",
        "http://",
    ] {
        create(&admin, &json!({"pingUrl": bad})).assert_bad_field("pingUrl");
    }
    assert_eq!(
        admin.app_names().len(),
        count + 3,
        "nothing was written for what was refused"
    );
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

    for bad in [
        ("name", json!("")),
        ("name", Value::Null),
        ("iconUrl", json!(" ")),
        ("iconUrl", Value::Null),
        ("href", json!("javascript:x")),
        ("pingUrl", json!("ftp://x")),
        ("description", json!("x".repeat(513))),
    ] {
        let (field, value) = bad;
        update(json!({"iconUrl": "/other.svg", field: value})).assert_bad_field(field);
    }
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
fn a_deleted_app_is_gone_from_every_board() {
    let server = Portico::start();
    let admin = administrator(&server);
    let (kept, gone) = (admin.app("kept"), admin.app("gone"));
    let items = json!([
        {"kind": "app", "appId": gone},
        {"kind": "bookmarks", "appIds": [gone, kept]},
        {"kind": "app", "appId": kept},
    ]);
    let boards = [
        admin.board_of("one", false, &items),
        admin.board_of("two", true, &items),
    ];
    admin.mutate("app.delete", &json!({"id": gone})).assert_done();
    for board in boards {
        let seen = admin.query("board.byId", &json!({"id": board})).data();
        let text = seen.to_string();
        assert!(!text.contains(&gone), "still on the board: {text}");
        assert_eq!(text.matches(&kept).count(), 2, "the other app stays: {text}");
    }
    admin
        .query("app.byId", &json!({"id": gone}))
        .assert_refused(404, "NOT_FOUND");
    admin.mutate("app.delete", &json!({"id": gone})).assert_done();
    assert_eq!(admin.app_names(), ["kept"]);
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

    let thousand = vec![json!({"name": "x"}); 1_000];
    assert_eq!(
        admin
            .mutate("app.createMany", &json!(thousand))
            .data()
            .as_array()
            .map(Vec::len),
        Some(1_000)
    );
    assert_eq!(admin.app_names().len(), 1_003);
}
