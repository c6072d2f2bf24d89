//! Disabled users: none of their credentials work.

use portico_tests::{Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

fn set_disabled(admin: &impl Client, id: &str, disabled: bool) -> portico_tests::Answer {
    admin.mutate("user.setDisabled", &json!({"userId": id, "disabled": disabled}))
}

/// The entries of `user.getPaginated` with these filters.
fn listed(admin: &impl Client, filters: Value) -> Vec<Value> {
    let mut input = json!({"page": 1, "pageSize": 100});
    for (name, value) in filters.as_object().expect("an object") {
        input[name] = value.clone();
    }
    let page = admin.query("user.getPaginated", &input).data();
    let items = page["items"].as_array().expect("a list").clone();
    assert_eq!(page["totalCount"], items.len());
    items
}

#[test]
fn a_disabled_user_is_signed_out_everywhere_and_cannot_sign_in() {
    let server = Portico::start();
    let admin = administrator(&server);
    let grace = admin.user("grace");
    let session = server.sign_in("grace", PASSWORD);
    let bearer = session.bearer();
    let wrong = json!({"username": "grace", "password": "not this one"});
    let wrong = server
        .anonymous()
        .post("/api/auth/sign-in", &wrong)
        .assert_status(401)
        .text();

    set_disabled(&admin, &grace.id, true).assert_status(200);
    for client in [&session as &dyn Client, &bearer, &grace] {
        client.query("app.all", &NO_INPUT).assert_status(401);
    }
    session.get("/api/auth/session").assert_status(401);
    let right = json!({"username": "grace", "password": PASSWORD});
    let refused = server.anonymous().post("/api/auth/sign-in", &right);
    assert_eq!(refused.assert_status(401).text(), wrong);
    // No key can be made for them either.
    admin
        .mutate("apiKeys.create", &json!({"userId": grace.id}))
        .assert_status(404);

    set_disabled(&admin, &grace.id, false).assert_status(200);
    server
        .sign_in("grace", PASSWORD)
        .query("app.all", &NO_INPUT)
        .assert_status(200);
    // Keys and sessions do not come back.
    grace.query("app.all", &NO_INPUT).assert_status(401);
    session.get("/api/auth/session").assert_status(401);
}

#[test]
fn the_last_administrator_who_is_not_disabled_stays() {
    let server = Portico::start();
    let admin = administrator(&server);
    let me = admin.get("/api/auth/session").json()["user"]["id"].clone();
    let me = me.as_str().expect("an id");
    let admins = admin.group("deputies", &["admin"]);
    let other = admin.user_in("deputy", &[&admins]);

    set_disabled(&admin, &other.id, true).assert_status(200);
    // The disabled one does not count.
    set_disabled(&admin, me, true).assert_status(409);
    admin
        .mutate("user.delete", &json!({"userId": me}))
        .assert_status(409);
    admin.get("/api/auth/session").assert_status(200);
    let document = json!({"users": [{"name": "root", "provider": "credentials", "disabled": true}]});
    let root = admin.get("/api/auth/session").json()["user"]["name"].clone();
    let mut document = document;
    document["users"][0]["name"] = root;
    admin.mutate("state.apply", &document).assert_status(409);

    set_disabled(&admin, &other.id, false).assert_status(200);
    set_disabled(&admin, me, true).assert_status(200);
    admin.get("/api/auth/session").assert_status(401);
    server
        .sign_in("deputy", PASSWORD)
        .query("user.getAll", &NO_INPUT)
        .assert_status(200);
}

#[test]
fn only_administrators_disable_and_only_users_who_exist() {
    let server = Portico::start();
    let admin = administrator(&server);
    let grace = admin.user("grace");
    set_disabled(&grace, &grace.id, true).assert_status(403);
    set_disabled(&server.anonymous(), &grace.id, true).assert_status(401);
    set_disabled(&admin, MISSING, true).assert_status(404);
    set_disabled(&admin, "a\0b", true).assert_status(404);
}

#[test]
fn users_come_in_pages_without_images() {
    let server = Portico::start();
    let admin = administrator(&server);
    let users: Vec<_> = ["ada-1", "ada-2", "bob-1"].map(|name| admin.user(name)).into();
    set_disabled(&admin, &users[1].id, true).assert_status(200);

    let adas = listed(&admin, json!({"search": " ADA "}));
    let expected = json!([
        {"id": users[0].id, "name": "ada-1", "email": null, "emailVerified": null, "provider": "credentials", "disabled": false},
        {"id": users[1].id, "name": "ada-2", "email": null, "emailVerified": null, "provider": "credentials", "disabled": true},
    ]);
    assert_eq!(Value::from(adas), expected);
    assert_eq!(listed(&admin, json!({"disabled": true})).len(), 1);
    assert_eq!(listed(&admin, json!({"disabled": false})).len(), 3);
    let past = admin
        .query("user.getPaginated", &json!({"page": 9, "pageSize": 2}))
        .data();
    assert_eq!(past, json!({"items": [], "totalCount": 4}));
    let second = admin
        .query("user.getPaginated", &json!({"page": 2, "pageSize": 2}))
        .data();
    assert_eq!(second["items"].as_array().expect("a list").len(), 2);
    users[0]
        .query("user.getPaginated", &json!({"page": 1, "pageSize": 2}))
        .assert_status(403);
}

#[test]
fn a_document_disables_users_and_an_export_says_who_is() {
    let server = Portico::start();
    let admin = administrator(&server);
    let grace = admin.user("grace");
    let document = |disabled: Value| json!({"users": [{"name": "grace", "provider": "credentials", "disabled": disabled}]});
    admin
        .mutate("state.apply", &document(json!(true)))
        .assert_status(200);
    grace.query("app.all", &NO_INPUT).assert_status(401);
    let export = admin.query("state.export", &NO_INPUT).data();
    let users = export["users"].as_array().expect("a list").iter();
    let disabled: Vec<_> = users.map(|user| (&user["name"], &user["disabled"])).collect();
    assert!(
        disabled.contains(&(&json!("grace"), &json!(true))),
        "{disabled:?}"
    );
    // Absent leaves it, and an export applied again changes nothing.
    admin
        .mutate(
            "state.apply",
            &json!({"users": [{"name": "grace", "provider": "credentials"}]}),
        )
        .assert_status(200);
    assert_eq!(listed(&admin, json!({"disabled": true})).len(), 1);
    admin
        .mutate("state.apply", &document(json!(false)))
        .assert_status(200);
    assert_eq!(listed(&admin, json!({"disabled": true})).len(), 0);
}
