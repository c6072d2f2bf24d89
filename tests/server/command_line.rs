//! The command line: settings and where they come from, starting and stopping, and procedures
//! without HTTP.

use std::path::Path;

use portico_model::{
    Provider,
    time::{Clock as _, SystemClock},
};
use portico_tests::second_factor::{set_up, ticket_of};
use portico_tests::{
    Builder, Client, Finished, Fixtures, NO_INPUT, PASSWORD, Portico, administrator, command, new_user, run,
    wait_for_text,
};
use serde_json::{Value, json};

fn portico(arguments: &[&str], input: &str) -> Finished {
    run(command().args(arguments), input)
}

/// Calls a procedure on the data directory.
fn call(data: &Path, arguments: &[&str], input: &str) -> Finished {
    run(
        command().arg("call").args(arguments).arg("--data").arg(data),
        input,
    )
}

fn json_of(finished: Finished) -> Value {
    let text = finished.succeeded();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("no JSON ({error}): {text}"))
}

#[test]
fn the_commands_explain_themselves() {
    let text = portico(&["--help"], "").succeeded();
    for word in [
        "serve",
        "procedures",
        "call",
        "apply",
        "export",
        "backup",
        "restore",
        "icons",
        "inspect",
        "recover",
    ] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    for command in ["apply", "export", "backup", "restore", "inspect"] {
        let text = portico(&[command, "--help"], "").succeeded();
        let example = format!("\n  portico {command} ");
        assert!(text.contains(&example), "no example of {command}:\n{text}");
    }
    let text = portico(&["icons", "fetch", "--help"], "").succeeded();
    assert!(text.contains("\n  portico icons fetch "), "no example:\n{text}");
    let text = portico(&["serve", "--help"], "").succeeded();
    for word in [
        "--listen",
        "--data",
        "--config",
        "--component",
        "PORTICO_LISTEN",
        "PORTICO_DATA",
        "127.0.0.1:7575",
    ] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    let text = portico(&["serve", "--lisen", "127.0.0.1:0"], "").failed();
    assert!(text.contains("--lisen"), "the wrong flag is named:\n{text}");
    portico(&[], "").failed();
}

#[test]
fn the_procedures_are_listed_for_people_and_for_programs() {
    let text = portico(&["procedures"], "").succeeded();
    for word in [
        "user.getAll",
        "app.createMany",
        "apiKeys.create",
        "onboard.currentStep",
        "/api/apps/paginated",
    ] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
    let list = json_of(portico(&["procedures", "--json"], ""));
    let entry = list
        .as_array()
        .expect("a list")
        .iter()
        .find(|entry| entry["name"] == "app.update");
    let entry = entry.expect("app.update");
    assert_eq!(entry["kind"], "mutation");
    assert_eq!(entry["rest"]["method"], "PATCH");
    let path = entry["rest"]["path"].as_str().expect("a path");
    assert!(path.starts_with("/api/apps/{"), "{path}");
}

#[test]
fn procedures_run_on_the_data_directory_as_operator_or_as_a_user() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let account = json!({"username": "root", "password": PASSWORD}).to_string();
    // By its standard input: a password on the command line can be read by others.
    let root = json_of(call(&data, &["user.initUser", "-"], &account))["id"].clone();
    let alice = json!({"username": "alice", "password": PASSWORD, "groupIds": []}).to_string();
    json_of(call(&data, &["user.create", "-"], &alice));
    let app = json_of(call(
        &data,
        &["app.create", r#"{"name": "An app", "iconUrl": "/icon.svg"}"#],
        "",
    ));

    let users = json_of(call(&data, &["user.getAll"], ""));
    assert_eq!(
        (&users[0]["name"], &users[1]["name"]),
        (&json!("alice"), &json!("root"))
    );
    let apps = json_of(call(&data, &["app.all", "--user", "ALICE"], ""));
    assert_eq!(apps[0]["id"], app["appId"]);
    let own = json!({"userId": users[0]["id"]}).to_string();
    assert_eq!(
        json_of(call(&data, &["user.getById", &own, "--user", "alice"], ""))["name"],
        "alice"
    );
    let text = call(
        &data,
        &[
            "user.getById",
            &json!({"userId": root}).to_string(),
            "--user",
            "alice",
        ],
        "",
    )
    .failed();
    assert!(text.contains("FORBIDDEN"), "{text}");
    call(&data, &["user.getAll", "--user", "root"], "").succeeded();
    let text = call(&data, &["app.all", "--user", "mallory"], "").failed();
    assert!(text.contains("mallory"), "the unknown user is named:\n{text}");

    let text = call(&data, &["app.create", r#"{"name": "", "iconUrl": "/i.svg"}"#], "").failed();
    assert!(
        text.contains("BAD_REQUEST") && text.contains("name"),
        "code and field are named:\n{text}"
    );
    call(&data, &["app.create", "{\"name\""], "").failed();
    let text = call(&data, &["app.nope"], "").failed();
    assert!(text.contains("app.nope"), "the procedure is named:\n{text}");
    call(
        &data,
        &["app.delete", &json!({"id": app["appId"]}).to_string()],
        "",
    )
    .succeeded();
    assert_eq!(json_of(call(&data, &["app.all"], "")), json!([]));
}

#[test]
fn procedures_run_on_a_running_host_with_a_key() {
    let server = Portico::start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).key;
    let url = format!("http://{}", server.address());
    let remote = |arguments: &[&str], key: &str, input: &str| {
        run(
            command()
                .arg("call")
                .args(arguments)
                .args(["--url", &url, "--key", key]),
            input,
        )
    };
    let app = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
    let created = json_of(remote(&["app.create", "-"], &key, &app));
    assert_eq!(admin.app_names(), ["An app"]);
    let input = json!({"id": created["appId"]}).to_string();
    assert_eq!(json_of(remote(&["app.byId", &input], &key, ""))["name"], "An app");
    assert_eq!(json_of(remote(&["app.all"], &key, ""))[0]["name"], "An app");
    remote(
        &[
            "app.update",
            &json!({"id": created["appId"], "name": "B"}).to_string(),
        ],
        &key,
        "",
    )
    .succeeded();
    let text = remote(&["app.create", "{}"], &key, "").failed();
    assert!(
        text.contains("BAD_REQUEST") && text.contains("iconUrl"),
        "code and field are named:\n{text}"
    );
    let text = remote(&["app.all"], "not-a-key", "").failed();
    assert!(text.contains("UNAUTHORIZED"), "{text}");
    assert_eq!(admin.app_names(), ["B"]);
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let in_folder = |name: &str| folder.path().join(name).to_str().expect("a text").to_owned();
    let (by_file, by_environment, by_flag) = (in_folder("file"), in_folder("environment"), in_folder("flag"));
    let config = in_folder("portico.toml");
    std::fs::write(
        &config,
        format!("listen = \"127.0.0.1:0\"\ndata = \"{by_file}\"\n"),
    )
    .expect("write the file");
    let used = |name: &str| Path::new(name).exists();

    let mut builder = Builder::default()
        .without_flags()
        .argument("--config")
        .argument(&config);
    builder.clone().start().stop().succeeded();
    assert_eq!(
        [used(&by_file), used(&by_environment), used(&by_flag)],
        [true, false, false]
    );
    builder = builder.environment("PORTICO_DATA", &by_environment);
    builder.clone().start().stop().succeeded();
    assert_eq!([used(&by_environment), used(&by_flag)], [true, false]);
    builder
        .clone()
        .argument("--data")
        .argument(&by_flag)
        .start()
        .stop()
        .succeeded();
    assert!(used(&by_flag));
    // It overrides a switch of the file in both directions.
    let watch_in_file = |watch: bool| {
        std::fs::write(&config, format!("watch = {watch}\n")).expect("write the file");
        Builder::default().argument("--config").argument(&config)
    };
    let in_environment = |watch: &str| watch_in_file(watch == "false").environment("PORTICO_WATCH", watch);
    in_environment("false").start().stop().succeeded();
    in_environment("true")
        .argument("--watch=false")
        .start()
        .stop()
        .succeeded();
    for (watch, variable, flag) in [
        (true, None, None),
        (false, Some("true"), None),
        (true, Some("false"), Some("--watch")),
    ] {
        watch_in_file(watch);
        let mut serve = command();
        serve
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--config",
                &config,
                "--data",
                &by_flag,
            ])
            .envs(variable.map(|variable| ("PORTICO_WATCH", variable)))
            .args(flag);
        // It watches, and there is no file to watch.
        let refused = run(&mut serve, "").failed();
        assert!(refused.contains("--component FILE"), "{refused}");
    }
    // The environment alone is enough too.
    let server = Builder::default()
        .without_flags()
        .environment("PORTICO_LISTEN", "127.0.0.1:0");
    let server = server.environment("PORTICO_DATA", in_folder("fourth")).start();
    server.anonymous().query("onboard.currentStep", &NO_INPUT).data();

    std::fs::write(&config, "listen = 127.0.0.1").expect("write the file");
    let text = portico(&["serve", "--config", &config], "").failed();
    assert!(text.contains("portico.toml"), "the file is named:\n{text}");
    let text = portico(&["serve", "--config", &in_folder("missing.toml")], "").failed();
    assert!(text.contains("missing.toml"), "the file is named:\n{text}");
    let text = portico(
        &["serve", "--listen", "nonsense", "--data", &in_folder("fifth")],
        "",
    )
    .failed();
    assert!(text.contains("nonsense"), "the address is named:\n{text}");
}

#[test]
fn a_second_host_on_the_same_data_is_refused() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let data = server.data().to_str().expect("a text").to_owned();
    let text = portico(&["serve", "--listen", "127.0.0.1:0", "--data", &data], "").failed();
    assert!(text.contains(&data), "the directory is named:\n{text}");
    let text = call(&server.data(), &["app.all"], "").failed();
    assert!(text.contains(&data), "the directory is named:\n{text}");
    // The first one does not mind, and leaves nothing behind that would keep the next one out.
    assert_eq!(admin.user_names(), ["root"]);
    server.kill();
    server.start_again();
    assert_eq!(admin.user_names(), ["root"]);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = Portico::start();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().to_str().expect("a text");
    let text = portico(&["serve", "--listen", &server.address(), "--data", data], "").failed();
    assert!(text.contains(&server.address()), "the address is named:\n{text}");
}

#[test]
fn an_open_onboarding_beyond_this_machine_is_warned_of() {
    let warned = |finished: &Finished| {
        let text = finished.text();
        text.lines()
            .any(|line| line.contains("WARN") && line.to_lowercase().contains("onboarding"))
    };
    let mut server = Builder::default().listen("0.0.0.0:0").start();
    assert!(warned(&server.stop()), "no warning");
    server.start_again();
    administrator(&server);
    server.stop();
    server.start_again();
    assert!(!warned(&server.stop()), "a warning although onboarding is over");

    let mut server = Portico::start();
    assert!(
        !warned(&server.stop()),
        "a warning although only this machine can reach it"
    );
}

#[test]
fn as_many_files_may_be_open_as_the_system_allows() {
    let server = Builder::default().limit("--nofile=64:").start();
    let limits = format!("/proc/{}/limits", server.process_id());
    let limits = std::fs::read_to_string(limits).expect("its limits");
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .expect("the limit of open files");
    let limit: Vec<_> = limit.split_whitespace().collect();
    assert_eq!(limit[0], limit[1], "soft and hard: {limit:?}");
    assert_ne!(limit[0], "64");
}

#[test]
fn one_line_says_where_it_listens() {
    let mut server = Portico::start();
    server.anonymous().get("/api/health/ready").assert_status(200);
    let address = server.address();
    let stdout = server.stop().succeeded();
    let lines: Vec<_> = stdout
        .lines()
        .filter(|line| line.contains("portico listens on"))
        .collect();
    assert_eq!(lines.len(), 1, "{stdout}");
    assert!(lines[0].contains(&format!("http://{address}")), "{stdout}");
}

#[test]
fn a_lost_password_is_recovered_on_the_data_directory() {
    let mut server = Portico::start();
    let session = administrator(&server);
    let key = session.key_of(&session.user_id);
    set_up(&session, SystemClock.now());
    server.stop().succeeded();
    let data = server.data().to_str().expect("a text").to_owned();
    let text = portico(&["recover", "ROOT", "--data", &data], "").succeeded();
    let missing = portico(&["recover", "mallory", "--data", &data], "").failed();
    assert!(
        missing.contains("mallory"),
        "the unknown user is named:\n{missing}"
    );

    server.start_again();
    let sign_in = |password: &str| {
        let body = json!({"username": "root", "password": password});
        server.anonymous().post("/api/auth/sign-in", &body).status
    };
    assert_eq!(sign_in(PASSWORD), 401, "the old password is gone");
    for client in [&session as &dyn Client, &key] {
        client
            .get("/api/auth/session")
            .assert_refused(401, "UNAUTHORIZED");
    }
    assert!(text.contains("API keys of root have ended"), "{text}");
    // Without the second factor, which was lost as well.
    let new = text
        .split_whitespace()
        .filter(|word| word.len() >= 8)
        .find(|word| sign_in(word) == 200);
    let new = new.unwrap_or_else(|| panic!("no word of this signs in:\n{text}"));
    // Wherever it stops half way, the account is not weaker: the password comes first, and enabling last.
    let page = json!({"page": 1, "pageSize": 10});
    let rows = server
        .sign_in("root", new)
        .query("audit.getPaginated", &page)
        .data();
    let mut rows: Vec<_> = rows["items"].as_array().expect("rows").iter().collect();
    rows.retain(|row| row["authentication"] == "operator");
    let done: Vec<_> = rows.iter().rev().map(|row| &row["procedure"]).collect();
    assert_eq!(
        done,
        [
            "user.changePassword",
            "secondFactor.deleteOfUser",
            "user.setDisabled"
        ]
    );
}

#[test]
fn a_lost_second_factor_is_removed_on_the_data_directory() {
    let mut server = Portico::start();
    let session = administrator(&server);
    let key = session.key_of(&session.user_id);
    set_up(&session, SystemClock.now());
    let sign_in = |server: &Portico| {
        let body = json!({"username": "root", "password": PASSWORD});
        server.anonymous().post("/api/auth/sign-in", &body)
    };
    ticket_of(&sign_in(&server));
    server.stop().succeeded();
    let data = server.data().to_str().expect("a text").to_owned();
    let text = portico(&["recover", "root", "--second-factor", "--data", &data], "").succeeded();
    assert!(text.contains("root has no second factor now"), "{text}");
    server.start_again();
    sign_in(&server).assert_status(200);
    session
        .get("/api/auth/session")
        .assert_refused(401, "UNAUTHORIZED");
    key.get("/api/auth/session").assert_status(200);
    let rows = json!({"page": 1, "pageSize": 10, "procedure": "secondFactor.deleteOfUser"});
    let rows = key.query("audit.getPaginated", &rows).data();
    assert_eq!(rows["items"][0]["authentication"], "operator", "{rows}");
    // What it says is what it did.
    let recover = ["recover", "root", "--second-factor", "--data", &data];
    server.stop().succeeded();
    let text = portico(&recover, "").succeeded();
    assert!(
        text.contains("nothing was changed") && !text.contains("ended"),
        "{text}"
    );
    // A name of several users says nothing about which of them has lost it.
    server.start_again();
    server.seed(async |transaction| {
        let mut other = new_user("the other", "root");
        other.user.provider = Provider::Ldap;
        transaction.insert_user(&other).await.expect("a new user");
    });
    server.stop().succeeded();
    let refused = portico(&recover, "").failed();
    assert!(
        refused.contains("the other (ldap)") && refused.contains(&session.user_id),
        "{refused}"
    );
}

#[test]
fn logs_are_written_for_programs_when_asked() {
    let builder = Builder::default()
        .argument("--log-format")
        .argument("json")
        .argument("--log")
        .argument("debug");
    let mut server = builder.start();
    server.anonymous().query("app.all", &NO_INPUT).assert_status(401);
    administrator(&server);
    // A page, which calls the API more than once.
    server.anonymous().get("/sign-in").assert_status(200);
    let log = server.stop();
    let entries = json_lines(&log.text());
    let answered: Vec<_> = entries
        .iter()
        .filter(|entry| entry["message"] == "answered")
        .collect();
    for path in ["/api/trpc/app.all", "/sign-in"] {
        let lines: Vec<_> = answered.iter().filter(|entry| entry["path"] == path).collect();
        assert_eq!(lines.len(), 1, "{path}: {lines:?}");
        let (status, micros) = (&lines[0]["status"], &lines[0]["micros"]);
        assert!(status.is_u64() && micros.is_u64(), "{}", lines[0]);
    }
    let mut ids: Vec<_> = answered.iter().map(|entry| entry["request"].as_str()).collect();
    let lines = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), lines, "one line for a request: {answered:?}");

    // What ends a start, too.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("write a file");
    let file = file.to_str().expect("a path of text");
    let failed = portico(&["serve", "--log-format", "json", "--data", file], "").failed();
    let entries = json_lines(&failed);
    let message = entries.last().expect("a line")["message"].as_str();
    let expected = format!("{file} is a file; --data needs a folder");
    assert_eq!(message, Some(&*expected), "{failed}");
}

/// Lines of which each is an object with a level and a message.
#[track_caller]
fn json_lines(text: &str) -> Vec<Value> {
    let entries = text.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for field in ["timestamp", "level", "message"] {
            assert!(entry[field].is_string(), "{field}: {line}");
        }
        entry
    });
    entries.collect()
}

#[test]
fn a_variable_that_nothing_reads_is_named() {
    let server = Builder::default()
        .environment("PORTICO_LIMIT_BODYS", "1000")
        .environment("PORTICO_SERVICE_HOST", "10.0.0.1")
        .environment("PORTICO_KEY", "of another command")
        .start();
    let log = wait_for_text(|| server.log(), "nothing reads", 1);
    let warned: Vec<_> = log
        .lines()
        .filter(|line| line.contains("nothing reads"))
        .collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(
        warned[0].contains("PORTICO_LIMIT_BODYS: did you mean PORTICO_LIMIT_BODY?"),
        "{log}"
    );
}

#[test]
fn limits_beyond_their_bounds_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("portico.toml");
    let config = config.to_str().expect("a text");
    let longest = u64::MAX.to_string();
    for (setting, value) in [
        ("write-time", "0"),
        ("write-time", "86401"),
        ("write-time", longest.as_str()),
        ("unsent", "0"),
        ("incoming", "0"),
    ] {
        let flag = format!("--limit-{setting}");
        let text = portico(&["serve", &flag, value], "").failed();
        assert!(text.contains(&flag), "{text}");
        std::fs::write(config, format!("[limits]\n{setting} = {value}\n")).expect("write the file");
        let text = portico(&["serve", "--config", config], "").failed();
        assert!(text.contains("portico.toml"), "{text}");
    }
}

#[test]
fn limits_are_settings() {
    let server = Builder::default()
        .environment("PORTICO_LIMIT_BODY", "1000")
        .argument("--limit-batch")
        .argument("2")
        .start();
    let body = format!("{{\"username\": \"{}\"}}", "x".repeat(1000));
    let anonymous = server.anonymous();
    let answer = anonymous.send_text("POST", "/api/trpc/user.initUser", &body);
    answer.assert_refused(413, "PAYLOAD_TOO_LARGE");
    assert!(answer.text().contains("1000 bytes"), "{answer}");
    let step = "onboard.currentStep";
    anonymous
        .get(&format!("/api/trpc/{step},{step}?batch=1"))
        .assert_status(200);
    let answer = anonymous.get(&format!("/api/trpc/{step},{step},{step}?batch=1"));
    answer.assert_refused(400, "BAD_REQUEST");
}
