//! What bad input gets: a clear error that names the field and the rule, never a 5xx (every
//! client of these tests holds that), and nothing written.

use std::path::Path;

use portico_tests::{
    Answer, Builder, Client, Fixtures, NO_INPUT, Portico, administrator, command, data_in, escape, raw, run,
};
use serde_json::json;

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

#[test]
fn a_script_url_hidden_by_a_tab_is_refused() {
    let server = Portico::start();
    let admin = administrator(&server);
    for href in [
        "java\tscript:alert(1)",
        "java\r\nscript:alert(1)",
        "\u{1}\tJAVA\tSCRIPT:alert(1)",
    ] {
        let app = json!({"name": "An app", "iconUrl": "/icon.svg", "href": href});
        admin.mutate("app.create", &app).assert_bad_field("href");
        admin.post("/api/apps", &app).assert_bad_field("href");
        let answer = admin.mutate("app.createMany", &json!([app]));
        assert!(
            answer.assert_refused(400, "BAD_REQUEST").text().contains("href"),
            "{answer}"
        );
    }
    assert!(admin.app_names().is_empty());
}

#[test]
fn a_new_username_shows_all_that_it_holds_and_an_app_may_hold_joiners() {
    let server = Portico::start();
    let account =
        |name: &str| json!({"username": name, "password": "long enough", "email": "a@b", "groupIds": []});
    let anonymous = server.anonymous();
    anonymous
        .mutate("user.initUser", &account("ro\u{202e}ot"))
        .assert_bad_field("username");
    let admin = administrator(&server);
    for hidden in ["\u{202e}", "\u{200d}"] {
        let name = format!("al{hidden}ice");
        let answer = admin.mutate("user.create", &account(&name));
        let error = answer.assert_bad_field("username").text();
        let found = format!("found U+{:04X}", u32::from(hidden.chars().next().expect("one")));
        assert!(error.contains(&found), "it says which: {error}");
        admin
            .post("/api/users", &account(&name))
            .assert_bad_field("username");
        let profile = json!({"id": admin.user_id, "name": name});
        admin
            .mutate("user.editProfile", &profile)
            .assert_bad_field("name");
        let document = json!({"users": [{"name": name, "provider": "ldap"}], "dryRun": true});
        let error = admin
            .mutate("state.apply", &document)
            .assert_refused(400, "BAD_REQUEST")
            .text();
        assert!(
            error.contains("users[0].name must not contain invisible"),
            "{error}"
        );
        let mut registration = account(&name);
        registration["inviteId"] = "any".into();
        registration["token"] = "any".into();
        anonymous
            .mutate("user.register", &registration)
            .assert_bad_field("username");
    }
    assert_eq!(admin.user_names(), ["root"]);

    let family = "\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f} می\u{200c}خواهم";
    let app = json!({"name": family, "iconUrl": "/icon.svg"});
    assert_eq!(admin.mutate("app.create", &app).data()["name"], family);
}

#[test]
fn script_and_html_urls_are_refused_as_icons() {
    let server = Portico::start();
    let admin = administrator(&server);
    let id = admin.app("An app");
    let engine = |icon: &str| json!({"name": "Wiki", "short": "w", "urlTemplate": "https://x.example/%s", "iconUrl": icon});
    for icon in [
        "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
    ] {
        let app = json!({"name": "Another app", "iconUrl": icon});
        admin.mutate("app.create", &app).assert_bad_field("iconUrl");
        admin.post("/api/apps", &app).assert_bad_field("iconUrl");
        let many = json!([{"name": "Good"}, app]);
        let error = admin
            .mutate("app.createMany", &many)
            .assert_refused(400, "BAD_REQUEST")
            .text();
        assert!(error.contains("[1].iconUrl"), "{error}");
        let change = json!({"id": id, "iconUrl": icon});
        admin.mutate("app.update", &change).assert_bad_field("iconUrl");
        admin
            .mutate("searchEngine.create", &engine(icon))
            .assert_bad_field("iconUrl");
        for (list, entry) in [("apps", app), ("searchEngines", engine(icon))] {
            let error = admin
                .mutate("state.apply", &json!({list: [entry]}))
                .assert_refused(400, "BAD_REQUEST")
                .text();
            assert!(error.contains(&format!("{list}[0].iconUrl")), "{error}");
        }
    }
    assert_eq!(admin.app_names(), ["An app"]);
    let image = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
    for icon in [image, "icons/relative.svg", "mdi:home"] {
        let change = json!({"id": id, "iconUrl": icon});
        admin.mutate("app.update", &change).assert_done();
        assert_eq!(
            admin.query("app.byId", &json!({"id": id})).data()["iconUrl"],
            icon
        );
    }
    admin.mutate("searchEngine.create", &engine(image)).data();
}

#[test]
fn a_batch_of_a_thousand_calls_is_refused_as_a_whole() {
    let server = Portico::start();
    let admin = administrator(&server);
    let queries = vec!["app.all"; 1_000].join(",");
    let answer = admin.get(&format!("/api/trpc/{queries}?batch=1&input=%7B%7D"));
    answer.assert_refused(400, "BAD_REQUEST");
    assert!(
        answer.error()["message"].to_string().contains("256"),
        "it says how many: {answer}"
    );

    let mutations = vec!["app.create"; 1_000].join(",");
    let app = json!({"name": "An app", "iconUrl": "/icon.svg"});
    let inputs: serde_json::Map<_, _> = (0..1_000).map(|index| (index.to_string(), app.clone())).collect();
    let answer = admin.post(&format!("/api/trpc/{mutations}?batch=1"), &inputs.into());
    answer.assert_refused(400, "BAD_REQUEST");
    assert!(answer.json().is_object(), "one error for all of them");
    assert!(admin.app_names().is_empty(), "none of them ran");
}

#[test]
fn a_key_that_is_there_twice_is_refused_by_its_name() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let app = r#"{"name": "One", "iconUrl": "/icon.svg", "n\u0061me": "Two"}"#;
    for path in ["/api/apps", "/api/trpc/app.create"] {
        let answer = admin.send_text("POST", path, app);
        let issues = answer.assert_bad_field("name").error()["issues"].clone();
        assert_eq!(issues.as_array().map(Vec::len), Some(1), "{answer}");
        assert_eq!(issues[0]["path"], json!(["name"]), "{answer}");
        assert!(
            issues[0]["message"].to_string().contains("more than once"),
            "{answer}"
        );
    }
    let named = |answer: &Answer, place: &str| {
        let message = answer.assert_refused(400, "BAD_REQUEST").error()["message"].to_string();
        assert!(
            message.contains(place) && message.contains("more than once"),
            "{answer}"
        );
    };
    named(
        &admin.send_text("POST", "/api/trpc/app.createMany", &format!("[{app}]")),
        "[0].name",
    );
    let wrapped = format!(r#"{{"json": {app}}}"#);
    named(
        &admin.send_text("POST", "/api/trpc/app.create", &wrapped),
        "json.name",
    );
    // Unknown keys count as well: a program in front of the service may read them.
    let unknown = r#"{"name": "One", "iconUrl": "/icon.svg", "more": {"x": 1, "x": 1}}"#;
    named(&admin.send_text("POST", "/api/apps", unknown), "more.x");
    let sign_in = r#"{"username": "root", "password": "x", "password": "y"}"#;
    named(
        &server.anonymous().send_text("POST", "/api/auth/sign-in", sign_in),
        "password",
    );
    let query = escape(r#"{"query": "", "query": ""}"#);
    named(
        &admin.get(&format!("/api/trpc/app.search?input={query}")),
        "query",
    );

    let input = escape(r#"{"query": ""}"#);
    for twice in [format!("input={input}&input={input}"), "batch=1&batch=1".into()] {
        let answer = admin.get(&format!("/api/trpc/app.search?{twice}"));
        assert!(
            answer.assert_refused(400, "BAD_REQUEST").error()["message"]
                .to_string()
                .contains("more than once")
        );
    }

    // In a batch the whole text cannot be read, so every call is refused.
    let batch = format!(r#"{{"0": {app}, "1": {{"name": "Three", "iconUrl": "/icon.svg"}}}}"#);
    let answer = admin.send_text("POST", "/api/trpc/app.create,app.create?batch=1", &batch);
    answer.assert_status(400);
    let errors = answer.json();
    assert_eq!(errors.as_array().map(Vec::len), Some(2), "{answer}");
    for error in errors.as_array().expect("a list") {
        let error = &error["error"];
        assert_eq!(error["data"]["code"], "BAD_REQUEST", "{answer}");
        assert_eq!(error["issues"][0]["path"], json!(["0", "name"]), "{answer}");
    }
    let inputs = escape(r#"{"0": {"query": ""}, "0": {"query": "x"}}"#);
    let answer = admin.get(&format!("/api/trpc/app.search,app.search?batch=1&input={inputs}"));
    assert_eq!(
        answer.assert_status(400).json()[1]["error"]["issues"][0]["path"],
        json!(["0"])
    );
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
    let server = Portico::start();
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
    ] {
        for encoding in ["gzip", "br", "identity, deflate", "x"] {
            let answer = ask(path, encoding);
            answer.assert_refused(415, "UNSUPPORTED_MEDIA_TYPE");
            assert_eq!(answer.header("accept-encoding"), Some("identity"));
            assert!(answer.text().contains("Content-Encoding"), "{answer}");
        }
    }
    assert!(admin.app_names().is_empty());
    ask("/api/apps", "identity").assert_status(200);
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
    for length in [0, 4, 8, 1_000, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&file, &bytes[..length]).expect("write the file");
        let text = refuse_to_start(&data_in(&folder), Some(&file));
        assert!(text.contains("truncated.wasm"), "the file is named:\n{text}");
    }
    let missing = folder.path().join("missing.wasm");
    let text = refuse_to_start(&data_in(&folder), Some(&missing));
    assert!(text.contains("missing.wasm"), "the file is named:\n{text}");
    std::fs::write(&file, "not a component").expect("write the file");
    let text = refuse_to_start(&data_in(&folder), Some(&file));
    assert!(text.contains("truncated.wasm"), "the file is named:\n{text}");

    let server = Builder::default()
        .argument("--component")
        .argument(whole.to_str().expect("a text"))
        .start();
    server.anonymous().query("onboard.currentStep", &NO_INPUT).data();
}

#[test]
fn a_data_directory_that_cannot_be_written_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").expect("write the file");
    // Permissions do not bind root, so these are places where not even root can make a directory.
    for data in [
        file.join("data"),
        file,
        Path::new("/proc/portico-data").to_owned(),
    ] {
        let text = refuse_to_start(&data, None);
        assert!(
            text.contains(data.to_str().expect("a text")),
            "the directory is named:\n{text}"
        );
    }
}
