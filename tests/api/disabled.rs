//! Disabled users: none of their credentials work. What ends with them is tested in `storage-kit`.

use portico_tests::{Client, Fixtures, NO_INPUT, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

fn set_disabled(admin: &impl Client, id: &str, disabled: bool) {
    let input = json!({"userId": id, "disabled": disabled});
    admin.mutate("user.setDisabled", &input).assert_status(200);
}

/// The users with these filters, in pages of two.
fn listed(admin: &impl Client, filters: Value) -> Vec<Value> {
    let page = |page: u32| {
        let mut input = json!({"page": page, "pageSize": 2});
        let filters = filters.as_object().expect("an object").clone();
        input.as_object_mut().expect("an object").extend(filters);
        admin.query("user.getPaginated", &input).data()
    };
    let pages: Vec<_> = (1..=3).map(page).collect();
    let items = pages
        .iter()
        .flat_map(|page| page["items"].as_array().expect("a list"));
    let items: Vec<_> = items.cloned().collect();
    assert!(pages.iter().all(|page| page["totalCount"] == items.len()));
    items
}

#[test]
fn a_disabled_user_is_signed_out_everywhere_and_cannot_sign_in() {
    let server = Portico::start();
    let admin = administrator(&server);
    let grace = admin.user("grace");
    let session = server.sign_in("grace", PASSWORD);
    let anonymous = server.anonymous();
    let sign_in = |password: &str| {
        let body = json!({"username": "grace", "password": password});
        anonymous.post("/api/auth/sign-in", &body)
    };
    let wrong = sign_in("not this one").assert_status(401).text();

    set_disabled(&admin, &grace.id, true);
    for client in [&session as &dyn Client, &session.bearer(), &grace] {
        client.query("app.all", &NO_INPUT).assert_status(401);
    }
    assert_eq!(sign_in(PASSWORD).assert_status(401).text(), wrong);
    // No key can be made for them either.
    admin
        .mutate("apiKeys.create", &json!({"userId": grace.id}))
        .assert_status(404);

    set_disabled(&admin, &grace.id, false);
    sign_in(PASSWORD).assert_status(200);
    // Keys and sessions do not come back.
    grace.query("app.all", &NO_INPUT).assert_status(401);
    session.get("/api/auth/session").assert_status(401);
}

#[test]
fn users_come_in_pages_without_images() {
    let server = Portico::start();
    let admin = administrator(&server);
    let users = ["ada-1", "ada-2", "bob-1"].map(|name| admin.user(name));
    set_disabled(&admin, &users[1].id, true);
    let expected = json!([
        {"id": users[0].id, "name": "ada-1", "email": null, "emailVerified": null, "provider": "credentials", "disabled": false},
        {"id": users[1].id, "name": "ada-2", "email": null, "emailVerified": null, "provider": "credentials", "disabled": true},
    ]);
    assert_eq!(Value::from(listed(&admin, json!({"search": " ADA "}))), expected);
    assert_eq!(listed(&admin, json!({"disabled": false})).len(), 3);
    assert_eq!(listed(&admin, json!({})).len(), 4);
}

#[test]
fn a_document_disables_users_and_an_export_says_who_is() {
    let server = Portico::start();
    let admin = administrator(&server);
    let grace = admin.user("grace");
    let apply = |user: Value| admin.output_of("state.apply", &json!({"users": [user]}));
    let with = |disabled: bool| json!({"name": "grace", "provider": "credentials", "disabled": disabled});
    apply(with(true));
    grace.query("app.all", &NO_INPUT).assert_status(401);
    let export = admin.query("state.export", &NO_INPUT).data();
    let mut users = export["users"].as_array().expect("a list").iter();
    let exported = users.find(|user| user["name"] == "grace").expect("the user");
    assert_eq!(exported["disabled"], true);
    // Absent leaves it.
    apply(json!({"name": "grace", "provider": "credentials"}));
    assert_eq!(listed(&admin, json!({"disabled": true})).len(), 1);
    apply(with(false));
    assert_eq!(listed(&admin, json!({"disabled": true})).len(), 0);
}
