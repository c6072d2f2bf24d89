//! What users change of their own: profile, password, image and preferences.

use portico_tests::{Client, Fixtures, MISSING, PASSWORD, Portico, administrator};
use serde_json::{Value, json};

/// Nine bytes: the signature of PNG and one more. What follows can be any base64.
const PNG: &str = "data:image/png;base64,iVBORw0KGgoA";

#[test]
fn a_profile_changes_name_and_email_and_leaves_out_what_is_absent() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let edit = |extra: Value| {
        let mut input = json!({"id": alice.id, "name": "alice"});
        input
            .as_object_mut()
            .expect("an object")
            .extend(extra.as_object().cloned().expect("an object"));
        alice.mutate("user.editProfile", &input)
    };
    let email = || alice.profile(&alice.id)["email"].clone();

    edit(json!({"email": "a@example.com"})).assert_done();
    assert_eq!(email(), "a@example.com");
    edit(json!({})).assert_done();
    assert_eq!(email(), "a@example.com");
    edit(json!({"email": "nonsense"})).assert_bad_field("email");
    assert_eq!(email(), "a@example.com");
    edit(json!({"email": null})).assert_done();
    assert_eq!(email(), Value::Null);
    edit(json!({"email": "a@example.com"})).assert_done();
    edit(json!({"email": ""})).assert_done();
    assert_eq!(email(), Value::Null);

    edit(json!({"name": "ROOT"})).assert_refused(409, "CONFLICT");
    edit(json!({"name": "al"})).assert_bad_field("name");
    alice
        .mutate("user.editProfile", &json!({"id": alice.id}))
        .assert_bad_field("name");
    assert_eq!(alice.profile(&alice.id)["name"], "alice");
    edit(json!({"name": " Alicia "})).assert_done();
    assert_eq!(alice.profile(&alice.id)["name"], "alicia");
    server.sign_in("alicia", PASSWORD);
    let old = json!({"username": "alice", "password": PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &old)
        .assert_refused(401, "UNAUTHORIZED");
    // The name that is free again can be taken.
    admin
        .mutate("user.editProfile", &json!({"id": admin.user_id, "name": "alice"}))
        .assert_done();
}

#[test]
fn a_password_is_changed_with_the_previous_one_or_by_an_administrator() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let session = server.sign_in("alice", PASSWORD);
    let other_session = server.sign_in("alice", PASSWORD);
    let change = |client: &dyn Client, user: &str, previous: Option<&str>, password: &str| {
        let mut input = json!({"userId": user, "password": password});
        if let Some(previous) = previous {
            input["previousPassword"] = previous.into();
        }
        client.mutate("user.changePassword", &input)
    };

    change(&session, &alice.id, None, "second password").assert_bad_field("previousPassword");
    change(&admin, &admin.user_id, None, "second password").assert_bad_field("previousPassword");
    change(&session, &alice.id, Some("wrong password"), "second password").assert_refused(403, "FORBIDDEN");
    change(&session, &alice.id, Some(PASSWORD), "short").assert_bad_field("password");
    server.sign_in("alice", PASSWORD);

    let answer = change(&session, &alice.id, Some(PASSWORD), "second password");
    let renewed = session.renewed(answer.assert_done()).expect("a new cookie");
    session.get("/api/auth/session").assert_status(401);
    renewed.get("/api/auth/session").assert_status(200);
    alice.get("/api/auth/session").assert_status(200);
    other_session.get("/api/auth/session").assert_status(401);
    let old = json!({"username": "alice", "password": PASSWORD});
    server
        .anonymous()
        .post("/api/auth/sign-in", &old)
        .assert_refused(401, "UNAUTHORIZED");
    let third_session = server.sign_in("alice", "second password");

    change(&admin, &alice.id, None, "third password").assert_done();
    renewed.get("/api/auth/session").assert_status(401);
    alice.get("/api/auth/session").assert_status(401);
    third_session.get("/api/auth/session").assert_status(401);
    server.sign_in("alice", "third password");
    change(&admin, MISSING, None, "third password").assert_refused(404, "NOT_FOUND");
}

#[test]
fn a_profile_image_is_a_small_image_of_a_known_format() {
    let server = Portico::start();
    let admin = administrator(&server);
    let set = |image: Value| {
        admin.mutate(
            "user.setProfileImage",
            &json!({"userId": admin.user_id, "image": image}),
        )
    };
    let image = || admin.profile(&admin.user_id)["image"].clone();
    set(json!(PNG)).assert_done();
    assert_eq!(image(), PNG);
    for bad in [json!("data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="), json!(5)] {
        set(bad).assert_bad_field("image");
        assert_eq!(image(), PNG, "the image was changed by a refused call");
    }
    // Absent is not null.
    admin
        .mutate("user.setProfileImage", &json!({"userId": admin.user_id}))
        .assert_bad_field("image");
    set(Value::Null).assert_done();
    assert_eq!(image(), Value::Null);
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
fn preferences_are_kept_and_their_bounds_held() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let engine = admin.search_engine("Search", "s");
    let profile = |field: &str| alice.profile(&alice.id)[field].clone();

    let set_day = |day: Value| {
        let input = json!({"id": alice.id, "firstDayOfWeek": day});
        alice.mutate("user.changeFirstDayOfWeek", &input)
    };
    set_day(json!(3)).assert_done();
    set_day(json!(7)).assert_bad_field("firstDayOfWeek");
    assert_eq!(profile("firstDayOfWeek"), 3);

    alice
        .mutate(
            "user.changePingIconsEnabled",
            &json!({"id": alice.id, "pingIconsEnabled": true}),
        )
        .assert_done();
    assert_eq!(profile("pingIconsEnabled"), true);

    let search = |engine: Value, new_tab: bool| {
        let input = json!({"userId": alice.id, "defaultSearchEngineId": engine, "openInNewTab": new_tab});
        alice.mutate("user.changeSearchPreferences", &input)
    };
    search(json!(engine), false).assert_done();
    assert_eq!(
        (profile("defaultSearchEngineId"), profile("openSearchInNewTab")),
        (json!(engine), json!(false))
    );
    search(json!(MISSING), true).assert_refused(404, "NOT_FOUND");
    assert_eq!(
        (profile("defaultSearchEngineId"), profile("openSearchInNewTab")),
        (json!(engine), json!(false))
    );
    let input = json!({"userId": alice.id, "openInNewTab": true});
    alice
        .mutate("user.changeSearchPreferences", &input)
        .assert_bad_field("defaultSearchEngineId");
    search(Value::Null, true).assert_done();
    assert_eq!(profile("defaultSearchEngineId"), Value::Null);

    let session = server.sign_in("alice", PASSWORD);
    for scheme in ["light", "dark", "auto"] {
        session
            .mutate("user.changeColorScheme", &json!({"colorScheme": scheme}))
            .assert_done();
        assert_eq!(
            session.get("/api/auth/session").json()["user"]["colorScheme"],
            scheme
        );
    }
    session
        .mutate("user.changeColorScheme", &json!({"colorScheme": "sepia"}))
        .assert_bad_field("colorScheme");
}

#[test]
fn home_boards_must_be_visible_to_the_user_whose_they_are() {
    let server = Portico::start();
    let admin = administrator(&server);
    let alice = admin.user("alice");
    let public = admin.board("public", true);
    let hidden = admin.board("hidden", false);
    let shared = admin.board("shared", false);
    let sharing = json!({"boardId": shared, "users": [alice.id], "groups": []});
    admin.mutate("board.share", &sharing).assert_done();
    let set = |client: &dyn Client, home: Value, mobile: Value| {
        let input = json!({"userId": alice.id, "homeBoardId": home, "mobileHomeBoardId": mobile});
        client.mutate("user.changeHomeBoards", &input)
    };
    let boards = || {
        let profile = alice.profile(&alice.id);
        (
            profile["homeBoardId"].clone(),
            profile["mobileHomeBoardId"].clone(),
        )
    };

    set(&alice, json!(public), json!(shared)).assert_done();
    assert_eq!(boards(), (json!(public), json!(shared)));
    // It depends on what alice may see, not on what the administrator may see.
    for client in [&alice as &dyn Client, &admin] {
        set(client, json!(hidden), Value::Null).assert_refused(404, "NOT_FOUND");
        set(client, Value::Null, json!(MISSING)).assert_refused(404, "NOT_FOUND");
        set(client, json!(public), json!("")).assert_status(404);
        assert_eq!(
            boards(),
            (json!(public), json!(shared)),
            "a refused call changed something"
        );
    }
    alice
        .mutate("user.changeHomeBoards", &json!({"userId": alice.id}))
        .assert_bad_field("homeBoardId");
    set(&admin, Value::Null, json!(public)).assert_done();
    assert_eq!(boards(), (Value::Null, json!(public)));
    // A deleted board is not anyone's home board.
    admin.mutate("board.delete", &json!({"id": public})).assert_done();
    assert_eq!(boards(), (Value::Null, Value::Null));
}
