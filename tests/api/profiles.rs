//! Users, and what they change of their own: profile, password and preferences. Their rules are tested next to the
//! component and in `storage-kit`.

use std::collections::BTreeSet;

use portico_tests::{Client, Fixtures, MISSING, PASSWORD, Portico, administrator, keys};
use serde_json::{Value, json};

#[test]
fn the_first_user_has_exactly_the_fields_and_defaults_that_are_promised() {
    let server = Portico::start();
    let account = json!({"username": "  RoOt ", "password": PASSWORD, "confirmPassword": "ignored"});
    let created = server.anonymous().mutate("user.initUser", &account).data();
    assert_eq!(keys(&created), BTreeSet::from(["id"]));
    let root = server.sign_in("root", PASSWORD);
    assert_eq!(created["id"], root.user_id);
    let expected = json!({
        "id": root.user_id, "name": "root", "email": null, "emailVerified": null, "image": null,
        "provider": "credentials", "homeBoardId": null, "mobileHomeBoardId": null, "firstDayOfWeek": 1,
        "pingIconsEnabled": false, "defaultSearchEngineId": null, "openSearchInNewTab": true,
    });
    assert_eq!(root.profile(&root.user_id), expected);
    let session = root.get("/api/auth/session").json();
    assert_eq!(session["user"]["colorScheme"], "dark");
    let permissions = session["user"]["permissions"].as_array().expect("a list");
    assert!(permissions.contains(&json!("admin")));
}

#[test]
fn a_profile_changes_name_and_email_and_leaves_out_what_is_absent() {
    let server = Portico::start();
    let alice = administrator(&server).user("alice");
    let edit = |name: &str, more: Value| {
        let mut input = json!({"id": alice.id, "name": name});
        let fields = input.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        alice.mutate("user.editProfile", &input)
    };
    let email = || alice.profile(&alice.id)["email"].clone();
    edit("alice", json!({"email": "a@example.com"})).assert_done();
    edit("alice", json!({})).assert_done();
    edit("alice", json!({"email": "nonsense"})).assert_bad_field("email");
    assert_eq!(email(), "a@example.com");
    edit(" Alicia ", json!({"email": null})).assert_done();
    assert_eq!(email(), Value::Null);
    server.sign_in("alicia", PASSWORD);
    let old = json!({"username": "alice", "password": PASSWORD});
    let anonymous = server.anonymous();
    anonymous
        .post("/api/auth/sign-in", &old)
        .assert_refused(401, "UNAUTHORIZED");
}

/// Which sessions and keys end is in `tests/sign_in/credentials`.
#[test]
fn a_password_is_changed_with_the_previous_one_or_by_an_administrator() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let change = |client: &dyn Client, user: &str, previous: Option<&str>, password: &str| {
        let mut input = json!({"userId": user, "password": password});
        if let Some(previous) = previous {
            input["previousPassword"] = previous.into();
        }
        client.mutate("user.changePassword", &input)
    };
    change(&alice, &alice.id, None, "second password").assert_bad_field("previousPassword");
    change(&admin, &admin.user_id, None, "second password").assert_bad_field("previousPassword");
    change(&alice, &alice.id, Some("wrong password"), "second password").assert_refused(403, "FORBIDDEN");
    server.sign_in("alice", PASSWORD);
    change(&alice, &alice.id, Some(PASSWORD), "second password").assert_done();
    server.sign_in("alice", "second password");
    change(&admin, &alice.id, None, "third password").assert_done();
    server.sign_in("alice", "third password");
}

#[test]
fn a_picture_does_not_say_where_it_was_taken() {
    /// A JPEG of one pixel with its orientation and a latitude, and with its orientation alone.
    const TAKEN: &str = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/4QBARXhpZgAATU0AKgAAAAgAAgESAAMAAAABAAYAAIglAAQAAAABAAAAJgAAAAAAAQABAAIAAAACTgAAAAAAAAD/wAALCAABAAEBAREA/9oACAEBAAA/AAD/2Q==";
    const KEPT: &str = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/wAALCAABAAEBAREA/9oACAEBAAA/AAD/2Q==";
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let input = json!({"userId": admin.user_id, "image": TAKEN});
    admin.mutate("user.setProfileImage", &input).assert_done();
    admin
        .put(
            "/api/users/profileImage",
            &json!({"userId": alice.id, "image": TAKEN}),
        )
        .assert_status(200);
    let users = alice.query("user.selectable", &Value::Null).data();
    let images = users
        .as_array()
        .expect("a list")
        .iter()
        .map(|user| &user["image"]);
    assert_eq!(images.collect::<Vec<_>>(), [KEPT, KEPT]);
    let huge = "data:image/gif;base64,R0lGODlh/////wAAADs=";
    alice
        .mutate(
            "user.setProfileImage",
            &json!({"userId": alice.id, "image": huge}),
        )
        .assert_bad_field("image");
}

#[test]
fn preferences_are_kept() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let engine = admin.search_engine("Search", "s");
    let change = |procedure: &str, input: Value| alice.mutate(procedure, &input).assert_done().clone();
    change(
        "user.changeFirstDayOfWeek",
        json!({"id": alice.id, "firstDayOfWeek": 3}),
    );
    change(
        "user.changePingIconsEnabled",
        json!({"id": alice.id, "pingIconsEnabled": true}),
    );
    let search =
        |engine: Value| json!({"userId": alice.id, "defaultSearchEngineId": engine, "openInNewTab": false});
    change("user.changeSearchPreferences", search(json!(engine)));
    let profile = alice.profile(&alice.id);
    let kept = [
        "firstDayOfWeek",
        "pingIconsEnabled",
        "defaultSearchEngineId",
        "openSearchInNewTab",
    ];
    let expected = [json!(3), json!(true), json!(engine), json!(false)];
    assert_eq!(kept.map(|field| profile[field].clone()), expected);
    change("user.changeSearchPreferences", search(Value::Null));
    assert_eq!(alice.profile(&alice.id)["defaultSearchEngineId"], Value::Null);
    for scheme in ["light", "dark", "auto"] {
        change("user.changeColorScheme", json!({"colorScheme": scheme}));
        let session = alice.get("/api/auth/session").json();
        assert_eq!(session["user"]["colorScheme"], scheme);
    }
}

#[test]
fn home_boards_must_be_visible_to_the_user_whose_they_are() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let (public, hidden) = (admin.board("public", true), admin.board("hidden", false));
    let set = |client: &dyn Client, home: Value, mobile: Value| {
        let input = json!({"userId": alice.id, "homeBoardId": home, "mobileHomeBoardId": mobile});
        client.mutate("user.changeHomeBoards", &input)
    };
    let boards = || {
        let profile = alice.profile(&alice.id);
        ["homeBoardId", "mobileHomeBoardId"].map(|field| profile[field].clone())
    };
    set(&alice, json!(public), Value::Null).assert_done();
    // It depends on what alice may see, not on what the administrator may see.
    for client in [&alice as &dyn Client, &admin] {
        for board in [hidden.as_str(), MISSING, ""] {
            set(client, Value::Null, json!(board)).assert_refused(404, "NOT_FOUND");
        }
    }
    assert_eq!(boards(), [json!(public), Value::Null]);
    set(&admin, Value::Null, json!(public)).assert_done();
    assert_eq!(boards(), [Value::Null, json!(public)]);
}
