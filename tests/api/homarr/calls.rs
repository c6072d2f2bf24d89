//! How procedure calls are wrapped: alone, in batches, in streams, and mixed with those of Portico.

use portico_tests::{Builder, Client, Fixtures, Portico, administrator, escape};
use serde_json::{Value, json};

use super::{read, with_administrator};

#[test]
fn a_query_without_input_is_wrapped_and_only_with_the_setting() {
    let server = Portico::start();
    let admin = administrator(&server);
    assert_eq!(
        admin.get("/api/trpc/app.all").json(),
        json!({"result": {"data": []}})
    );
    admin.get("/api/trpc/board.getAllBoards").assert_status(404);
    admin.get("/api/auth/csrf").assert_status(404);

    let (_server, admin, _) = with_administrator();
    for path in ["app.all", "app.all?", "app.all?input=", "app.all/"] {
        let answer = admin.get(&format!("/api/trpc/{path}"));
        assert_eq!(
            answer.assert_status(200).json(),
            json!({"result": {"data": {"json": []}}}),
            "{path}"
        );
    }
    // A date says that it is one.
    let users = admin.get("/api/trpc/user.getAll").json();
    assert_eq!(users["result"]["data"]["json"][0]["emailVerified"], Value::Null);
    // A refusal is wrapped as well, and names the path.
    let refused = admin.get("/api/trpc/app.byId").assert_status(400).json();
    assert_eq!(refused["error"]["json"]["data"]["path"], "app.byId");
    // A client that speaks plain JSON still gets plain JSON.
    let missing = admin.query("app.byId", &json!({"id": "x"}));
    assert_eq!(
        missing.assert_status(404).json()["error"]["data"]["code"],
        "NOT_FOUND"
    );
    // REST is never wrapped.
    assert_eq!(admin.get("/api/apps").json(), json!([]));
}

#[test]
fn json_is_read_as_portico_reads_it() {
    let (_server, admin, _) = with_administrator();
    let send = |method: &str, path: &str, kind: Option<&str>, body: &str| {
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        admin.send(method, path, &headers, Some(body.as_bytes()))
    };
    let json = Some("application/json");
    let twice = r#"{"name": "one", "name": "two", "columnCount": 8, "isPublic": false}"#;
    let path = escape(r#"{"json": {"a": 1, "a": 2}}"#);
    let batch = escape(r#"{"0": {"json": {"id": "x", "id": "y"}}}"#);
    for answer in [
        send("POST", "/api/boards", json, twice),
        send(
            "POST",
            "/api/trpc/board.createBoard",
            json,
            &format!("{{\"json\": {twice}}}"),
        ),
        admin.get(&format!("/api/trpc/info.getInfo?input={path}")),
        // Portico's own, to which the layer adds an input.
        admin.get(&format!("/api/trpc/app.byId,app.all?batch=1&input={batch}")),
        send(
            "POST",
            "/api/auth/callback/credentials",
            json,
            r#"{"name": "root", "password": "a", "password": "b"}"#,
        ),
    ] {
        assert!(
            answer.status == 400 || answer.text().contains("\"httpStatus\":400"),
            "{answer}"
        );
        assert!(answer.text().contains("appears more than once"), "{answer}");
    }
    let once = r#"{"name": "one", "columnCount": 8, "isPublic": false}"#;
    for kind in [None, Some("text/plain")] {
        send("POST", "/api/boards", kind, once).assert_status(415);
        send("POST", "/api/trpc/board.createBoard", kind, once).assert_status(415);
    }
    send("POST", "/api/boards", json, "[]").assert_status(400);
    let boards = admin.get("/api/boards").json();
    assert_eq!(boards, json!([]), "nothing was written");
}

#[test]
fn a_batch_of_calls_of_homarr_and_of_portico_is_answered_in_order() {
    let (_server, admin, _) = with_administrator();
    let batch = |names: &str, inputs: &Value| {
        let inputs = escape(&inputs.to_string());
        admin.get(&format!("/api/trpc/{names}?batch=1&input={inputs}"))
    };
    // Portico's own alone: also without any input.
    let bare = admin
        .get("/api/trpc/app.all,app.selectable?batch=1")
        .assert_status(200)
        .json();
    assert_eq!(
        bare,
        json!([{"result": {"data": {"json": []}}}, {"result": {"data": {"json": []}}}])
    );
    let some = batch("app.byId,app.all", &json!({"0": {"json": {"id": "x"}}}));
    let some = some.assert_status(207).json();
    assert_eq!(some[0]["error"]["json"]["data"]["code"], "NOT_FOUND");
    assert_eq!(some[1], json!({"result": {"data": {"json": []}}}));

    // Mixed with those of this layer.
    let user = json!({"json": {"userId": admin.user_id}});
    let names = "app.all,user.getTourStatus,app.byId,nope.nope,user.getById,user.getTourStatus";
    let mixed = batch(names, &json!({"2": {"json": {"id": "x"}}, "4": user}));
    let answers = mixed.assert_status(207).json();
    let tours = json!({"completedManageTour": false, "completedBoardTour": false});
    assert_eq!(answers[0]["result"]["data"]["json"], json!([]));
    assert_eq!(answers[1]["result"]["data"]["json"], tours);
    assert_eq!(answers[2]["error"]["json"]["data"]["path"], "app.byId");
    assert_eq!(
        answers[3]["error"]["json"]["message"],
        "No procedure found on path \"nope.nope\""
    );
    assert_eq!(answers[4]["result"]["data"]["json"]["ddgBangs"], true);
    assert_eq!(answers[5]["result"]["data"]["json"], tours);
    assert_eq!(answers.as_array().map(Vec::len), Some(6));

    // Mutations, some of them without output.
    let inputs = json!({
        "0": {"json": {"tour": "manage"}},
        "1": {"json": {"colorScheme": "light"}},
        "2": {"json": {"name": "batched"}},
    });
    let names = "user.completeTour,user.changeColorScheme,group.createGroup";
    let answers = admin
        .post(&format!("/api/trpc/{names}?batch=1"), &inputs)
        .assert_status(200)
        .json();
    let undefined = json!({"result": {"data": {"json": null, "meta": {"values": ["undefined"], "v": 1}}}});
    assert_eq!((&answers[0], &answers[1]), (&undefined, &undefined));
    assert!(answers[2]["result"]["data"]["json"].is_string());
}

#[test]
fn a_change_without_input_is_wrapped_however_the_client_says_that_there_is_none() {
    let (_server, admin, key) = with_administrator();
    let json = [("content-type", "application/json")];
    // hatlabs homarr.rs:120 sends no body; @trpc/client sends none, superjson's clients {"json":null}.
    for (headers, body) in [
        (&[][..], None),
        (&json[..], Some("")),
        (&json[..], Some("{}")),
        (&json[..], Some(" {\"json\": null} ")),
    ] {
        let send = |path: &str| admin.send("POST", path, headers, body.map(str::as_bytes));
        let made = read(&send("/api/trpc/apiKeys.create"));
        assert!(made["apiKey"].is_string(), "{body:?}: {made}");
        let none = send("/api/trpc/user.resetTours").assert_status(200).json();
        assert_eq!(none["result"]["data"]["meta"]["values"], json!(["undefined"]));
    }
    for body in [
        "",
        "{}",
        r#"{"0":{"json":null}}"#,
        r#"{"1":{},"0":{"json":null}}"#,
    ] {
        for names in ["apiKeys.create,apiKeys.create", "apiKeys.create,user.resetTours"] {
            let path = format!("/api/trpc/{names}?batch=1");
            let answers = key
                .send("POST", &path, &json, Some(body.as_bytes()))
                .assert_status(200)
                .json();
            assert!(
                answers[0]["result"]["data"]["json"]["apiKey"].is_string(),
                "{body}: {answers}"
            );
            assert!(
                answers[1]["result"]["data"].get("json").is_some(),
                "{body}: {answers}"
            );
        }
    }
    // As a query: in the target.
    for input in ["{}", r#"{"json":null}"#] {
        let answer = admin.get(&format!("/api/trpc/app.all?input={}", escape(input)));
        assert_eq!(read(&answer), json!([]), "{input}");
    }
    // A longer body, and one that is neither, are what they were.
    let long = format!(
        "{{\"expirationDate\": \"2999-01-01T00:00:00.000Z\", \"more\": \"{}\"}}",
        "x".repeat(40_000)
    );
    let made = admin.send_text("POST", "/api/trpc/invite.createInvite", &long);
    assert!(made.assert_status(200).text().contains("token"), "{made}");
    admin
        .send_text("POST", "/api/trpc/apiKeys.create", "{")
        .assert_status(400);
}

#[test]
fn queries_of_rest_are_read_as_without_the_layer() {
    let server = Builder::default()
        .argument("--compat-homarr")
        .argument("true")
        .start();
    let admin = administrator(&server);
    let page = |query: &str| admin.get(&format!("/api/apps/paginated?{query}"));
    page("page=1&page=2&pageSize=10").assert_bad_field("page");
    page("page=01&pageSize=%2B1").assert_bad_field("pageSize");
    page("search=%ff").assert_refused(400, "BAD_REQUEST");
    for query in ["", "page=9007199254740991&pageSize=10", "page=01&pageSize=010"] {
        let found = page(query).assert_status(200).json();
        assert_eq!(found, json!({"items": [], "totalCount": 0}), "{query}");
    }
}

#[test]
fn a_batch_beyond_the_bound_is_refused_call_by_call() {
    let (_server, admin, _) = with_administrator();
    let names = vec!["user.getTourStatus"; 20].join(",");
    let answers = admin
        .get(&format!("/api/trpc/{names},app.all?batch=1"))
        .assert_status(207)
        .json();
    let answers = answers.as_array().expect("answers");
    let is_refused = |answer: &&Value| answer["error"]["json"]["data"]["code"] == "BAD_REQUEST";
    assert_eq!(answers.len(), 21);
    assert_eq!(answers[..16].iter().filter(is_refused).count(), 0);
    assert_eq!(answers[16..20].iter().filter(is_refused).count(), 4);
    assert_eq!(answers[20]["result"]["data"]["json"], json!([]));
}

#[test]
fn paths_of_homarr_that_portico_lacks_are_not_found_and_never_405() {
    let (_server, admin, key) = with_administrator();
    for (method, path) in [
        ("GET", "/api/boards/search"),
        ("GET", "/api/boards/catalog"),
        ("PATCH", "/api/settings"),
        ("GET", "/api/settings/board"),
        ("PUT", "/api/boards"),
        ("DELETE", "/api/apps"),
        ("PUT", "/api/apps/paginated"),
        ("GET", "/api/users/me/tours"),
        ("GET", "/api/users/profileImage"),
        ("POST", "/api/search-engines"),
        ("GET", "/api/media"),
        ("POST", "/api/updates"),
    ] {
        for client in [&admin as &dyn Client, &key] {
            let body = (method != "GET").then_some(&b"{}"[..]);
            let answer = client.send(method, path, &[("content-type", "application/json")], body);
            let answer = answer.assert_status(404).json();
            assert_eq!(answer["code"], "NOT_FOUND", "{method} {path}: {answer}");
        }
    }
}

#[test]
fn the_description_lists_what_the_layer_adds() {
    let (_server, admin, _) = with_administrator();
    let document = admin.get("/api/openapi").assert_status(200).json();
    for (path, method) in [
        ("/api/info", "get"),
        ("/api/users/changeSearchEngine", "patch"),
        ("/api/users/{userId}/changeHome", "patch"),
        ("/api/boards/items", "post"),
        ("/api/trpc/board.getAllBoards", "get"),
        ("/api/trpc/user.changeDefaultSearchEngine", "post"),
        ("/api/trpc/serverSettings.saveSettings", "post"),
        ("/api/auth/csrf", "get"),
        ("/api/auth/callback/credentials", "post"),
    ] {
        let operation = &document["paths"][path][method];
        assert_eq!(operation["tags"], json!(["homarr"]), "{method} {path}");
    }
    let calls = &document["paths"]["/api/trpc/user.selectable"]["get"];
    assert_ne!(calls["tags"], json!(["homarr"]));
    // Portico's own stay, and each operation has a name of its own.
    assert_ne!(document["paths"]["/api/apps"]["get"]["tags"], json!(["homarr"]));
    let paths = document["paths"].as_object().expect("paths");
    let names = paths
        .values()
        .flat_map(|methods| methods.as_object().expect("methods").values());
    let mut names: Vec<_> = names
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let native = Portico::start();
    let own = native.anonymous().get("/api/openapi").json();
    assert_eq!(own["paths"].get("/api/info"), None);
}

#[test]
fn a_stream_has_a_line_for_each_call() {
    let (_server, admin, _) = with_administrator();
    for names in ["app.all,app.selectable", "app.all,user.getTourStatus"] {
        let path = format!("/api/trpc/{names}?batch=1");
        let answer = admin.send("GET", &path, &[("trpc-accept", "application/jsonl")], None);
        let text = answer.assert_status(200).text();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert!(text.ends_with('\n') && lines.len() == 3, "{text}");
        assert_eq!(lines[0]["json"]["1"], json!([[0], [null, 0, 1]]));
        let first = lines
            .iter()
            .find(|line| line["json"][0] == 0)
            .expect("the first call");
        assert_eq!(first["json"], json!([0, 0, [[{"result": {"data": []}}]]]));
    }
}

#[test]
fn limits_are_those_of_the_interface() {
    let (server, admin, _) = with_administrator();
    // Up to 1,024 are refused call by call, in a batch and in a stream.
    for name in ["user.getTourStatus", "app.all"] {
        let many = vec![name; 257].join(",");
        let path = format!("/api/trpc/{many}?batch=1");
        let each = admin.get(&path).assert_status(400).json();
        let each = each.as_array().expect("a list");
        assert_eq!(each.len(), 257);
        for refused in each {
            assert_eq!(refused["error"]["json"]["data"]["path"], name, "{refused}");
            let message = refused["error"]["json"]["message"].as_str().expect("a message");
            assert!(message.contains("257 calls, at most 256"), "{message}");
        }
        let stream = admin.send("GET", &path, &[("trpc-accept", "application/jsonl")], None);
        assert_eq!(stream.assert_status(200).text().lines().count(), 258);
    }
    // A client that speaks plain JSON reads plain JSON.
    let names = vec!["app.byId"; 257].join(",");
    let plain = json!({"0": {"id": "x"}});
    let path = format!("/api/trpc/{names}?batch=1");
    for answer in [
        admin.get(&format!("{path}&input={}", escape(&plain.to_string()))),
        admin.post(&path, &plain),
    ] {
        let each = answer.assert_status(400).json();
        assert_eq!(each[0]["error"]["data"]["path"], "app.byId", "{}", each[0]);
        assert_eq!(
            each[1]["error"]["json"]["data"]["path"], "app.byId",
            "{}",
            each[1]
        );
    }
    let many = vec!["user.getTourStatus"; 1025].join(",");
    let refused = admin
        .get(&format!("/api/trpc/{many}?batch=1"))
        .assert_status(400)
        .text();
    assert!(refused.contains("Batch call exceeds maximum size"), "{refused}");
    // A caller who is not signed in can send only little.
    let large = json!({"json": {"tour": "x".repeat(20_000)}}).to_string();
    let path = "/api/trpc/user.completeTour";
    server
        .anonymous()
        .send_text("POST", path, &large)
        .assert_status(413);
    admin.send_text("POST", path, &large).assert_status(400);
    let too_large = json!({"json": {"tour": "x".repeat(1 << 20)}}).to_string();
    admin.send_text("POST", path, &too_large).assert_status(413);
    // The wrong method, content type and JSON are refused as Homarr does.
    admin.get(path).assert_status(405);
    admin
        .post("/api/trpc/user.getTourStatus", &json!({"json": {}}))
        .assert_status(405);
    admin
        .send("POST", path, &[("content-type", "text/plain")], Some(b"{}"))
        .assert_status(415);
    admin.send_text("POST", path, "{").assert_status(400);
    // Access is Portico's.
    for procedure in ["user.getTourStatus", "info.getInfo", "integration.all"] {
        server
            .anonymous()
            .get(&format!("/api/trpc/{procedure}"))
            .assert_status(401);
    }
    let plain = admin.user("plain");
    let board = json!({"json": {"name": "x", "columnCount": 1, "isPublic": true}});
    plain
        .post("/api/trpc/board.createBoard", &board)
        .assert_status(403);
    let settings = json!({"json": {"settingsKey": "board", "value": {}}});
    plain
        .post("/api/trpc/serverSettings.saveSettings", &settings)
        .assert_status(403);
    assert_eq!(read(&admin.get("/api/trpc/board.getAllBoards")), json!([]));
}
