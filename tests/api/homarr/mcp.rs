//! bryanboettcher/mcp-homarr and TETRA-2023/homarr-mcp at f85d551.

use portico_tests::{Client, Fixtures, PASSWORD, escape};
use serde_json::{Value, json};

use super::{ask, homarr, read, tell, with_administrator};

#[test]
fn mcp_homarr_signs_in_with_a_password_and_keeps_its_cookie() {
    let server = homarr();
    let anonymous = server.anonymous();
    // tests/bootstrap.ts:15 and 43
    anonymous.get("/api/auth/csrf").assert_status(200);
    let user = json!({"username": "testadmin", "password": PASSWORD, "confirmPassword": PASSWORD});
    tell(&anonymous, "user.initUser", &user).assert_status(200);
    tell(&anonymous, "onboard.nextStep", &json!({})).assert_status(200);
    assert_eq!(
        read(&ask(&anonymous, "onboard.currentStep", &Value::Null))["current"],
        "finish"
    );

    // src/client.ts:55
    let csrf = anonymous.send("GET", "/api/auth/csrf", &[("accept", "application/json")], None);
    let token = csrf.assert_status(200).json()["csrfToken"].clone();
    let cookie = csrf
        .header("set-cookie")
        .and_then(|cookie| cookie.split(';').next())
        .expect("a cookie");
    // src/client.ts:69
    let form = format!(
        "name=testadmin&password={}&csrfToken={}",
        escape(PASSWORD),
        token.as_str().expect("a token")
    );
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("cookie", cookie),
    ];
    let signed_in = anonymous.send(
        "POST",
        "/api/auth/callback/credentials",
        &headers,
        Some(form.as_bytes()),
    );
    signed_in.assert_status(302);
    // src/client.ts:84
    let cookies = signed_in.headers.iter().filter(|(name, _)| name == "set-cookie");
    let session = cookies
        .filter_map(|(_, cookie)| cookie.split(';').next())
        .find(|cookie| cookie.starts_with("authjs.session-token="));
    let session = session.expect("the session's cookie");
    // src/client.ts:138 and 173: with that cookie alone.
    let body = json!({"json": {}}).to_string();
    let headers = [("content-type", "application/json"), ("cookie", session)];
    let made = anonymous.send(
        "POST",
        "/api/trpc/apiKeys.create",
        &headers,
        Some(body.as_bytes()),
    );
    assert!(read(&made)["apiKey"].is_string());
    let users = anonymous.send("GET", "/api/trpc/user.getAll", &[("cookie", session)], None);
    assert_eq!(read(&users)[0]["name"], "testadmin");
}

#[test]
fn mcp_homarr_creates_groups_and_reads_lists() {
    let (_server, _, key) = with_administrator();
    // tests/e2e.test.ts: the id is a text.
    let group = read(&tell(&key, "group.createGroup", &json!({"name": "family"})));
    assert!(group.is_string(), "{group}");
    assert_eq!(
        read(&ask(&key, "group.getById", &json!({"id": group})))["name"],
        "family"
    );
    assert!(read(&ask(&key, "info.getInfo", &Value::Null))["version"].is_string());
    assert_eq!(
        read(&ask(&key, "searchEngine.getSelectable", &Value::Null)),
        json!([])
    );
    assert_eq!(read(&ask(&key, "integration.all", &Value::Null)), json!([]));
    assert_eq!(
        read(&ask(&key, "icon.findIcons", &json!({"searchText": "x"})))["countIcons"],
        0
    );
    assert_eq!(
        read(&ask(&key, "app.getPaginated", &json!({}))),
        json!({"items": [], "totalCount": 0})
    );
    assert_eq!(
        read(&ask(&key, "app.getPaginated", &Value::Null))["totalCount"],
        0
    );
    // Portico has none of these.
    for procedure in ["home.getStats", "updateChecker.getAvailableUpdates"] {
        let refused = ask(&key, procedure, &Value::Null);
        let error = refused.assert_status(404).json()["error"]["json"].clone();
        assert_eq!(error["data"]["code"], "NOT_FOUND");
        assert_eq!(
            error["message"],
            format!("No procedure found on path \"{procedure}\"")
        );
    }
    // This needs an app; `pings.rs` has one.
    ask(&key, "widget.app.ping", &Value::Null).assert_status(400);
}

#[test]
fn tetra_manages_boards_and_groups() {
    let (_server, admin, key) = with_administrator();
    let user = admin.user("member");
    // homarr_client.py:94 to 124
    assert_eq!(read(&ask(&key, "board.getAllBoards", &Value::Null)), json!([]));
    let made = read(&tell(
        &key,
        "board.createBoard",
        &json!({"name": "one", "columnCount": 10, "isPublic": false}),
    ));
    let copy = read(&tell(
        &key,
        "board.duplicateBoard",
        &json!({"id": made["boardId"], "name": "two"}),
    ));
    tell(
        &key,
        "board.renameBoard",
        &json!({"id": copy["boardId"], "name": "three"}),
    )
    .assert_status(200);
    tell(
        &key,
        "board.changeBoardVisibility",
        &json!({"id": copy["boardId"], "visibility": "public"}),
    )
    .assert_status(200);
    let three = read(&ask(&key, "board.getBoardByName", &json!({"name": "three"})));
    assert_eq!(
        (&three["isPublic"], &three["layouts"][0]["columnCount"]),
        (&json!(true), &json!(10))
    );
    tell(&key, "board.deleteBoard", &json!({"id": made["boardId"]})).assert_status(200);
    ask(&key, "board.getBoardByName", &json!({"name": "one"})).assert_status(404);
    // homarr_client.py:196 to 208
    let group = admin.group("viewers", &["board-view-all"]);
    tell(
        &key,
        "group.addMember",
        &json!({"groupId": group, "userId": user.id}),
    )
    .assert_status(200);
    let whole = read(&ask(&key, "group.getById", &json!({"id": group})));
    assert_eq!(whole["members"][0]["name"], "member");
    assert_eq!(whole["permissions"], json!(["board-view-all"]));
    tell(
        &key,
        "group.removeMember",
        &json!({"groupId": group, "userId": user.id}),
    )
    .assert_status(200);
    let missing = ask(&key, "group.getById", &json!({"id": "missing"}));
    assert_eq!(
        missing.assert_status(404).json()["error"]["json"]["message"],
        "Group not found"
    );
    // homarr_client.py:130
    ask(&key, "board.getBoardPermissions", &json!({"id": copy["boardId"]})).assert_status(404);
}
