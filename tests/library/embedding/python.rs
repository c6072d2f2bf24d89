//! `examples/python-dashboard`: Python, through wasmtime's own package.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use portico_tests::{hostile_component, node, repository};
use tempfile::TempDir;

use super::dashboard::{
    Dashboard, component, keeps_every_rule_of_storage, other_versions, sha256, strangers,
};

/// In `tests/clients/embedding`.
const ADAPTER: &str = "python_dashboard.mjs";

/// Python with the packages that the example names, in the example's folder.
#[track_caller]
fn python() -> Command {
    let program: PathBuf = repository().join("target/python/bin/python");
    assert!(program.exists(), "install it first: make target/python/installed");
    let mut command = Command::new(program);
    command.current_dir(repository().join("examples/python-dashboard"));
    command
}

/// Starts the dashboard with this component, or with the one that it takes by itself.
#[track_caller]
fn start(data: &TempDir, component: Option<&Path>) -> Dashboard {
    let mut command = python();
    command.arg("main.py").env_remove("COMPONENT");
    if let Some(component) = component {
        command.env("COMPONENT", component);
    }
    Dashboard::start(command.env("PORT", "0").env("DATA", data.path()))
}

#[test]
#[ignore = "make test-all"]
fn a_dashboard_in_python_answers_the_shared_cases_with_the_file_that_ships() {
    let hash = sha256(&component());
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&data, None);
    let said = dashboard.said();
    assert!(said[0].starts_with(&format!("component {hash} ")), "{said:?}");
    dashboard.answers_the_shared_cases(ADAPTER);
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn in_python_components_of_other_versions_answer_the_shared_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for component in other_versions(folder.path()) {
        let data = tempfile::tempdir().expect("a temporary folder");
        let dashboard = start(&data, Some(&component));
        dashboard.answers_the_shared_cases(ADAPTER);
        dashboard.stop();
    }
}

#[test]
#[ignore = "make test-all"]
fn in_python_one_callers_call_leaves_nothing_to_another_and_a_trap_nothing_to_anyone() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&data, None);
    let cookies = node::succeed(&mut strangers("accounts", ADAPTER, dashboard.url()));
    dashboard.stop();

    let dashboard = start(&data, Some(&hostile_component()));
    node::succeed(strangers("misbehave", ADAPTER, dashboard.url()).arg(cookies));
    node::succeed(&mut strangers("exhaust", ADAPTER, dashboard.url()));
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn its_storage_in_python_keeps_every_rule() {
    keeps_every_rule_of_storage(python().arg("storage_kit.py"));
}

#[test]
#[ignore = "make test-all"]
fn in_python_a_call_that_collided_waits_and_tries_again() {
    let script = repository().join("tests/embedding/collisions.py");
    node::succeed(python().arg(script));
}

#[test]
#[ignore = "make test-all"]
fn its_types_in_python_fit() {
    node::succeed(python().args(["-m", "mypy"]));
}
