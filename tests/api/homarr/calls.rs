//! How procedure calls are wrapped: alone, in batches, in streams, and mixed with those of Portico.

use portico_tests::{Client, Fixtures, Portico, administrator, escape};
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
    let many = vec!["user.getTourStatus"; 257].join(",");
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
