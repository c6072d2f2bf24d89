//! `examples/rust-dashboard`: Rust, through the host library. Its own test runs the storage kit.

use std::process::Command;

use portico_tests::{Anonymous, Client as _, binary, cache, node};
use tempfile::TempDir;

use super::dashboard::{Dashboard, component, other_versions, sha256};

/// The example, built alongside the service.
fn example(data: &TempDir) -> Command {
    let file = binary().with_file_name("rust-dashboard");
    assert!(file.exists(), "build it first: cargo build -p rust-dashboard");
    let mut command = Command::new(file);
    command.args(["--listen", "127.0.0.1:0", "--cache"]).arg(cache());
    command.arg("--database").arg(data.path().join("dashboard.db"));
    command
}

#[test]
fn a_dashboard_in_rust_answers_the_shared_cases() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut command = example(&data);
    command.arg("--no-throttle").arg("--component").arg(component());
    let dashboard = Dashboard::start(&mut command);
    dashboard.answers_the_shared_cases("rust_dashboard.mjs");
    dashboard.stop();
}

#[test]
fn in_rust_components_of_other_versions_answer_the_shared_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for component in other_versions(folder.path()) {
        let data = tempfile::tempdir().expect("a temporary folder");
        let mut command = example(&data);
        command.arg("--no-throttle").arg("--component").arg(component);
        let dashboard = Dashboard::start(&mut command);
        dashboard.answers_the_shared_cases("rust_dashboard.mjs");
        dashboard.stop();
    }
}

#[test]
fn in_rust_the_component_inside_is_the_file_that_ships() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let hash = node::succeed(example(&data).arg("--component-hash"));
    assert_eq!(hash.trim(), sha256(&component()));
}

#[test]
fn in_rust_paths_that_are_not_porticos_stay_the_dashboards() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = Dashboard::start(&mut example(&data));
    let anonymous = Anonymous::at(dashboard.url().trim_start_matches("http://"));
    let send = |path: &str| anonymous.try_send("GET", path, &[], None).expect("an answer");
    // axum's own answer, without what Portico puts around its routes.
    for path in ["/nothing", "/portico/nothing", "/portico/api/auth/session"] {
        let answer = send(path);
        assert_eq!(answer.status, 404, "{path}: {answer}");
        assert!(
            answer.body.is_empty() && answer.header("x-request-id").is_none(),
            "{path}: {answer}"
        );
    }
    // Nor are the procedures there that the dashboard does by itself.
    let answer = send("/portico/api/trpc/board.getAll");
    assert_eq!((answer.status, &answer.code()[..]), (404, "NOT_FOUND"));
    assert_eq!(send("/portico/api/health/ready").json()["status"], "ok");
    let answer = send("/portico/api/apps");
    assert_eq!((answer.status, &answer.code()[..]), (401, "UNAUTHORIZED"));
    assert!(answer.header("x-request-id").is_some());
    dashboard.stop();
}

#[test]
fn in_rust_cross_site_requests_change_nothing() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = Dashboard::start(&mut example(&data));
    let anonymous = Anonymous::at(dashboard.url().trim_start_matches("http://"));
    let json = ("content-type", "application/json");
    let account = br#"{"username": "ada", "password": "correct horse"}"#;
    let send = |path: &str, headers: &[(&str, &str)], body: &[u8]| {
        anonymous
            .try_send("POST", path, headers, Some(body))
            .expect("an answer")
    };
    let foreign = [json, ("sec-fetch-site", "cross-site")];
    let refused = send("/portico/api/trpc/user.initUser", &foreign, account);
    assert_eq!(refused.code(), "FORBIDDEN", "{refused}");
    send("/portico/api/trpc/user.initUser", &[json], account).assert_status(200);
    let signed_in = send("/session", &[json], account);
    let cookie = signed_in
        .assert_status(200)
        .header("set-cookie")
        .expect("a cookie")
        .to_owned();
    let cookie = ("cookie", cookie.split(';').next().expect("a pair"));

    let app = br#"{"name": "App", "iconUrl": "/app.svg"}"#;
    let from = |site: &str| {
        send(
            "/portico/api/apps",
            &[json, cookie, ("sec-fetch-site", site)],
            app,
        )
    };
    assert_eq!(from("cross-site").code(), "FORBIDDEN");
    from("same-origin").assert_status(200);
    dashboard.stop();
}
