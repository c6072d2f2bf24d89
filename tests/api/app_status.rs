//! Whether apps can be reached (`app.status`). What a check does is tested in `host/status`; here, who is told what, and
//! that nothing else goes out.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use portico_tests::{Builder, Client, Fixtures, MISSING, NO_INPUT, Portico, administrator, wait_until};
use serde_json::{Value, json};

/// A service that responds with this status line. Returns its URL, and how many requests it has received.
fn service(status: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("its address"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 {status}\r\n\r\n");
        }
    });
    (url, count)
}

fn app(admin: &impl Client, ping_url: Option<&str>) -> String {
    let input = json!({"name": "An app", "iconUrl": "/icon.svg", "pingUrl": ping_url});
    let app = admin.mutate("app.create", &input).data();
    app["id"].as_str().expect("an id").to_owned()
}

fn allowed(arguments: &[&str]) -> Portico {
    let builder = Builder::default()
        .argument("--ping-allow=127.0.0.0/8")
        .argument("--ping-time-limit=60");
    let with = |builder: Builder, argument: &&str| builder.argument(*argument);
    arguments.iter().fold(builder, with).start()
}

/// The statuses, when nothing is unknown any more.
fn known(client: &impl Client, input: &Value) -> Value {
    let mut found = Value::Null;
    wait_until("the last check", || {
        found = client.query("app.status", input).data();
        let all = found.as_array().expect("a list");
        !all.is_empty() && all.iter().all(|one| one["status"] != "unknown")
    });
    found
}

#[test]
fn people_learn_which_of_the_apps_that_they_see_can_be_reached() {
    let server = allowed(&[]);
    let admin = administrator(&server);
    let ((up, ups), (broken, _)) = (service("401 Unauthorized"), service("503 Busy"));
    let ids = [
        app(&admin, Some(&up)),
        app(&admin, Some(&broken)),
        app(&admin, Some("http://10.0.0.1/")),
        app(&admin, Some("http://127.0.0.1:25/")),
    ];
    let without = app(&admin, None);
    let input = json!([ids[0], MISSING, ids[1], without, ids[2], ids[3], ids[0]]);
    let first = admin.query("app.status", &input).data();
    let of = |list: &Value, key: &str| -> Vec<Value> {
        let list = list.as_array().expect("a list");
        list.iter().map(|one| one[key].clone()).collect()
    };
    assert_eq!(
        of(&first, "id"),
        ids,
        "in the order asked, without those that have no ping URL"
    );
    assert_eq!(
        of(&first, "status"),
        ["unknown", "unknown", "unknown", "not-allowed"]
    );
    let statuses = known(&admin, &input);
    assert_eq!(
        of(&statuses, "status"),
        ["up", "down", "not-allowed", "not-allowed"]
    );
    let reasons = [
        json!(null),
        "server-error".into(),
        "private-address".into(),
        "blocked-port".into(),
    ];
    assert_eq!(of(&statuses, "reason"), reasons);
    assert!(
        statuses[0]["milliseconds"].is_u64() && statuses[1]["milliseconds"].is_null(),
        "{statuses}"
    );
    assert!(
        statuses[1]["since"].is_string() && statuses[1]["checkedAt"].is_string(),
        "{statuses}"
    );
    // All at once, over each transport, and for another user: nothing is requested again.
    let sorted = |list: Value| {
        let mut list = list.as_array().expect("a list").clone();
        list.sort_by_key(|one| one["id"].to_string());
        list
    };
    let expected = sorted(statuses);
    assert_eq!(sorted(admin.query("app.status", &NO_INPUT).data()), expected);
    assert_eq!(sorted(admin.get("/api/apps/status").json()), expected);
    assert_eq!(
        sorted(admin.user("grace").query("app.status", &NO_INPUT).data()),
        expected
    );
    assert_eq!(ups.load(SeqCst), 1);
}

#[test]
fn people_who_are_not_signed_in_are_told_where_the_operator_says_so() {
    for (ping, is_told) in [("--ping=users", false), ("--ping=everyone", true)] {
        let server = allowed(&[ping]);
        let admin = administrator(&server);
        let (url, count) = service("200 OK");
        let id = app(&admin, Some(&url));
        let anonymous = server.anonymous();
        assert_eq!(anonymous.query("app.status", &NO_INPUT).data(), json!([]));
        if is_told {
            assert_eq!(known(&anonymous, &json!([id]))[0]["status"], "up");
        } else {
            assert_eq!(anonymous.query("app.status", &json!([id])).data(), json!([]));
            assert_eq!(known(&admin, &json!([id]))[0]["status"], "up");
        }
        assert_eq!(count.load(SeqCst), 1);
    }
}

#[test]
fn where_checks_are_off_nothing_is_said_and_nothing_requested() {
    let server = allowed(&["--ping=off"]);
    let admin = administrator(&server);
    let (url, count) = service("200 OK");
    let id = app(&admin, Some(&url));
    assert_eq!(admin.query("app.status", &json!([id])).data(), json!([]));
    admin
        .query("app.status", &json!([0]))
        .assert_refused(400, "BAD_REQUEST");
    assert_eq!(count.load(SeqCst), 0);
}

#[test]
fn an_app_that_the_caller_does_not_see_is_not_requested() {
    let server = allowed(&["--app-visibility=boards"]);
    let admin = administrator(&server);
    let (url, count) = service("200 OK");
    let id = app(&admin, Some(&url));
    let grace = admin.user("grace");
    assert_eq!(grace.query("app.status", &json!([id, MISSING])).data(), json!([]));
    assert_eq!(grace.query("app.status", &NO_INPUT).data(), json!([]));
    let items = json!([{"kind": "app", "appId": id}]);
    let (seen, seen_count) = service("200 OK");
    let other = app(&admin, Some(&seen));
    let board = json!({"name": "b", "isPublic": true, "items": [{"kind": "app", "appId": other}]});
    admin.mutate("board.create", &board).assert_status(200);
    let statuses = known(&grace, &NO_INPUT);
    assert_eq!(
        (statuses.as_array().map(Vec::len), &statuses[0]["id"]),
        (Some(1), &json!(other))
    );
    assert_eq!((count.load(SeqCst), seen_count.load(SeqCst)), (0, 1));
    let shared = json!({"name": "c", "isPublic": true, "items": items});
    admin.mutate("board.create", &shared).assert_status(200);
    assert_eq!(known(&grace, &NO_INPUT).as_array().map(Vec::len), Some(2));
}

/// What administrators allow leads to private networks only, so no service of this machine can answer here: what is allowed is
/// down, and what is not says so.
#[test]
fn administrators_allow_private_networks_and_the_setting_of_the_host_overrides_it() {
    let private = "http://[fd5a:9c31:77e0::1]:8080/";
    for (setting, fixed) in [(None, json!(null)), (Some("--ping-allow="), json!([]))] {
        let builder = Builder::default().argument("--ping-time-limit=1");
        let server = setting
            .into_iter()
            .fold(builder, |builder, setting| builder.argument(setting))
            .start();
        let admin = administrator(&server);
        let ids = json!([app(&admin, Some(private))]);
        assert_eq!(known(&admin, &ids)[0]["reason"], "private-address");
        let allowed = json!({"pingAllow": ["fd00::/8"]});
        admin.mutate("site.update", &allowed).assert_status(200);
        assert_eq!(admin.query("site.get", &NO_INPUT).data()["fixedPingAllow"], fixed);
        let expected = if setting.is_none() { "down" } else { "not-allowed" };
        assert_eq!(known(&admin, &ids)[0]["status"], expected);
    }
    // Where nothing is checked, nothing is allowed.
    let off = Builder::default().argument("--ping=off").start();
    let site = administrator(&off).query("site.get", &NO_INPUT).data();
    assert_eq!(site["fixedPingAllow"], json!([]));
}
