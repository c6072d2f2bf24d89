//! Procedure calls on the wire: what the unmodified client of tRPC v11, which `clients.rs` runs, neither sends nor sees.

use portico_tests::{Client, Fixtures, MISSING, Portico, Session, administrator, decode_stream, escape};
use serde_json::{Value, json};

fn get(client: &impl Client, path: &str, input: &Value) -> portico_tests::Answer {
    let mark = if path.contains('?') { '&' } else { '?' };
    client.get(&format!(
        "/api/trpc/{path}{mark}input={}",
        escape(&input.to_string())
    ))
}

fn start() -> (Portico, Session) {
    let server = Portico::start();
    let admin = administrator(&server);
    (server, admin)
}

#[test]
fn a_single_call_is_answered_in_an_envelope() {
    let (_server, admin) = start();
    let answer = admin.get("/api/trpc/app.all");
    assert_eq!(answer.json(), json!({"result": {"data": []}}));
    assert!(
        answer
            .header("vary")
            .is_some_and(|vary| vary.contains("trpc-accept")),
        "{:?}",
        answer.headers
    );
    let day = json!({"id": admin.user_id, "firstDayOfWeek": 0});
    assert_eq!(
        admin.mutate("user.changeFirstDayOfWeek", &day).json(),
        json!({"result": {}})
    );
    let error = get(&admin, "app.byId", &json!({"id": MISSING}));
    let message = error.json()["error"]["message"].clone();
    let data = json!({"code": "NOT_FOUND", "httpStatus": 404, "path": "app.byId", "zodError": null});
    assert_eq!(
        error.json(),
        json!({"error": {"message": message, "code": -32004, "data": data}})
    );
    error.assert_status(404);
    // Absent, empty and a trailing slash.
    admin.get("/api/trpc/app.all?input=").assert_status(200);
    admin.get("/api/trpc/app.all/").assert_status(200);
    let selectable = admin.get("/api/trpc/user.selectable").data();
    assert_eq!(selectable[0]["name"], "root");
    admin.get("/api/trpc/app.byId").assert_refused(400, "BAD_REQUEST");
    admin
        .get("/api/trpc/app.byId?input={bad")
        .assert_refused(400, "BAD_REQUEST");
}

#[test]
fn what_is_no_call_is_refused_with_its_number() {
    let (_server, admin) = start();
    let check = |answer: portico_tests::Answer, number: i32, status: u16, code: &str| {
        answer.assert_refused(status, code);
        assert_eq!(answer.json()["error"]["code"], number, "{answer}");
    };
    for path in ["/__proto__", "/App.all", "/", "", "/app/all"] {
        let answer = admin.get(&format!("/api/trpc{path}"));
        check(answer, -32004, 404, "NOT_FOUND");
    }
    check(admin.get("/api/trpc/app.%zz"), -32600, 400, "BAD_REQUEST");
    let create = "/api/trpc/app.create";
    check(admin.send_text("POST", create, "{"), -32600, 400, "BAD_REQUEST");
    for kind in [&[("content-type", "text/plain")][..], &[]] {
        let answer = admin.send("POST", create, kind, Some(b"{}"));
        check(answer, -32015, 415, "UNSUPPORTED_MEDIA_TYPE");
    }
}

#[test]
fn queries_use_get_and_mutations_use_post() {
    let (server, admin) = start();
    let wrong = |method: &str, procedure: &str, allow: &str| {
        let kind = [("content-type", "application/json")];
        let body = (method != "GET").then_some(b"{}".as_slice());
        // The method is checked before access: an anonymous client gets the same answer.
        let answer = server
            .anonymous()
            .send(method, &format!("/api/trpc/{procedure}"), &kind, body);
        // A batch, which calls two procedures here, answers a list.
        let json = answer.json();
        let error = json.get(0).unwrap_or(&json)["error"].clone();
        assert_eq!(error["code"], -32005, "{answer}");
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some(allow)),
            "{answer}"
        );
    };
    wrong("POST", "app.all", "GET");
    wrong("GET", "app.create", "POST");
    wrong("PUT", "app.create", "POST");
    wrong("DELETE", "app.delete", "POST");
    wrong("POST", "app.all,app.all?batch=1", "GET");
    wrong("GET", "app.create,app.delete?batch=1", "POST");
    // It also comes before the content type.
    for method in ["POST", "PUT", "TRACE", "OPTIONS"] {
        let answer = server.anonymous().send(method, "/api/trpc/app.all", &[], None);
        answer.assert_refused(405, "METHOD_NOT_SUPPORTED");
    }
    // Clients use HEAD to ask whether the service is there: any client, for any procedure.
    for procedure in ["app.all", "app.create", "app.nope"] {
        let answer = server
            .anonymous()
            .send("HEAD", &format!("/api/trpc/{procedure}"), &[], None);
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{answer}");
    }
    let kind = [("content-type", "application/json; charset=utf-8")];
    let app = br#"{"name": "An app", "iconUrl": "/icon.svg"}"#;
    admin
        .send("POST", "/api/trpc/app.create", &kind, Some(app))
        .assert_status(200);
}

#[test]
fn a_batch_has_one_form() {
    let (_server, admin) = start();
    let good = json!({"0": {"id": admin.app("An app")}});
    // One call is a batch too, with and without an input.
    for input in ["&input=%7B%7D", ""] {
        let answer = admin.get(&format!("/api/trpc/app.all?batch=1{input}"));
        let calls = answer.assert_status(200).json();
        assert_eq!(calls.as_array().map(Vec::len), Some(1));
        assert_eq!(calls[0]["result"]["data"][0]["name"], "An app");
    }
    let encoded = get(&admin, "app.byId%2Capp%2Eall?batch=1", &good).json();
    assert_eq!(encoded[1]["result"]["data"][0]["name"], "An app");
    let trailing = get(&admin, "app.byId,?batch=1", &good);
    let calls = trailing.assert_status(207).json();
    assert_eq!(calls[1]["error"]["code"], -32004);
    for not_a_batch in [
        "app.all,app.all",
        "app.all,app.all?batch=true",
        "app.all,app.all?batch=01",
    ] {
        admin
            .get(&format!("/api/trpc/{not_a_batch}"))
            .assert_refused(404, "NOT_FOUND");
    }
    // What is left over in the input means nothing.
    let input = json!({"0": {"name": "first", "iconUrl": "/i.svg"}, "1": {"id": MISSING}, "9": 1});
    let answer = admin.post("/api/trpc/app.create,app.delete?batch=1", &input);
    let calls = answer.assert_status(200).json();
    assert_eq!(calls[1], json!({"result": {}}));
}

#[test]
fn a_fault_of_the_whole_batch_is_one_error() {
    let (server, admin) = start();
    let app = admin.app("An app");
    // A missing key means no input; null is null.
    let answer = get(&admin, "app.byId,app.byId?batch=1", &json!({"1": {"id": app}}));
    assert_eq!(
        (answer.status, answer.json()[0]["error"]["code"].clone()),
        (207, json!(-32600))
    );
    for input in [json!([{"id": app}]), json!("x"), json!(5)] {
        let answer = get(&admin, "app.byId,app.all?batch=1", &input);
        assert_eq!(answer.status, 207, "{answer}");
        assert_eq!(answer.json()[0]["error"]["code"], -32600);
        assert!(
            answer.json()[1].get("result").is_some(),
            "a call without an input does not mind: {answer}"
        );
    }
    let kind = [("content-type", "application/json")];
    let mixed = admin.send("POST", "/api/trpc/app.all,app.create?batch=1", &kind, Some(b"{}"));
    mixed.assert_refused(400, "BAD_REQUEST");
    assert_eq!(mixed.json()["error"]["code"], -32600, "one object, not a list");
    assert!(
        mixed.json()["error"]["data"]
            .get("path")
            .is_none_or(Value::is_null),
        "{mixed}"
    );
    let kind = [("content-type", "text/plain")];
    let wrong = admin.send(
        "POST",
        "/api/trpc/app.create,app.create?batch=1",
        &kind,
        Some(b"{}"),
    );
    assert_eq!(
        wrong.assert_refused(415, "UNSUPPORTED_MEDIA_TYPE").json()["error"]["code"],
        -32015
    );
    // Access is checked for each call.
    let answer = get(
        &server.anonymous(),
        "app.byId,app.all?batch=1",
        &json!({"0": {"id": app}}),
    );
    assert_eq!(
        (answer.status, answer.json()[1]["error"]["code"].clone()),
        (207, json!(-32001))
    );
    // 256 calls are the most.
    let most = vec!["app.all"; 256].join(",");
    admin.get(&format!("/api/trpc/{most}?batch=1")).assert_status(200);
    let more = vec!["app.create"; 257].join(",");
    let app = json!({"name": "Another", "iconUrl": "/icon.svg"});
    let inputs: serde_json::Map<_, _> = (0..257).map(|call| (call.to_string(), app.clone())).collect();
    let refused = admin.post(&format!("/api/trpc/{more}?batch=1"), &inputs.into());
    let message = refused.assert_refused(400, "BAD_REQUEST").error()["message"].to_string();
    assert!(message.contains("256"), "{message}");
    assert_eq!(admin.app_names(), ["An app"], "none of them ran");
}

/// There are more of them, and more calls in each, than there are connections to read with.
#[test]
fn many_batches_at_once_are_all_answered() {
    let (_server, admin) = start();
    let app = admin.app("Jellyfin");
    let names = [
        "app.byId",
        "app.all",
        "group.getAll",
        "onboard.currentStep",
        "user.getAll",
    ];
    let calls: Vec<_> = names.into_iter().cycle().take(40).collect();
    let inputs: serde_json::Map<_, _> = (0..calls.len())
        .filter(|index| calls[*index] == "app.byId")
        .map(|index| (index.to_string(), json!({"id": app})))
        .collect();
    let path = format!("{}?batch=1", calls.join(","));
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let answer = get(&admin, &path, &json!(inputs));
                    answer.assert_status(200);
                    let answer = answer.json();
                    let ids = answer.as_array().unwrap().iter().step_by(names.len());
                    assert!(
                        ids.clone().count() == 8
                            && ids.clone().all(|id| id["result"]["data"]["id"] == json!(app))
                    );
                }
            });
        }
    });
}

#[test]
fn superjson_is_answered_in_superjson() {
    let (_server, admin) = start();
    let undefined = json!({"json": null, "meta": {"values": ["undefined"], "v": 1}});
    let app = admin.app("An app");
    let seen = get(&admin, "app.byId", &json!({"json": {"id": app}}));
    assert!(seen.json()["result"]["data"].get("meta").is_none(), "{seen}");
    let day = json!({"json": {"id": admin.user_id, "firstDayOfWeek": 0}});
    let nothing = admin.mutate("user.changeFirstDayOfWeek", &day).json();
    assert_eq!(nothing, json!({"result": {"data": undefined}}));
    // Each call of a batch is told apart by its own input.
    let inputs =
        json!({"0": {"json": {"id": app}}, "1": {"id": app}, "2": undefined, "3": {"json": {"id": MISSING}}});
    let answer = get(&admin, "app.byId,app.byId,app.all,app.byId?batch=1", &inputs);
    let calls = answer.assert_status(207).json();
    assert_eq!(calls[0]["result"]["data"]["json"]["id"], app.as_str());
    assert_eq!(calls[1]["result"]["data"]["id"], app.as_str());
    assert_eq!(calls[2]["result"]["data"]["json"][0]["id"], app.as_str());
    assert_eq!(calls[3]["error"]["json"]["code"], -32004);
}

#[test]
fn a_stream_has_a_line_for_the_head_and_an_end_for_each_line() {
    let (server, admin) = start();
    let app = admin.app("An app");
    let accept = ("trpc-accept", "application/jsonl");
    let stream = |client: &dyn Client, path: &str, input: &Value, header: (&str, &str)| {
        let path = format!("/api/trpc/{path}&input={}", escape(&input.to_string()));
        let answer = client.send("GET", &path, &[header], None);
        answer.assert_status(200).text()
    };
    let inputs = json!({"0": {"id": app}, "1": {"id": MISSING}});
    for header in [accept, ("accept", "application/jsonl")] {
        let answer = stream(&admin, "app.byId,app.byId,app.all?batch=1", &inputs, header);
        let calls = decode_stream(&answer, false);
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[&0]["result"]["data"]["id"], app.as_str());
        assert_eq!(calls[&1]["error"]["data"]["path"], "app.byId");
        assert_eq!(calls[&2]["result"]["data"][0]["name"], "An app");
    }
    // The status is 200 even if all calls failed: the client reads the lines only then.
    let answer = stream(&server.anonymous(), "app.all?batch=1", &json!({}), accept);
    assert_eq!(decode_stream(&answer, false)[&0]["error"]["code"], -32001);
    let inputs = json!({"0": {"json": {"id": app}}});
    let answer = stream(&admin, "app.byId?batch=1", &inputs, accept);
    let data = decode_stream(&answer, true)[&0]["result"]["data"].clone();
    assert_eq!(data["id"], app.as_str(), "it is not wrapped a second time");

    let headers = [accept, ("content-type", "application/json")];
    let day = json!({"0": {"id": admin.user_id, "firstDayOfWeek": 0}}).to_string();
    let path = "/api/trpc/user.changeFirstDayOfWeek?batch=1";
    let answer = admin.send("POST", path, &headers, Some(day.as_bytes()));
    let calls = decode_stream(&answer.assert_status(200).text(), false);
    assert_eq!(calls[&0], json!({"result": {}}));
    let answer = admin.send("GET", "/api/trpc/app.all", &[accept], None);
    answer.assert_refused(400, "BAD_REQUEST");
}
