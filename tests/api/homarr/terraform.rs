//! rfdrew/terraform-provider-homarr: REST, with the header `ApiKey` and a content type also where there is no body.

use portico_tests::{Answer, Client, Fixtures, Key, PASSWORD};
use serde_json::{Value, json};

use super::with_administrator;

/// `client.go`, `do`.
fn send(key: &Key, method: &str, path: &str, body: Option<Value>) -> Answer {
    let body = body.map(|body| body.to_string());
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    key.send(method, path, &headers, body.as_deref().map(str::as_bytes))
}

fn get(key: &Key, path: &str) -> Value {
    send(key, "GET", path, None).assert_status(200).json()
}

#[test]
fn the_provider_configures_itself_by_the_version() {
    let (server, _, key) = with_administrator();
    // provider.go, Configure; settings.go, GetInfo
    assert!(get(&key, "/api/info")["version"].is_string());
    let refused = server.anonymous().get("/api/info");
    refused.assert_status(401);
    // client.go, newError
    assert_eq!(refused.json()["data"]["code"], "UNAUTHORIZED");
    assert_eq!(refused.json()["code"], "UNAUTHORIZED");
}

#[test]
fn a_user_is_created_changed_and_deleted() {
    let (server, _, key) = with_administrator();
    // users.go, CreateUser: the id is looked up by the name.
    let new = json!({"username": "Ada", "password": PASSWORD, "confirmPassword": PASSWORD, "groupIds": []});
    send(&key, "POST", "/api/users", Some(new)).assert_status(200);
    let users = get(&key, "/api/users");
    let id = users
        .as_array()
        .expect("users")
        .iter()
        .find(|user| user["name"] == "ada")
        .expect("ada")["id"]
        .clone();
    let path = format!("/api/users/{}", id.as_str().expect("an id"));
    // users.go, GetUser: all of UserDetail
    let user = get(&key, &path);
    assert_eq!(
        (&user["ddgBangs"], &user["enableRightClickOnWidgets"]),
        (&json!(true), &json!(true))
    );
    // users.go, ChangeUserPassword: with a made-up previous password.
    let password = "another pass phrase";
    let change =
        json!({"previousPassword": "unused-by-admin", "password": password, "confirmPassword": password});
    send(&key, "PATCH", &format!("{path}/changePassword"), Some(change))
        .assert_status(200)
        .assert_empty();
    server.sign_in("ada", password);
    // users.go, SetUserHomeBoards
    let board = json!({"name": "home", "columnCount": 10, "isPublic": true});
    let made = send(&key, "POST", "/api/boards", Some(board))
        .assert_status(200)
        .json();
    let boards = json!({"userId": id, "homeBoardId": made["boardId"], "mobileHomeBoardId": null});
    send(&key, "PATCH", "/api/users/changeHome", Some(boards))
        .assert_status(200)
        .assert_empty();
    assert_eq!(get(&key, &path)["homeBoardId"], made["boardId"]);
    send(&key, "DELETE", &path, None).assert_status(200);
    send(&key, "GET", &path, None).assert_status(404);
}

#[test]
fn preferences_are_read_and_changed_in_part() {
    let (_server, admin, key) = with_administrator();
    // users.go at c12cc32, GetUserPreferences and UpdateUserPreferences: both answer all of them.
    let own = get(&key, "/api/users/preferences");
    assert_eq!(own["userId"], json!(admin.user_id));
    assert_eq!(
        (&own["colorScheme"], &own["ddgBangs"]),
        (&json!("dark"), &json!(true))
    );
    let patch = |patch: Value| send(&key, "PATCH", "/api/users/preferences", Some(patch));
    let after = patch(json!({
        "colorScheme": "light", "firstDayOfWeek": 0, "ddgBangs": false, "openSearchInNewTab": false,
        "byteUnitSystem": "binary",
    }))
    .assert_status(200)
    .json();
    assert_eq!(
        (&after["colorScheme"], &after["firstDayOfWeek"]),
        (&json!("light"), &json!(0))
    );
    assert_eq!(
        (&after["ddgBangs"], &after["openSearchInNewTab"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(after["byteUnitSystem"], "binary");
    assert_eq!(get(&key, "/api/users/preferences"), after);
    assert_eq!(
        patch(json!({})).assert_status(400).json()["message"],
        "Supply at least one preference"
    );

    let bob = admin.user("bob").id;
    let other = get(&key, &format!("/api/users/preferences?userId={bob}"));
    assert_eq!(
        (&other["userId"], &other["ddgBangs"]),
        (&json!(bob), &json!(true))
    );
    let after = patch(json!({"userId": bob, "pingIconsEnabled": true}))
        .assert_status(200)
        .json();
    assert_eq!(after["pingIconsEnabled"], json!(true));
    patch(json!({"userId": bob, "colorScheme": "light"})).assert_status(400);
}

#[test]
fn a_board_is_created_renamed_published_styled_and_deleted() {
    let (_server, admin, key) = with_administrator();
    // boards.go, CreateBoard, ListBoards, RenameBoard, SetBoardVisibility, UpdateBoardSettings, DeleteBoard
    let board = json!({"name": "tf", "columnCount": 8, "isPublic": false});
    let id = send(&key, "POST", "/api/boards", Some(board))
        .assert_status(200)
        .json()["boardId"]
        .clone();
    let path = format!("/api/boards/{}", id.as_str().expect("an id"));
    send(
        &key,
        "PATCH",
        &format!("{path}/name"),
        Some(json!({"name": "renamed"})),
    )
    .assert_status(200);
    send(
        &key,
        "PATCH",
        &format!("{path}/visibility"),
        Some(json!({"visibility": "public"})),
    )
    .assert_status(200);
    let logo = json!({"logoImageUrl": "/logo.svg", "opacity": 50});
    send(&key, "PATCH", &format!("{path}/settings"), Some(logo)).assert_status(200);
    let boards = get(&key, "/api/boards");
    assert_eq!(boards.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&boards[0]["name"], &boards[0]["isPublic"]),
        (&json!("renamed"), &json!(true))
    );
    assert_eq!(boards[0]["logoImageUrl"], "/logo.svg");
    assert_eq!(boards[0]["creator"]["id"], json!(admin.user_id));
    assert_eq!(boards[0]["creator"]["name"], "root");
    let taken = send(
        &key,
        "POST",
        "/api/boards",
        Some(json!({"name": "renamed", "columnCount": 8, "isPublic": true})),
    );
    assert_eq!(taken.assert_status(409).json()["data"]["code"], "CONFLICT");
    send(&key, "DELETE", &path, None).assert_status(200);
    assert_eq!(get(&key, "/api/boards"), json!([]));
    // What Portico cannot say.
    send(&key, "GET", "/api/settings/board", None).assert_status(404);
}
