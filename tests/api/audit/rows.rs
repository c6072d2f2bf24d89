//! The content of rows: of sign-ins, of batches, of the operator, of deleted users; and what they must
//! not contain.

use std::io::Write as _;

use portico_tests::{
    Builder, Client, Fixtures, MISSING, PASSWORD, Portico, administrator, command, raw, run, wait_until,
};
use serde_json::{Value, json};

use super::harness::{last_number, new_rows, rows, rows_where};

fn sign_in(server: &Portico, name: &str, password: &str) -> portico_tests::Answer {
    let body = json!({"username": name, "password": password});
    server.anonymous().post("/api/auth/sign-in", &body)
}

#[test]
fn signing_in_and_out_has_rows_and_a_wrong_password_names_no_more_than_the_user() {
    let server = Portico::start();
    let root = administrator(&server);
    let alice = root.user("alice");
    let before = last_number(&root);

    let session = server.sign_in("ALICE", PASSWORD);
    let sessions = session.query("session.getAll", &Value::Null).data();
    let session_id = sessions[0]["id"].clone();
    session.post("/api/auth/sign-out", &json!({})).assert_status(200);
    sign_in(&server, "alice", "a wrong password").assert_refused(401, "UNAUTHORIZED");
    // A user typed the password where the name belongs.
    sign_in(&server, PASSWORD, "a wrong password").assert_refused(401, "UNAUTHORIZED");
    server
        .anonymous()
        .post("/api/auth/sign-in", &json!({"username": 7}))
        .assert_refused(400, "BAD_REQUEST");

    let rows = new_rows(&root, before);
    let said = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    let (none, id) = (Value::Null, json!(alice.id));
    assert_eq!(
        said("procedure"),
        ["sign-in", "sign-out", "sign-in", "sign-in", "sign-in"]
    );
    assert_eq!(
        said("outcome"),
        ["OK", "OK", "UNAUTHORIZED", "UNAUTHORIZED", "BAD_REQUEST"]
    );
    assert_eq!(
        said("actorId"),
        [id.clone(), id.clone(), none.clone(), none.clone(), none.clone()]
    );
    assert_eq!(
        said("target"),
        [id.clone(), none.clone(), id, none.clone(), none.clone()]
    );
    assert_eq!(
        said("authentication"),
        ["session", "session", "none", "none", "none"]
    );
    assert_eq!(
        said("credentialId")[..3],
        [session_id.clone(), session_id, none.clone()]
    );
    let password = json!("credentials");
    assert_eq!(
        said("provider"),
        [&password, &none, &password, &password, &password].map(Clone::clone)
    );
    assert!(rows.iter().all(|row| row["address"] == "127.0.0.1"));
    assert!(!json!(rows).to_string().contains(PASSWORD));
}

#[test]
fn signing_out_without_a_session_and_reading_leave_no_row() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    server
        .anonymous()
        .post("/api/auth/sign-out", &json!({}))
        .assert_status(200);
    root.query("app.all", &Value::Null).assert_status(200);
    root.query("app.byId", &json!({"id": MISSING})).assert_status(404);
    root.query("user.search", &json!({"query": 7})).assert_status(400);
    assert_eq!(new_rows(&root, before), [Value::Null; 0]);
}

/// The service has begun to check the password, so there must be a row.
#[test]
fn leaving_before_the_answer_to_a_sign_in_has_a_row() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    // By one query: pages of a growing log do not fit together.
    let count = || {
        let page = json!({"page": 1, "pageSize": 1});
        root.query("audit.getPaginated", &page).data()["totalCount"].clone()
    };
    let count_before = count();
    let body = json!({"username": "root", "password": "a wrong password"}).to_string();
    let mut stream = raw::send_head(&server.address(), "/api/auth/sign-in", &[], &body);
    stream.write_all(body.as_bytes()).expect("send");
    raw::reset(stream);

    wait_until("a row", || count() != count_before);
    let rows = new_rows(&root, before);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["procedure"], "sign-in");
    assert_eq!(rows[0]["outcome"], "TIMEOUT");
}

#[test]
fn a_cookie_that_another_site_uses_is_refused_with_a_row() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    let foreign = [
        ("sec-fetch-site", "cross-site"),
        ("content-type", "application/json"),
    ];
    let body = json!({"name": "x", "iconUrl": "/x"}).to_string();
    root.send("POST", "/api/apps", &foreign, Some(body.as_bytes()))
        .assert_status(403);
    root.send("POST", "/api/auth/sign-out", &foreign, None)
        .assert_status(403);
    let rows = new_rows(&root, before);
    assert_eq!(
        (&rows[0]["procedure"], &rows[0]["outcome"]),
        (&json!("app.create"), &json!("FORBIDDEN"))
    );
    assert_eq!(
        (&rows[1]["procedure"], &rows[1]["outcome"]),
        (&json!("sign-out"), &json!("FORBIDDEN"))
    );
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["actorId"] == root.user_id.as_str()));
}

#[test]
fn each_call_of_a_batch_has_its_row() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    let app = json!({"name": "An app", "iconUrl": "/icon.svg"});
    let path = "/api/trpc/app.create,group.createGroup,app.create,app.update?batch=1";
    let input = json!({"0": app, "1": {"name": ""}, "2": app, "3": {"id": MISSING}});
    let answer = root.post(path, &input);
    answer.assert_status(207);
    let mut rows = new_rows(&root, before);
    rows.sort_by_key(|row| (row["procedure"].to_string(), row["number"].as_u64()));
    let said: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["procedure"].as_str().unwrap(),
                row["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("app.create", "OK"),
            ("app.create", "OK"),
            ("app.update", "NOT_FOUND"),
            ("group.createGroup", "BAD_REQUEST")
        ]
    );
    let mut targets: Vec<_> = rows[..2].iter().map(|row| row["target"].clone()).collect();
    let mut ids: Vec<_> = [0, 2]
        .map(|index| answer.json()[index]["result"]["data"]["id"].clone())
        .into();
    targets.sort_by_key(Value::to_string);
    ids.sort_by_key(Value::to_string);
    assert_eq!(targets, ids);
    assert_eq!(rows[2]["target"], MISSING);
    assert!(
        rows.iter()
            .all(|row| row["requestId"].as_str() == answer.header("x-request-id"))
    );
}

#[test]
fn a_call_that_changes_nothing_has_a_row_as_well() {
    let server = Portico::start();
    let root = administrator(&server);
    let before = last_number(&root);
    root.mutate("app.delete", &json!({"id": MISSING})).assert_done();
    root.mutate("user.delete", &json!({"userId": "no such id"}))
        .assert_done();
    let document = json!({"apps": [{"name": "planned"}], "dryRun": true});
    root.mutate("state.apply", &document).assert_status(200);
    let rows = new_rows(&root, before);
    let targets: Vec<_> = rows.iter().map(|row| row["target"].clone()).collect();
    assert_eq!(
        targets,
        [
            json!(MISSING),
            Value::Null,
            json!("created 1, changed 0, removed 0 (dry run)")
        ]
    );
    assert!(
        rows.iter()
            .all(|row| row["outcome"] == "OK" && row["created"] == 0),
        "{rows:#?}"
    );
}

#[test]
fn rows_stay_when_the_user_they_are_about_is_deleted() {
    let server = Portico::start();
    let root = administrator(&server);
    let alice = root.user_with("alice", "app-create");
    let app = alice.app("Hers");
    root.mutate("user.delete", &json!({"userId": alice.id}))
        .assert_done();
    let rows = rows_where(&root, &json!({"actorId": alice.id}));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["target"], app);
    // Nothing but the id.
    assert!(!json!(self::rows(&root)).to_string().contains("alice"));
}

#[test]
fn an_id_that_is_none_of_ours_is_not_repeated() {
    // The service takes a request's id from a trusted proxy if it has plain characters only.
    let server = Builder::default()
        .environment("PORTICO_TRUSTED_PROXIES", "127.0.0.1")
        .start();
    let root = administrator(&server);
    let key = root.key_of(&root.user_id).key;
    let token = root.invite().token;
    let before = last_number(&root);
    let forged = "x\r\n2026-01-01T00:00:00.000Z OK\u{1b}[31m";
    for id in [
        forged,
        &key,
        &token,
        &root.token,
        PASSWORD,
        &"é".repeat(100_000),
        "\u{202e}",
        "{}",
        "",
    ] {
        for (procedure, field) in [
            ("apiKeys.delete", "apiKeyId"),
            ("invite.deleteInvite", "id"),
            ("user.delete", "userId"),
        ] {
            root.mutate(procedure, &json!({field: id}));
        }
    }
    let rows = new_rows(&root, before);
    assert!(rows.len() >= 9 + 2, "{}", rows.len());
    assert!(rows.iter().all(|row| row["target"] == Value::Null), "{rows:#?}");
    // Neither the name of a procedure nor a request's id brings foreign text into the log.
    root.mutate("no%0D%0Asuch", &json!({})).assert_status(404);
    let headers = [("x-request-id", "a b"), ("content-type", "application/json")];
    root.send(
        "POST",
        "/api/trpc/app.delete",
        &headers,
        Some(json!({"id": MISSING}).to_string().as_bytes()),
    );
    let last = &new_rows(&root, before)[rows.len()..];
    assert_eq!(last.len(), 1, "{last:#?}");
    let id = last[0]["requestId"].as_str().unwrap();
    assert!(
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
}

#[test]
fn a_requests_id_is_what_a_trusted_proxy_says_and_no_other_client() {
    let given = "00000000-0000-7000-8000-000000000000";
    for (proxies, is_taken) in [
        (None, false),
        (Some("192.0.2.1"), false),
        (Some("127.0.0.0/8"), true),
    ] {
        let mut builder = Builder::default();
        if let Some(proxies) = proxies {
            builder = builder.environment("PORTICO_TRUSTED_PROXIES", proxies);
        }
        let server = builder.start();
        let root = administrator(&server);
        let before = last_number(&root);
        let headers = [("x-request-id", given), ("content-type", "application/json")];
        let app = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
        let answer = root.send("POST", "/api/apps", &headers, Some(app.as_bytes()));
        let id = answer
            .assert_status(200)
            .header("x-request-id")
            .expect("an id")
            .to_owned();
        assert_eq!(id == given, is_taken, "{proxies:?}: {id}");
        assert_eq!(new_rows(&root, before)[0]["requestId"], id.as_str());
        // A page, and what it calls, has one id too.
        let page = root.send("GET", "/sign-in", &[("x-request-id", given)], None);
        assert_eq!(page.header("x-request-id") == Some(given), is_taken, "{page}");
    }
}

#[test]
fn filters_go_together_and_pages_follow_each_other() {
    let server = Portico::start();
    let root = administrator(&server);
    let alice = root.user_with("alice", "app-create");
    for number in 0..7 {
        alice.app(&format!("app {number}"));
        root.app("other");
        alice.mutate("app.delete", &json!({"id": MISSING}));
    }
    let of_alice = |more: Value| {
        let mut filter = json!({"actorId": alice.id});
        filter
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        rows_where(&root, &filter)
    };
    assert_eq!(of_alice(json!({"procedure": "app.create"})).len(), 7);
    assert_eq!(
        of_alice(json!({"procedure": "app.create", "outcome": "OK"})).len(),
        7
    );
    assert_eq!(of_alice(json!({"outcome": "CONFLICT"})).len(), 0);
    let refused = of_alice(json!({"outcome": "FORBIDDEN"}));
    assert_eq!(
        refused
            .iter()
            .filter_map(|row| row["times"].as_u64())
            .sum::<u64>(),
        7
    );
    assert_eq!(rows_where(&root, &json!({"procedure": "app.create"})).len(), 14);
    let all = rows(&root);
    let page = |page: u32| {
        root.query("audit.getPaginated", &json!({"page": page, "pageSize": 2}))
            .data()["items"]
            .clone()
    };
    assert_eq!(
        [page(1), page(2)].map(|page| page[0].clone()),
        [all[0].clone(), all[2].clone()]
    );
    assert_eq!(page(i32::MAX as u32), json!([]));
}

#[test]
fn commands_on_the_data_are_the_operators() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let id = root.user_id.clone();
    server.stop();
    let folder = tempfile::tempdir().unwrap();
    let (backup, document) = (folder.path().join("backup.db"), folder.path().join("home.yaml"));
    std::fs::write(&document, "apps: [{name: Wiki}]\n").unwrap();
    let data = server.data();
    let portico = |arguments: &[&str]| {
        let mut command = command();
        run(command.args(arguments).arg("--data").arg(&data), "")
    };
    portico(&["recover", "root"]).succeeded();
    portico(&["apply", document.to_str().unwrap()]).succeeded();
    portico(&["call", "app.delete", "{}"]).failed();
    portico(&[
        "call",
        "app.delete",
        &json!({"id": MISSING}).to_string(),
        "--user",
        "root",
    ])
    .succeeded();
    portico(&["backup", backup.to_str().unwrap()]).succeeded();
    portico(&["restore", backup.to_str().unwrap(), "--force"]).succeeded();
    let page = r#"{"page": 1, "pageSize": 100}"#;
    let rows: Value =
        serde_json::from_str(&portico(&["call", "audit.getPaginated", page]).succeeded()).unwrap();
    let rows: Vec<_> = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .skip(2)
        .cloned()
        .collect();
    let said: Vec<_> = rows
        .iter()
        .map(|row| ["procedure", "authentication", "outcome"].map(|key| row[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        said,
        [
            // The password first: what fails after it leaves an account whose password no one knows.
            ["user.changePassword", "operator", "OK"],
            ["user.setDisabled", "operator", "OK"],
            ["state.apply", "operator", "OK"],
            ["app.delete", "operator", "BAD_REQUEST"],
            ["app.delete", "host", "OK"],
            ["restore", "operator", "OK"],
        ]
    );
    assert_eq!(rows[0]["target"], id.as_str());
    assert!(
        rows.iter()
            .all(|row| row["requestId"] == "command-line" && row["address"] == Value::Null)
    );
}
