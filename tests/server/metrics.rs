//! `--metrics`: what is counted, that clients cannot make series, and that dashboard, alerts and docs name what exists.

use std::collections::{BTreeMap, BTreeSet};

use portico_tests::{
    Builder, Client, Fixtures, MISSING, NO_INPUT, PASSWORD, Portico, administrator, agent, command, raw,
    repository, run, wait_until,
};
use serde_json::{Value, json};

fn builder() -> Builder {
    Builder::default()
        .argument("--metrics=127.0.0.1:0")
        .argument("--ping-allow=127.0.0.1")
        .argument("--ping-time-limit=60")
}

fn start() -> Portico {
    builder().start()
}

fn scrape(server: &Portico) -> String {
    let line = server.wait_for_log(0, "metrics at http://");
    let url = line.split(' ').find(|word| word.starts_with("http://"));
    let mut answer = agent().get(url.expect("a URL")).call().expect("an answer");
    assert_eq!(answer.status(), 200);
    answer.body_mut().read_to_string().expect("text")
}

/// The series and their values.
fn series(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.map(|line| line.rsplit_once(' ').expect("a value"));
    let numbers = pairs.map(|(name, value)| (name, value.parse().expect("a number")));
    numbers.collect()
}

/// The metrics, with the endings that Prometheus adds for each kind.
fn names(text: &str) -> BTreeSet<String> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let types = types.map(|line| line.split_once(' ').expect("a kind"));
    let names = types.flat_map(|(name, kind)| match kind {
        "histogram" => ["_bucket", "_count", "_sum"]
            .map(|ending| format!("{name}{ending}"))
            .to_vec(),
        "counter" => vec![format!("{}_total", name.trim_end_matches("_total"))],
        _ => vec![name.to_owned()],
    });
    names.collect()
}

#[track_caller]
fn assert_counted(text: &str, name: &str, least: f64) {
    let found = series(text).get(name).copied();
    assert!(
        found.is_some_and(|count| count >= least),
        "{name} is {found:?} in\n{text}"
    );
}

#[test]
fn what_is_done_is_counted_by_template_procedure_and_outcome() {
    let server = builder()
        .argument("--trusted-proxies=127.0.0.1")
        .argument("--public-url=http://portico.home.example")
        .argument("--gate-domain=home.example")
        .start();
    let root = administrator(&server);
    let here = format!("http://{}/api/health/live", server.address());
    let app = json!({"name": "Jellyfin", "iconUrl": "x.svg", "pingUrl": here});
    let app = root.make("app.create", &app, "id");
    wait_until("a check of it", || {
        root.query("app.status", &NO_INPUT).data()[0]["status"] == "up"
    });
    root.get(&format!("/api/apps/{app}")).assert_status(200);
    root.get(&format!("/api/apps/{MISSING}")).assert_status(404);
    root.query("app.byId", &json!({"id": app})).assert_status(200);
    let anonymous = server.anonymous();
    anonymous.get("/api/users").assert_status(401);
    let wrong = json!({"username": "root", "password": "not the password"});
    anonymous.post("/api/auth/sign-in", &wrong).assert_status(401);
    anonymous.get("/sign-in").assert_status(200);
    anonymous.get("/icons/default.svg").assert_status(200);
    let asked = [("x-original-url", "https://unknown.home.example/")];
    anonymous
        .send("GET", "/api/auth/verify", &asked, None)
        .assert_status(403);

    let text = scrape(&server);
    let requests = |method: &str, status: u16, route: &str| {
        format!(
            "http_server_request_duration_seconds_count{{http_request_method=\"{method}\",\
             http_response_status_code=\"{status}\",http_route=\"{route}\"}}"
        )
    };
    for (method, status, route, least) in [
        ("GET", 200, "/api/apps/{id}", 1.0),
        ("GET", 404, "/api/apps/{id}", 1.0),
        ("GET", 200, "/api/trpc/{*path}", 1.0),
        ("POST", 200, "/api/trpc/{*path}", 2.0),
        ("GET", 401, "/api/users", 1.0),
        ("POST", 401, "/api/auth/sign-in", 1.0),
        ("GET", 200, "/sign-in", 1.0),
        ("GET", 200, "/icons/default.svg", 1.0),
    ] {
        assert_counted(&text, &requests(method, status, route), least);
    }
    let calls = |procedure: &str, outcome: &str| {
        format!(
            "rpc_server_call_duration_seconds_count{{rpc_method=\"{procedure}\",\
             rpc_response_status_code=\"{outcome}\"}}"
        )
    };
    assert_counted(&text, &calls("app.byId", "OK"), 2.0);
    assert_counted(&text, &calls("app.byId", "NOT_FOUND"), 1.0);
    assert_counted(&text, &calls("user.getAll", "UNAUTHORIZED"), 1.0);
    for (name, least) in [
        ("portico_instances_total{kind=\"fresh\"}", 1.0),
        ("portico_instances_total{kind=\"warm\"}", 1.0),
        ("portico_instances_total{kind=\"hash\"}", 2.0),
        (
            "portico_sign_ins_total{outcome=\"OK\",provider=\"credentials\"}",
            1.0,
        ),
        (
            "portico_sign_ins_total{outcome=\"UNAUTHORIZED\",provider=\"credentials\"}",
            1.0,
        ),
        // What alerts are about begins at zero.
        (
            "portico_sign_ins_total{outcome=\"SERVICE_UNAVAILABLE\",provider=\"credentials\"}",
            0.0,
        ),
        ("portico_audit_rows_written_total{kind=\"call\"}", 3.0),
        ("portico_app_checks_total{result=\"up\"}", 1.0),
        ("portico_gate_requests_total{decision=\"no-app\"}", 1.0),
        (
            "db_client_operation_duration_seconds_count{db_operation_name=\"COMMIT\",db_system_name=\"sqlite\"}",
            3.0,
        ),
        ("portico_commit_transactions_sum", 3.0),
        ("process_memory_usage_bytes", 1_000_000.0),
        ("process_cpu_time_seconds_total", 0.001),
        ("http_server_active_requests", 0.0),
    ] {
        assert_counted(&text, name, least);
    }
    let info = text.lines().find(|line| line.starts_with("portico_build_info{"));
    let info = info.expect("build information");
    assert!(
        info.contains(concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"")),
        "{info}"
    );
    for secret in ["root", "Jellyfin", &app, &root.user_id, "127.0.0.1", PASSWORD] {
        assert!(!text.contains(secret), "{secret} is in\n{text}");
    }
}

#[test]
fn clients_cannot_make_series() {
    let server = start();
    administrator(&server);
    let hostile = |number: usize| {
        let word = format!("hostile{number}");
        let client = server.anonymous();
        for path in [
            format!("/{word}"),
            format!("/api/{word}"),
            format!("/api/apps/{word}"),
            format!("/api/trpc/{word}"),
            format!("/api/trpc/app.byId,{word}?batch=1"),
            format!("/boards/{word}"),
            format!("/icons/apps/{word}"),
            format!("/icons/{word}/{word}"),
            format!("/api/docs/{word}"),
        ] {
            client.get(&path);
            client.send("DELETE", &path, &[], None);
        }
        let body = json!({"username": word, "password": word, "provider": word});
        client.post("/api/auth/sign-in", &body);
        client.post("/api/auth/sign-in", &json!({"username": word, "password": word}));
        let method = format!("HOSTILE{number}");
        for path in ["/api/apps", "/", &format!("/{word}")] {
            raw::send_and_close(&server.address(), raw::head(&method, path, &[]).as_bytes());
        }
        let framing = [("transfer-encoding", "chunked"), ("content-length", "1")];
        let request = raw::head(&method, &format!("/{word}"), &framing);
        raw::send_and_close(&server.address(), request.as_bytes());
    };
    // Every kind of refusal, and twice, because a series may begin with what follows the first.
    (0..2).for_each(hostile);
    let before = scrape(&server);
    (2..20).for_each(hostile);
    let after = scrape(&server);
    let new: Vec<_> = series(&after)
        .into_keys()
        .filter(|name| !series(&before).contains_key(name))
        .collect();
    assert!(new.is_empty(), "{new:#?}");
    assert!(!after.to_lowercase().contains("hostile"), "{after}");
    let unknown = "http_request_method=\"_OTHER\",http_response_status_code=\"404\",http_route=\"/{*path}\"";
    let counted = format!("http_server_request_duration_seconds_count{{{unknown}}}");
    let others = series(&after)[&*counted];
    assert!(others >= 20.0, "{others}");
}

#[test]
fn metrics_are_off_unless_they_are_asked_for_and_an_address_in_use_is_an_error() {
    let server = Portico::start();
    administrator(&server);
    assert!(!server.log().contains("metrics"), "{}", server.log());
    server.anonymous().get("/metrics").assert_status(404);
    let data = tempfile::tempdir().expect("a folder");
    let address = server.address();
    let mut serve = command();
    serve.args(["serve", "--listen=127.0.0.1:0", "--metrics", &address, "--data"]);
    let text = run(serve.arg(data.path()), "").failed();
    assert!(text.contains("choose another address with --metrics"), "{text}");
}

/// Words that may be names of metrics.
fn named(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = text.split(|character| !is_part(character));
    let prefixes = [
        "http_server_",
        "rpc_server_",
        "db_client_",
        "portico_",
        "process_",
    ];
    let words = words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    words.map(Into::into).collect()
}

/// Words in `by (…)` and before `=` in braces.
fn labels(expression: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in expression.split("by (").skip(1) {
        let list = rest.split(')').next().unwrap_or_default();
        found.extend(list.split(',').map(|label| label.trim().to_owned()));
    }
    for rest in expression.split('{').skip(1) {
        let list = rest.split('}').next().unwrap_or_default();
        let pairs = list.split(',').filter_map(|pair| pair.split(['=', '!']).next());
        found.extend(pairs.map(|label| label.trim().to_owned()));
    }
    found.remove("");
    found
}

/// The values that it asks for, as series have them. Patterns, and labels that Prometheus adds, are left out.
fn values(expression: &str) -> Vec<String> {
    let lists = expression.split('{').skip(1);
    let lists = lists.map(|rest| rest.split('}').next().unwrap_or_default());
    let asked = lists.flat_map(|list| list.split(',')).filter_map(|pair| {
        let (label, rest) = pair.split_once(['=', '!'])?;
        Some((label, rest.split('"').nth(1)?))
    });
    let asked = asked.flat_map(|(label, values)| values.split('|').map(move |value| (label, value)));
    let is_plain = |value: &str| {
        value
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
    };
    let asked = asked.filter(|(label, value)| *label != "job" && is_plain(value));
    asked
        .map(|(label, value)| format!("{label}=\"{value}\""))
        .collect()
}

/// Every text under the key `expr`.
fn expressions(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "expr" => into.push(text.clone()),
                    value => expressions(value, into),
                }
            }
        }
        Value::Array(array) => array.iter().for_each(|value| expressions(value, into)),
        _ => {}
    }
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_what_exists_and_the_docs_name_all_of_it() {
    let server = start();
    administrator(&server);
    let wrong = json!({"username": "root", "password": "not the password"});
    server
        .anonymous()
        .post("/api/auth/sign-in", &wrong)
        .assert_status(401);
    let text = scrape(&server);
    let mut exists = names(&text);
    // That of a host on PostgreSQL.
    exists.insert("db_client_connection_count".into());
    let mut known: BTreeSet<String> = series(&text).keys().flat_map(|name| labels(name)).collect();
    known.extend(
        [
            "le",
            "instance",
            "job",
            "reason",
            "result",
            "db_client_connection_state",
        ]
        .map(Into::into),
    );

    let folder = repository().join("examples/operate");
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("a file");
    let dashboard: Value = serde_json::from_str(&read("grafana/portico.json")).expect("JSON");
    let alerts: Value = serde_saphyr::from_str(&read("prometheus/alerts.yaml")).expect("YAML");
    for (file, document, least) in [("dashboard", dashboard, 10), ("alerts", alerts, 6)] {
        let mut found = Vec::new();
        expressions(&document, &mut found);
        assert!(found.len() >= least, "{file}: {found:#?}");
        for expression in found {
            let unknown: Vec<_> = named(&expression)
                .into_iter()
                .filter(|name| !exists.contains(name) && !known.contains(name))
                .collect();
            assert!(unknown.is_empty(), "{file}: no {unknown:?} in {expression}");
            let unknown = &labels(&expression) - &known;
            assert!(unknown.is_empty(), "{file}: no label {unknown:?} in {expression}");
            for value in values(&expression) {
                assert!(text.contains(&value), "{file}: no {value} of {expression}");
            }
        }
    }

    let page = std::fs::read_to_string(repository().join("docs/operations.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<_> = rows
        .flat_map(|row| named(row.split('|').nth(1).unwrap_or_default()))
        .collect();
    let base = |name: &str| {
        let endings = ["_bucket", "_count", "_sum"];
        let is_histogram = text.contains(&format!(
            "# TYPE {} histogram",
            name.rsplit_once('_').map_or("", |(base, _)| base)
        ));
        let ending = endings
            .iter()
            .find(|ending| is_histogram && name.ends_with(*ending));
        ending
            .map_or(name, |ending| name.trim_end_matches(ending))
            .to_owned()
    };
    let published: BTreeSet<_> = exists.iter().map(|name| base(name)).collect();
    assert_eq!(documented, published);
}
