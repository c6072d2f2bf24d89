//! The REST endpoints: shapes, statuses, and the edges of HTTP.

use std::{io::Write as _, thread::sleep, time::Duration};

use portico_tests::{Client, Fixtures, MISSING, PASSWORD, Portico, administrator, command, raw, run};
use serde_json::{Value, json};

/// The caller is authenticated before the body arrives; what the search reads must not be that old.
#[test]
fn a_search_whose_body_comes_late_finds_what_was_created_meanwhile() {
    let server = Portico::start();
    let admin = administrator(&server);
    let bearer = admin.bearer().authorization();
    let headers = [("authorization", bearer.as_str())];
    let body = r#"{"query": "alice"}"#;
    let mut stream = raw::send_head(&server.address(), "/api/users/search", &headers, body);
    admin.user("alice");
    stream.write_all(body.as_bytes()).expect("send");
    let found = raw::read_answer(&mut stream, body.as_bytes());
    assert_eq!(found.assert_status(200).json()[0]["name"], "alice");
}

/// Access is checked again once a call has waited for a second.
#[test]
fn a_permission_that_is_lost_while_the_body_arrives_permits_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    let group = admin.group("helpers", &["admin"]);
    let helper = admin.user_in("helper", &[&group]);
    let membership = json!({"groupId": group, "userId": helper.id});
    let credentials = helper.key.credentials();
    let headers: Vec<_> = credentials
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let calls = [
        ("/api/users/search", r#"{"query": "alice"}"#),
        ("/api/trpc/group.createGroup", r#"{"name": "late"}"#),
    ];
    let streams = calls.map(|(path, body)| raw::send_head(&server.address(), path, &headers, body));
    admin.mutate("group.removeMember", &membership).assert_done();
    sleep(Duration::from_millis(1100));
    for (mut stream, (_, body)) in streams.into_iter().zip(calls) {
        stream.write_all(body.as_bytes()).expect("send");
        let refused = raw::read_answer(&mut stream, body.as_bytes());
        refused.assert_refused(403, "FORBIDDEN");
    }
    let groups = admin.query("group.getAll", &json!(null)).data();
    assert!(!groups.to_string().contains("late"), "{groups}");
}

#[test]
fn users_are_managed_by_rest() {
    let server = Portico::start();
    let admin = administrator(&server);
    let account =
        json!({"username": "Alice", "password": PASSWORD, "email": "a@example.com", "groupIds": []});
    let created = admin.post("/api/users", &account).assert_status(200).json();
    let id = created["id"].as_str().expect("an id");
    assert_eq!(created, json!({"id": id}));
    admin.post("/api/users", &account).assert_refused(409, "CONFLICT");
    let alice =
        json!({"id": id, "name": "alice", "email": "a@example.com", "emailVerified": null, "image": null});
    assert_eq!(admin.get("/api/users").json()[0], alice);
    // Everyone may choose from a list of users, so it has no emails.
    let alice = json!({"id": id, "name": "alice", "image": null});
    let root = json!({"id": admin.user_id, "name": "root", "image": null});
    assert_eq!(admin.get("/api/users/selectable").json(), json!([alice, root]));
    let query = json!({"query": " ALI\n", "limit": 5});
    let found = admin.post("/api/users/search", &query).assert_status(200).json();
    let alice = json!({"id": id, "name": "alice", "email": "a@example.com", "image": null});
    assert_eq!(found, json!([alice]));

    let path = format!("/api/users/{id}");
    let image = json!({"userId": id, "image": "data:image/png;base64,iVBORw0KGgoA"});
    admin.put("/api/users/profileImage", &image).assert_empty();
    let profile = json!({"id": id, "name": "alicia", "email": "b@example.com"});
    admin.put("/api/users/profile", &profile).assert_empty();
    let seen = admin.get(&path).assert_status(200).json();
    assert_eq!(
        (&seen["name"], &seen["email"], &seen["image"]),
        (&profile["name"], &profile["email"], &image["image"])
    );
    admin.delete(&path).assert_empty();
    admin.get(&path).assert_refused(404, "NOT_FOUND");
    admin.delete(&path).assert_empty();
    // `search` in this path is the route of another method, and no id.
    admin.get("/api/users/search").assert_status(405);
}

#[test]
fn apps_are_managed_by_rest() {
    let server = Portico::start();
    let admin = administrator(&server);
    let input = json!({
        "name": "Jellyfin", "description": null, "iconUrl": "/j.svg", "href": "https://j.example", "pingUrl": "",
    });
    let created = admin.post("/api/apps", &input).assert_status(200).json();
    let id = created["appId"].as_str().expect("an id").to_owned();
    let mut app = json!({
        "id": id, "name": "Jellyfin", "description": null, "iconUrl": "/j.svg", "href": "https://j.example",
        "pingUrl": null,
    });
    let path = format!("/api/apps/{id}");
    assert_eq!(server.anonymous().get(&path).assert_status(200).json(), app);
    assert_eq!(admin.get("/api/apps").json(), json!([app]));
    let page = |search: &str| {
        let path = format!("/api/apps/paginated?page=1&pageSize=10&search={search}");
        admin.get(&path).json()
    };
    assert_eq!(page("%20JELLY%20"), json!({"items": [app], "totalCount": 1}));
    assert_eq!(page("kodi"), json!({"items": [], "totalCount": 0}));

    // The path wins over the body, and the body may leave the id out.
    admin
        .patch(&path, &json!({"id": MISSING, "name": "Kodi"}))
        .assert_empty();
    admin.patch(&path, &json!({"href": null})).assert_empty();
    app["name"] = "Kodi".into();
    app["href"] = Value::Null;
    assert_eq!(admin.get(&path).json(), app);
    let missing = format!("/api/apps/{MISSING}");
    admin
        .patch(&missing, &json!({"id": id, "name": "x"}))
        .assert_refused(404, "NOT_FOUND");
    admin.delete(&format!("{missing}?id={id}")).assert_empty();
    assert_eq!(admin.get(&path).json(), app);
    admin.delete(&path).assert_empty();
    admin.get(&path).assert_refused(404, "NOT_FOUND");
    admin.delete(&path).assert_empty();
}

#[test]
fn numbers_and_booleans_in_a_query_string_have_one_form() {
    let server = Portico::start();
    let admin = administrator(&server);
    admin.app("a b+c&d");
    let selectable = "/api/users/selectable?excludeExternalProviders";
    admin.get(&format!("{selectable}=false")).assert_status(200);
    for flag in ["TRUE", "1", ""] {
        admin
            .get(&format!("{selectable}={flag}"))
            .assert_bad_field("excludeExternalProviders");
    }
    for limit in ["5.0", "%205", "five"] {
        admin
            .get(&format!("/api/apps/search?query=a&limit={limit}"))
            .assert_bad_field("limit");
    }
    admin
        .get("/api/apps/paginated?page=1")
        .assert_bad_field("pageSize");
    // A repeated key has no meaning; an unknown one no effect.
    admin
        .get("/api/apps/search?query=a&query=b")
        .assert_bad_field("query");
    admin.get("/api/apps/search?query=a&unknown=1").assert_status(200);

    let found = |query: &str| {
        admin
            .get(&format!("/api/apps/search?query={query}"))
            .json()
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(found("A%20B%2Bc%26d"), Some(1));
    assert_eq!(found("a+b"), Some(1), "a plus is a blank");
    assert_eq!(found(""), Some(1));
    admin
        .get("/api/apps/search?query=%ff%fe")
        .assert_refused(400, "BAD_REQUEST");
}

#[test]
fn a_body_must_be_json_and_its_types_are_not_coerced() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = r#"{"name": "An app", "iconUrl": "/icon.svg"}"#;
    let send =
        |kind: &[(&str, &str)], body: &str| admin.send("POST", "/api/apps", kind, Some(body.as_bytes()));
    send(&[("content-type", "application/json; charset=utf-8")], app).assert_status(200);
    send(&[("content-type", "Application/JSON")], app).assert_status(200);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-patch+json",
        "",
    ] {
        send(&[("content-type", kind)], app).assert_refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    send(&[], app).assert_refused(415, "UNSUPPORTED_MEDIA_TYPE");
    for bad in [
        "",
        "{",
        "[]",
        "null",
        "5",
        "\"text\"",
        "{\"name\": \"x\",}",
        "{} {}",
        "{\"name\": NaN}",
    ] {
        admin
            .send_text("POST", "/api/apps", bad)
            .assert_refused(400, "BAD_REQUEST");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    admin
        .send_text("POST", "/api/apps", &deep)
        .assert_refused(400, "BAD_REQUEST");
    let kind = [("content-type", "application/json")];
    let not_utf8 = b"{\"name\": \"\xff\xfe\", \"iconUrl\": \"/i.svg\"}";
    admin
        .send("POST", "/api/apps", &kind, Some(not_utf8))
        .assert_refused(400, "BAD_REQUEST");
    admin
        .post("/api/users/search", &json!({"query": "", "limit": "5"}))
        .assert_bad_field("limit");
    assert_eq!(
        admin.app_names().len(),
        2,
        "nothing was written for what was refused"
    );
}

#[test]
fn an_error_has_one_shape() {
    let server = Portico::start();
    let admin = administrator(&server);
    let not_found = admin.get(&format!("/api/apps/{MISSING}"));
    let body = not_found.json();
    let message = body["message"].as_str().expect("a message");
    assert_eq!(
        body,
        json!({
            "message": message, "code": "NOT_FOUND",
            "data": {"code": "NOT_FOUND", "httpStatus": 404, "path": "app.byId", "zodError": null},
        })
    );
    let bad = admin.post("/api/apps", &json!({"name": "", "iconUrl": "/icon.svg"}));
    let body = bad.assert_bad_field("name").json();
    assert_eq!(body["code"], "BAD_REQUEST");
    assert_eq!(body["data"]["path"], "app.create");
    assert_eq!(body["data"]["zodError"]["formErrors"], json!([]));
    assert_eq!(
        body["data"]["zodError"]["fieldErrors"]
            .as_object()
            .map(serde_json::Map::len),
        Some(1)
    );
    let issues = body["issues"].as_array().expect("the issues");
    assert_eq!(issues.len(), 1, "{body}");
    assert_eq!(issues[0]["path"], json!(["name"]));
    assert_eq!(
        issues[0]["message"],
        body["data"]["zodError"]["fieldErrors"]["name"][0]
    );
    // The same data as in the envelope of a procedure call.
    let same = admin.mutate("app.create", &json!({"name": "", "iconUrl": "/icon.svg"}));
    assert_eq!(same.error()["data"], body["data"]);
    let anonymous = server.anonymous().get("/api/users");
    let anonymous = anonymous.assert_refused(401, "UNAUTHORIZED").json();
    assert_eq!(
        (&anonymous["code"], &anonymous["data"]["zodError"]),
        (&json!("UNAUTHORIZED"), &Value::Null)
    );
}

#[test]
fn a_wrong_method_is_told_the_right_ones_and_an_unknown_path_is_not_found() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    let allowed = |method: &str, path: &str| {
        let answer = anonymous.send(method, path, &[("content-type", "application/json")], Some(b"{}"));
        answer.assert_refused(405, "METHOD_NOT_SUPPORTED");
        let allow = answer
            .header("allow")
            .unwrap_or_else(|| panic!("no Allow: {answer}"));
        let mut methods: Vec<_> = allow
            .split(',')
            .map(str::trim)
            .filter(|method| *method != "HEAD")
            .collect();
        methods.sort_unstable();
        methods.join(" ")
    };
    assert_eq!(allowed("PUT", "/api/users"), "GET POST");
    assert_eq!(allowed("PATCH", "/api/users/profile"), "PUT");
    assert_eq!(allowed("POST", "/api/users/selectable"), "GET");
    assert_eq!(allowed("POST", "/api/users/some-id"), "DELETE GET");
    assert_eq!(allowed("DELETE", "/api/apps"), "GET POST");
    assert_eq!(allowed("POST", "/api/apps/some-id"), "DELETE GET PATCH");
    assert_eq!(allowed("POST", "/api/apps/search"), "GET");
    assert_eq!(allowed("DELETE", "/api/invites"), "GET POST");
    assert_eq!(allowed("PUT", "/api/auth/sign-in"), "POST");
    for path in [
        "/api/nope",
        "/api",
        "/api/",
        "/api/users/a/b",
        "/api/apps/a/b",
        "/api/v1/apps",
        "/api/Users2",
        "/api/auth/nope",
        "/api/health/nope",
    ] {
        anonymous.get(path).assert_refused(404, "NOT_FOUND");
    }
    // A broken escape is the client's fault in any case.
    assert!(anonymous.get("/api/apps/%").status >= 400);
    // An id is any text, and one that holds a slash is still one id.
    anonymous.get("/api/apps/a%2Fb").assert_refused(404, "NOT_FOUND");
    anonymous
        .get("/api/apps/..%2f..%2fetc%2fpasswd")
        .assert_refused(404, "NOT_FOUND");
}

#[test]
fn requests_have_limits() {
    let server = Portico::start();
    let admin = administrator(&server);
    let cookie = [("cookie", admin.cookie.as_str())];
    let body =
        json!({"name": "An app", "iconUrl": "/icon.svg", "unknown": "x".repeat(1_100_000)}).to_string();
    let request = raw::with_json("POST", "/api/apps", &cookie, &body);
    let answer = raw::send(&server.address(), request.as_bytes());
    answer.assert_refused(413, "PAYLOAD_TOO_LARGE");
    // The same without a length that says so beforehand.
    let headers = [
        cookie[0],
        ("content-type", "application/json"),
        ("transfer-encoding", "chunked"),
    ];
    let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let request = raw::head("POST", "/api/apps", &headers) + &chunk;
    let answer = raw::send(&server.address(), request.as_bytes());
    answer.assert_refused(413, "PAYLOAD_TOO_LARGE");
    // createMany may be larger.
    let apps = vec![json!({"name": "x", "unknown": "x".repeat(2_000)}); 1_000];
    admin.mutate("app.createMany", &json!(apps)).assert_status(200);
    assert_eq!(admin.app_names().len(), 1_000);
}

#[test]
fn anyone_can_read_liveness_and_readiness() {
    let server = Portico::start();
    let live = server.anonymous().get("/api/health/live");
    assert_eq!(live.assert_status(200).json(), json!({"status": "ok"}));
    let ready = server.anonymous().get("/api/health/ready");
    let ready = ready.assert_status(200).json();
    assert_eq!(ready["status"], "ok");
    // The one inside the binary.
    let inspected = run(command().args(["inspect", "--json"]), "").succeeded();
    let inspected: Value = serde_json::from_str(&inspected).expect("JSON");
    assert_eq!(ready["component"]["sha256"], inspected["sha256"]);
    let contract = inspected["contract"].as_str().expect("a contract");
    let version = ready["component"]["version"].as_str().expect("a version");
    assert!(contract.ends_with(&format!("@{version}")), "{contract} {version}");
}
