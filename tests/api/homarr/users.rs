//! Homarr's web client (its forms at 464d98e): the fields of users that Portico only keeps.

use portico_tests::{Client, Fixtures};
use serde_json::{Value, json};

use super::{ask, read, tell, with_administrator};

#[test]
fn preferences_that_portico_only_keeps_are_changed_and_read_back() {
    let (_server, admin, _) = with_administrator();
    let id = &admin.user_id;
    let by_id = || read(&ask(&admin, "user.getById", &json!({"userId": id})));
    let before = by_id();
    assert_eq!(before["emailVerified"], Value::Null);
    // _general-form and _search-form: they send all fields.
    let search = json!({
        "userId": id, "defaultSearchEngineId": null, "openInNewTab": false, "ddgBangsEnabled": false,
    });
    tell(&admin, "user.changeSearchPreferences", &search).assert_status(200);
    let clicks = json!({"id": id, "enableRightClickOnWidgets": false});
    tell(&admin, "user.changeEnableRightClickOnWidgets", &clicks).assert_status(200);
    let after = by_id();
    assert_eq!(
        (&after["ddgBangs"], &after["openSearchInNewTab"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(after["enableRightClickOnWidgets"], json!(false));
    let rest = admin.get(&format!("/api/users/{id}")).json();
    assert_eq!(rest["enableRightClickOnWidgets"], json!(false));
    admin
        .patch(
            "/api/users/search-preferences",
            &json!({"userId": id, "defaultSearchEngineId": null, "openInNewTab": true}),
        )
        .assert_status(200);
    admin
        .patch(
            "/api/users/firstDayOfWeek",
            &json!({"id": id, "firstDayOfWeek": 3}),
        )
        .assert_status(200);
    admin
        .patch("/api/users/changeScheme", &json!({"colorScheme": "auto"}))
        .assert_status(200);
    let after = by_id();
    assert_eq!(
        (&after["openSearchInNewTab"], &after["firstDayOfWeek"]),
        (&json!(true), &json!(3))
    );
    assert_eq!(
        after["ddgBangs"],
        json!(false),
        "a form without the field leaves it"
    );
    assert_eq!(
        admin.get("/api/auth/session").json()["user"]["colorScheme"],
        "auto"
    );

    // Another user's are an administrator's to change.
    let (alice, bob) = (admin.user("alice"), admin.user("bob"));
    let of_bob = json!({"id": bob.id, "enableRightClickOnWidgets": false});
    tell(&alice, "user.changeEnableRightClickOnWidgets", &of_bob).assert_status(403);
    tell(&admin, "user.changeEnableRightClickOnWidgets", &of_bob).assert_status(200);
    let of_a_missing_user = json!({"id": "missing", "enableRightClickOnWidgets": false});
    tell(&admin, "user.changeEnableRightClickOnWidgets", &of_a_missing_user).assert_status(404);
    assert_eq!(
        read(&ask(&bob, "user.getById", &json!({"userId": bob.id})))["enableRightClickOnWidgets"],
        json!(false)
    );
}

#[test]
fn tours_are_kept_for_each_user() {
    let (_server, admin, _) = with_administrator();
    let alice = admin.user("alice");
    let status = |client: &dyn Client| read(&ask(client, "user.getTourStatus", &Value::Null));
    tell(&alice, "user.completeTour", &json!({"tour": "board"})).assert_status(200);
    assert_eq!(
        status(&alice),
        json!({"completedManageTour": false, "completedBoardTour": true})
    );
    assert_eq!(
        status(&admin),
        json!({"completedManageTour": false, "completedBoardTour": false})
    );
    tell(&alice, "user.completeTour", &json!({"tour": "another"})).assert_status(400);
    tell(&alice, "user.resetTours", &Value::Null).assert_status(200);
    assert_eq!(
        status(&alice),
        json!({"completedManageTour": false, "completedBoardTour": false})
    );
}

#[test]
fn users_to_choose_from_have_emails_for_administrators_only() {
    let (_server, admin, _) = with_administrator();
    let alice = admin.user("alice");
    let profile = json!({"id": alice.id, "name": "alice", "email": "alice@example.org"});
    admin.mutate("user.editProfile", &profile).assert_done();
    // user-select-modal.tsx:28 and 40
    let email = |users: &Value| {
        let users = users.as_array().expect("users");
        users.iter().find(|user| user["name"] == "alice").expect("alice")["email"].clone()
    };
    assert_eq!(
        email(&read(&ask(&admin, "user.selectable", &Value::Null))),
        "alice@example.org"
    );
    assert_eq!(
        email(&read(&ask(&alice, "user.selectable", &Value::Null))),
        Value::Null
    );
    let own = read(&ask(
        &admin,
        "user.selectable",
        &json!({"providers": ["credentials"]}),
    ));
    assert_eq!(own.as_array().map(Vec::len), Some(2));
    assert_eq!(
        read(&ask(&admin, "user.selectable", &json!({"providers": ["ldap"]}))),
        json!([])
    );
    // `user.register` wants an email, as the specification says.
    let invite = admin.invite();
    let register = json!({
        "username": "carol", "password": "a pass phrase", "confirmPassword": "a pass phrase",
        "inviteId": invite.id, "token": invite.token,
    });
    tell(&admin, "user.register", &register).assert_status(400);
}

#[test]
fn an_answer_that_would_be_too_large_is_refused_and_a_group_of_such_users_is_answered_in_part() {
    const USERS: usize = 25;
    let (_server, admin, key) = with_administrator();
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgoA".repeat(29_000));
    for number in 0..USERS {
        let user = json!({
            "name": format!("member-{number}"), "provider": "ldap", "email": "m@example.org", "image": image,
            "groups": ["family"],
        });
        let document = json!({"groups": [{"name": "family", "permissions": []}], "users": [user]});
        admin.mutate("state.apply", &document).assert_status(200);
    }
    let refused = ask(&key, "user.selectable", &Value::Null);
    refused.assert_status(413);
    let message = refused.json()["error"]["json"]["message"].clone();
    assert!(
        message.as_str().expect("a message").contains("8 MiB"),
        "{message}"
    );

    let groups = read(&ask(&key, "group.getAll", &Value::Null));
    let mut groups = groups.as_array().expect("groups").iter();
    let family = groups.find(|group| group["name"] == "family").expect("the group");
    let group = read(&ask(&key, "group.getById", &json!({"id": family["id"]})));
    let members = group["members"].as_array().expect("members");
    assert_eq!(members.len(), USERS);
    assert!(members.iter().all(|member| member["email"] == "m@example.org"));
    let images = members
        .iter()
        .filter(|member| member["image"].is_string())
        .count();
    assert!((1..USERS).contains(&images), "{images}");
}

#[test]
fn the_old_form_of_the_search_engine_and_preferences_as_texts_work() {
    let (_server, admin, key) = with_administrator();
    let id = &admin.user_id;
    let preferences = || key.get("/api/users/preferences").assert_status(200).json();
    // Homarr 2, preferences.ts: all fields are there, with their defaults.
    assert_eq!(preferences()["byteUnitSystem"], "decimal");
    let texts = json!({"openSearchInNewTab": "false", "ddgBangs": "true", "firstDayOfWeek": "3"});
    key.patch("/api/users/preferences", &texts).assert_status(200);
    let read_back = preferences();
    assert_eq!(read_back["openSearchInNewTab"], false);
    assert_eq!(
        (&read_back["ddgBangs"], &read_back["firstDayOfWeek"]),
        (&json!(true), &json!(3))
    );
    let header = json!({"version": 3, "visible": false});
    let kept = json!({"byteUnitSystem": "binary", "completedBoardTour": true, "headerPreferences": header});
    key.patch("/api/users/preferences", &kept).assert_status(200);
    let before = preferences();
    assert_eq!(
        (&before["byteUnitSystem"], &before["headerPreferences"]),
        (&json!("binary"), &header)
    );
    // What is refused changes nothing, also no other preference.
    for wrong in [
        json!({"ddgBangs": "maybe"}),
        json!({"firstDayOfWeek": "Monday"}),
        json!({"openSearchInNewTab": true, "firstDayOfWeek": 9}),
        json!({"openSearchInNewTab": true, "homeBoardId": 5}),
        json!({"openSearchInNewTab": true, "colorScheme": "sepia"}),
        json!({"openSearchInNewTab": true, "byteUnitSystem": "bytes"}),
        json!({"byteUnitSystem": 5}),
        json!({"completedManageTour": "x"}),
        json!({"headerPreferences": "x"}),
        json!({"enableRightClickOnWidgets": 1}),
        json!({"unknown": 1, "userId": id}),
    ] {
        key.patch("/api/users/preferences", &wrong).assert_status(400);
        assert_eq!(preferences(), before, "{wrong}");
    }
    let defaults = json!({"byteUnitSystem": null, "headerPreferences": null, "ddgBangs": null});
    key.patch("/api/users/preferences", &defaults).assert_status(200);
    let after = preferences();
    assert_eq!(
        (&after["byteUnitSystem"], &after["ddgBangs"]),
        (&json!("decimal"), &json!(true))
    );
    assert_eq!(after.get("headerPreferences"), None);

    // user.ts:602, deprecated: without openInNewTab, which stays.
    let old = json!({"userId": id, "defaultSearchEngineId": null, "ddgBangsEnabled": false});
    key.patch("/api/users/changeSearchEngine", &old)
        .assert_status(200);
    assert_eq!(preferences()["ddgBangs"], false);
    assert_eq!(preferences()["openSearchInNewTab"], false);
    let old = json!({"userId": id, "defaultSearchEngineId": null, "ddgBangsEnabled": true});
    tell(&key, "user.changeDefaultSearchEngine", &old).assert_status(200);
    assert_eq!(preferences()["ddgBangs"], true);
    let plain = admin.user("plain");
    plain
        .patch("/api/users/changeSearchEngine", &old)
        .assert_status(403);
}

#[test]
fn the_colour_scheme_of_another_user_is_refused_and_changes_no_one() {
    let (_server, admin, _) = with_administrator();
    let plain = admin.user("plain");
    let scheme = |client: &dyn Client| client.get("/api/auth/session").json()["user"]["colorScheme"].clone();
    let before = (scheme(&admin), scheme(&plain));
    let path = format!("/api/users/{}/changeScheme", plain.id);
    for new in ["light", "auto"] {
        admin
            .patch(&path, &json!({"colorScheme": new}))
            .assert_refused(403, "FORBIDDEN");
    }
    let named = json!({"colorScheme": "light", "userId": plain.id});
    tell(&admin, "user.changeColorScheme", &named).assert_status(403);
    assert_eq!((scheme(&admin), scheme(&plain)), before);
    plain
        .patch(&path, &json!({"colorScheme": "light"}))
        .assert_status(200);
    assert_eq!(scheme(&plain), "light");
}
