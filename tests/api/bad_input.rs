//! What bad input gets: a clear error that names the field and the rule, never a 5xx (every
//! client of these tests holds that), and nothing written.

use std::path::Path;

use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, Portico, administrator, command, data_in, escape, raw, run,
};
use serde_json::{Value, json};

#[test]
fn a_name_with_a_nul_is_refused() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = json!({"name": "a\u{0}b", "iconUrl": "/icon.svg"});
    admin.mutate("app.create", &app).assert_bad_field("name");
    admin.post("/api/apps", &app).assert_bad_field("name");
    let user = json!({"username": "ali\u{0}ce", "password": "long enough", "groupIds": []});
    admin.post("/api/users", &user).assert_bad_field("username");
    admin
        .mutate("group.createGroup", &json!({"name": "a\u{0}b"}))
        .assert_bad_field("name");
    let board = json!({"name": "a\u{0}b", "isPublic": true, "items": []});
    admin.mutate("board.create", &board).assert_bad_field("name");
    // Where a text is only compared, no record matches it.
    assert_eq!(admin.query("app.search", &json!({"query": "\u{0}"})).status, 200);
    admin.get("/api/apps/a%00b").assert_refused(404, "NOT_FOUND");
    admin.get("/api/users/a%00b").assert_refused(404, "NOT_FOUND");
    // What the host itself looks for is refused.
    let refused = admin.get("/api/boards/a%00b");
    refused.assert_bad_field("id");
    admin
        .query(
            "audit.getPaginated",
            &json!({"page": 1, "pageSize": 10, "actorId": "\u{0}"}),
        )
        .assert_bad_field("actorId");
    let shares = json!({"boardId": "b", "users": ["\u{0}"], "groups": []});
    admin.mutate("board.share", &shares).assert_bad_field("users");
    assert!(admin.app_names().is_empty() && admin.user_names() == ["root"]);
}

/// Which links and icons these are is tested in `component/src/validate`.
#[test]
fn script_and_html_urls_are_refused_wherever_they_come_in() {
    let server = Portico::start();
    let admin = administrator(&server);
    let id = admin.app("An app");
    let engine = |icon: &str| json!({"name": "Wiki", "short": "w", "urlTemplate": "https://x.example/%s", "iconUrl": icon});
    let refused_at = |procedure: &str, input: &Value, place: &str| {
        let answer = admin.mutate(procedure, input);
        let error = answer.assert_refused(400, "BAD_REQUEST").text();
        assert!(error.contains(place), "{error}");
    };
    for (field, url) in [
        ("href", "java\tscript:alert(1)"),
        ("iconUrl", "java\tscript:alert(1)"),
        ("iconUrl", "data:text/html,<script>alert(1)</script>"),
    ] {
        let mut app = json!({"name": "Another app", "iconUrl": "/icon.svg"});
        app[field] = url.into();
        admin.post("/api/apps", &app).assert_bad_field(field);
        admin.mutate("app.create", &app).assert_bad_field(field);
        let change = json!({"id": id, field: url});
        admin.mutate("app.update", &change).assert_bad_field(field);
        let many = json!([{"name": "Good"}, app]);
        refused_at("app.createMany", &many, &format!("[1].{field}"));
        refused_at(
            "state.apply",
            &json!({"apps": [app]}),
            &format!("apps[0].{field}"),
        );
        if field == "iconUrl" {
            refused_at("searchEngine.create", &engine(url), field);
            let document = json!({"searchEngines": [engine(url)]});
            refused_at("state.apply", &document, "searchEngines[0].iconUrl");
        }
    }
    assert_eq!(admin.app_names(), ["An app"]);
    let image = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
    admin.mutate("searchEngine.create", &engine(image)).data();
}

#[test]
fn a_new_username_shows_all_that_it_holds_and_an_app_may_hold_joiners() {
    let server = Portico::start();
    let account =
        |name: &str| json!({"username": name, "password": "long enough", "email": "a@b", "groupIds": []});
    let anonymous = server.anonymous();
    let hidden = "al\u{202e}ice";
    anonymous
        .mutate("user.initUser", &account(hidden))
        .assert_bad_field("username");
    let admin = administrator(&server);
    let answer = admin.mutate("user.create", &account(hidden));
    let error = answer.assert_bad_field("username").text();
    assert!(error.contains("found U+202E"), "it says which: {error}");
    admin
        .post("/api/users", &account(hidden))
        .assert_bad_field("username");
    let profile = json!({"id": admin.user_id, "name": hidden});
    admin
        .mutate("user.editProfile", &profile)
        .assert_bad_field("name");
    let document = json!({"users": [{"name": hidden, "provider": "ldap"}], "dryRun": true});
    let answer = admin.mutate("state.apply", &document);
    let error = answer.assert_refused(400, "BAD_REQUEST").text();
    let rule = "users[0].name must not contain invisible";
    assert!(error.contains(rule), "{error}");
    let mut registration = account(hidden);
    registration["inviteId"] = "any".into();
    registration["token"] = "any".into();
    anonymous
        .mutate("user.register", &registration)
        .assert_bad_field("username");
    assert_eq!(admin.user_names(), ["root"]);

    let family = "\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f} می\u{200c}خواهم";
    let app = json!({"name": family, "iconUrl": "/icon.svg"});
    assert_eq!(admin.mutate("app.create", &app).data()["name"], family);
}

#[test]
fn new_names_and_descriptions_keep_the_direction_of_the_text_around_them() {
    let server = Portico::start();
    let admin = administrator(&server);
    let said = |answer: &Answer, field: &str| {
        let text = answer.assert_bad_field(field).text();
        assert!(text.contains("found U+202E"), "{text}");
    };
    let changing = "a\u{202e}b";
    let engine = |name: &str, description: &str| {
        json!({"name": name, "short": "w", "urlTemplate": "https://x.example/%s", "iconUrl": "/w.svg",
            "description": description})
    };
    for (procedure, input, field) in [
        (
            "app.create",
            json!({"name": changing, "iconUrl": "/a.svg"}),
            "name",
        ),
        (
            "app.create",
            json!({"name": "a", "iconUrl": "/a.svg", "description": changing}),
            "description",
        ),
        ("group.createGroup", json!({"name": changing}), "name"),
        (
            "board.create",
            json!({"name": changing, "isPublic": false, "items": []}),
            "name",
        ),
        ("searchEngine.create", engine(changing, ""), "name"),
        ("searchEngine.create", engine("Wiki", changing), "description"),
        ("apiKeys.create", json!({"name": changing}), "name"),
    ] {
        said(&admin.mutate(procedure, &input), field);
    }
    let app = json!({"name": "a", "iconUrl": "/a.svg", "description": changing});
    said(&admin.post("/api/apps", &app), "description");
    // Hebrew and Arabic need the marks.
    let marked = "מדיה\u{200f} (NAS)\u{200e}";
    let app = json!({"name": marked, "iconUrl": "/a.svg"});
    assert_eq!(admin.mutate("app.create", &app).data()["name"], marked);
}

#[test]
fn a_link_without_its_scheme_is_refused_with_the_one_that_was_meant() {
    let server = Portico::start();
    let admin = administrator(&server);
    let app = json!({"name": "NAS", "iconUrl": "/nas.svg", "href": "nas:5000"});
    for answer in [admin.mutate("app.create", &app), admin.post("/api/apps", &app)] {
        let text = answer.assert_bad_field("href").text();
        assert!(text.contains("did you mean http://nas:5000?"), "{text}");
    }
}

/// How it is found is tested in `host/service/src/json.rs`.
#[test]
fn a_key_that_is_there_twice_is_refused_by_its_name() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let app = r#"{"name": "One", "iconUrl": "/icon.svg", "n\u0061me": "Two"}"#;
    let query = escape(r#"{"query": "", "query": ""}"#);
    let sign_in = r#"{"username": "root", "password": "x", "password": "y"}"#;
    for (path, body, place) in [
        ("/api/apps", app, "name"),
        ("/api/trpc/app.create", app, "name"),
        ("/api/trpc/app.createMany", &format!("[{app}]"), "[0].name"),
        (
            "/api/trpc/app.create",
            &format!(r#"{{"json": {app}}}"#),
            "json.name",
        ),
        ("/api/auth/sign-in", sign_in, "password"),
        (&format!("/api/trpc/app.search?input={query}"), "", "query"),
        ("/api/trpc/app.all?input=1&input=1", "", "input"),
    ] {
        let answer = match body {
            "" => admin.get(path),
            body => admin.send_text("POST", path, body),
        };
        let message = answer.assert_refused(400, "BAD_REQUEST").error()["message"].to_string();
        assert!(
            message.contains(place) && message.contains("more than once"),
            "{answer}"
        );
    }
    // In a batch the whole text cannot be read, so every call is refused.
    let batch = format!(r#"{{"0": {app}, "1": {{"name": "Three", "iconUrl": "/icon.svg"}}}}"#);
    let answer = admin.send_text("POST", "/api/trpc/app.create,app.create?batch=1", &batch);
    let errors = answer.assert_status(400).json();
    for call in 0..2 {
        let issue = &errors[call]["error"]["issues"][0];
        assert_eq!(issue["path"], json!(["0", "name"]), "{answer}");
    }
    assert!(admin.app_names().is_empty());

    server.stop().succeeded();
    let mut call = command();
    call.args(["call", "app.create", app, "--data"])
        .arg(server.data());
    let text = run(&mut call, "").failed();
    assert!(text.contains("name appears more than once"), "{text}");
}

#[test]
fn a_body_that_is_encoded_is_refused() {
    // The layer for clients of Homarr has routes of its own.
    let server = Builder::default().argument("--compat-homarr").start();
    let admin = administrator(&server);
    let app = br#"{"name": "An app", "iconUrl": "/icon.svg"}"#;
    let ask = |path: &str, encoding: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("content-encoding", encoding),
        ];
        admin.send("POST", path, &headers, Some(app))
    };
    for path in [
        "/api/apps",
        "/api/trpc/app.create",
        "/api/trpc/app.create?batch=1",
        "/api/auth/sign-in",
        "/api/boards",
        "/api/invites",
        "/api/auth/callback/credentials",
        "/api/auth/signout",
        "/sign-in",
    ] {
        let answer = ask(path, "gzip");
        answer.assert_refused(415, "UNSUPPORTED_MEDIA_TYPE");
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
        assert!(answer.text().contains("Content-Encoding"), "{answer}");
    }
    assert_eq!(admin.get("/api/apps").json(), json!([]));
    ask("/api/apps", "identity").assert_status(200);
    // Without a body there is nothing to decode: a proxy that asks the gate sends the headers of a client and not its body.
    for length in [None, Some("0")] {
        let mut headers = vec![("content-encoding", "gzip")];
        headers.extend(length.map(|length| ("content-length", length)));
        admin.send("GET", "/api/apps", &headers, None).assert_status(200);
    }
}

#[test]
fn a_request_of_http_1_1_names_one_host() {
    let server = Portico::start();
    let ask = |line: &str, hosts: &str| {
        let request = format!("{line}\r\n{hosts}connection: close\r\n\r\n");
        raw::send(&server.address(), request.as_bytes())
    };
    for path in ["/api/health/live", "/api/trpc/app.all", "/api/none"] {
        for hosts in [
            "",
            "host: localhost\r\nhost: localhost\r\n",
            "host: a\r\nhost: b\r\n",
        ] {
            let answer = ask(&format!("GET {path} HTTP/1.1"), hosts);
            answer.assert_refused(400, "BAD_REQUEST");
            assert!(answer.text().contains("header Host"), "{answer}");
        }
    }
    ask("GET /api/health/live HTTP/1.1", "host: anything\r\n").assert_status(200);
    // Before 1.1 there was none.
    ask("GET /api/health/live HTTP/1.0", "").assert_status(200);
}

#[test]
fn a_body_in_another_transfer_coding_than_chunked_once_is_refused() {
    let server = Builder::default().argument("--compat-homarr").start();
    let admin = administrator(&server);
    let body = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let send = |path: &str, codings: &[&str]| {
        let mut headers = vec![
            ("cookie", admin.cookie.as_str()),
            ("content-type", "application/json"),
        ];
        headers.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
        let request = raw::head("POST", path, &headers) + &chunks;
        raw::send(&server.address(), request.as_bytes())
    };
    // Of the API, of Homarr, and of a page.
    for path in ["/api/trpc/app.create", "/api/apps", "/api/boards", "/sign-in"] {
        for codings in [
            &["chunked, chunked"][..],
            &["chunked", "chunked"],
            &["gzip, chunked"],
        ] {
            let answer = send(path, codings);
            answer.assert_refused(400, "BAD_REQUEST");
            assert!(answer.text().contains("Transfer-Encoding"), "{answer}");
        }
    }
    assert_eq!(admin.get("/api/apps").json(), json!([]), "nothing was written");
    send("/api/trpc/app.create", &["chunked"]).assert_status(200);
}

#[test]
fn a_body_that_was_cut_off_does_nothing() {
    let server = Portico::start();
    let admin = administrator(&server);
    let body = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
    let half = &body[..body.len() / 2];
    let cookie = [("cookie", admin.cookie.as_str())];
    for path in ["/api/apps", "/api/trpc/app.create"] {
        // Half of the JSON, complete as far as HTTP is concerned.
        let answer = admin.send_text("POST", path, half);
        answer.assert_refused(400, "BAD_REQUEST");
        // The connection ends before the body does, announced by its length or in chunks.
        let whole = raw::with_json("POST", path, &cookie, &body);
        let cut = &whole[..whole.len() - body.len() / 2];
        raw::send_and_close(&server.address(), cut.as_bytes()).assert_refused(400, "BAD_REQUEST");
        let headers = [
            cookie[0],
            ("content-type", "application/json"),
            ("transfer-encoding", "chunked"),
        ];
        // All of the JSON came, but not the end of the body.
        let cut = format!(
            "{}{:x}\r\n{body}\r\n",
            raw::head("POST", path, &headers),
            body.len()
        );
        raw::send_and_close(&server.address(), cut.as_bytes()).assert_refused(400, "BAD_REQUEST");
    }
    assert!(admin.app_names().is_empty(), "nothing was written");
}

/// Tries to start the service and gives what it says when it does not.
#[track_caller]
fn refuse_to_start(data: &Path, component: Option<&Path>) -> String {
    let mut command = command();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data);
    if let Some(component) = component {
        command.arg("--component").arg(component);
    }
    let text = run(&mut command, "").failed();
    assert!(
        !text.contains("portico listens on"),
        "it says that it listens:\n{text}"
    );
    text
}

#[test]
fn a_truncated_component_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("truncated.wasm");
    let whole = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../dist/portico.wasm"));
    let bytes = std::fs::read(whole).expect("the component, as it is built");
    for part in [&[][..], &bytes[..bytes.len() - 1], b"not a component"] {
        std::fs::write(&file, part).expect("write the file");
        let text = refuse_to_start(&data_in(&folder), Some(&file));
        assert!(text.contains("truncated.wasm"), "the file is named:\n{text}");
    }
    let missing = folder.path().join("missing.wasm");
    let text = refuse_to_start(&data_in(&folder), Some(&missing));
    assert!(text.contains("missing.wasm"), "the file is named:\n{text}");

    let server = Builder::default()
        .argument("--component")
        .argument(whole.to_str().expect("a text"))
        .start();
    server.anonymous().query("onboard.currentStep", &NO_INPUT).data();
}

#[test]
fn a_data_directory_that_cannot_be_written_is_refused_by_its_name() {
    // Permissions do not bind root, so this is a place where not even root can make a directory.
    let text = refuse_to_start(Path::new("/proc/portico-data"), None);
    assert!(text.contains("/proc/portico-data"), "it is named:\n{text}");
}
