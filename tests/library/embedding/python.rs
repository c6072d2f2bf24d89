//! `bindings/python`, and the dashboards that use it: `examples/python-dashboard` over SQLAlchemy, and
//! `examples/python-own-users` with users and storage of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use portico_tests::{hostile_component, node, postgresql::Postgresql, repository};
use tempfile::TempDir;

use super::dashboard::{
    Dashboard, component, keeps_every_rule_of_storage, other_versions, sha256, strangers,
};

/// In `tests/clients/embedding`, by example.
const READY: (&str, &str) = ("python-dashboard", "python_dashboard.mjs");
const OWN_USERS: (&str, &str) = ("python-own-users", "python_own_users.mjs");

/// Python with the packages that the examples name and the library, in this folder.
#[track_caller]
fn python(folder: &str) -> Command {
    let program: PathBuf = repository().join("target/python/bin/python");
    assert!(program.exists(), "install it first: make target/python/installed");
    let mut command = Command::new(program);
    command.current_dir(repository().join(folder));
    command.env("PYTHONPATH", repository().join("bindings/python"));
    // What mypy finds out of packages serves its next run in the same test.
    let cache = folder.split('/').next().unwrap_or_default();
    command.env("MYPY_CACHE_DIR", repository().join("target/mypy").join(cache));
    command
}

/// An example in its folder.
#[track_caller]
fn example((name, _): (&str, &str)) -> Command {
    python(&format!("examples/{name}"))
}

/// Starts a dashboard with this component, or with the one that it takes by itself.
#[track_caller]
fn start(dashboard: (&str, &str), data: &TempDir, component: Option<&Path>) -> Dashboard {
    let mut command = example(dashboard);
    command
        .arg("main.py")
        .env_remove("COMPONENT")
        .env_remove("DATABASE_URL");
    if let Some(component) = component {
        command.env("COMPONENT", component);
    }
    Dashboard::start(command.env("PORT", "0").env("DATA", data.path()))
}

/// A URL for SQLAlchemy.
fn url_of(postgresql: &Postgresql) -> String {
    let folder = postgresql.folder().display();
    format!("postgresql+psycopg://dashboard@/postgres?host={folder}")
}

#[test]
#[ignore = "make test-all"]
fn a_dashboard_in_python_answers_the_shared_cases_over_sqlalchemy() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(READY, &data, None);
    dashboard.answers_the_shared_cases(READY.1);
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn a_dashboard_in_python_answers_the_shared_cases_over_sqlalchemy_on_postgresql() {
    let postgresql = Postgresql::start();
    let mut command = example(READY);
    command
        .arg("main.py")
        .env("PORT", "0")
        .env("DATABASE_URL", url_of(&postgresql));
    let dashboard = Dashboard::start(&mut command);
    dashboard.answers_the_shared_cases(READY.1);
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn a_dashboard_in_python_with_users_of_its_own_answers_the_shared_cases_with_the_file_that_ships() {
    let hash = sha256(&component());
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(OWN_USERS, &data, None);
    let said = dashboard.said();
    assert!(said[0].starts_with(&format!("component {hash}")), "{said:?}");
    dashboard.answers_the_shared_cases(OWN_USERS.1);
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn in_python_components_of_other_versions_answer_the_shared_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for component in other_versions(folder.path()) {
        let data = tempfile::tempdir().expect("a temporary folder");
        let dashboard = start(OWN_USERS, &data, Some(&component));
        dashboard.answers_the_shared_cases(OWN_USERS.1);
        dashboard.stop();
    }
}

#[test]
#[ignore = "make test-all"]
fn in_python_one_callers_call_leaves_nothing_to_another_and_a_trap_nothing_to_anyone() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(OWN_USERS, &data, None);
    let cookies = node::succeed(&mut strangers("accounts", OWN_USERS.1, dashboard.url()));
    dashboard.stop();

    let dashboard = start(OWN_USERS, &data, Some(&hostile_component()));
    node::succeed(strangers("misbehave", OWN_USERS.1, dashboard.url()).arg(cookies));
    node::succeed(&mut strangers("exhaust", OWN_USERS.1, dashboard.url()));
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn its_storage_in_python_keeps_every_rule() {
    keeps_every_rule_of_storage(example(OWN_USERS).arg("storage_kit.py"));
}

#[test]
#[ignore = "make test-all"]
fn in_python_a_call_that_collided_waits_and_tries_again() {
    let script = repository().join("tests/embedding/collisions.py");
    node::succeed(example(OWN_USERS).arg(script));
}

#[test]
#[ignore = "make test-all"]
fn the_types_of_its_examples_in_python_fit() {
    for dashboard in [READY, OWN_USERS] {
        node::succeed(example(dashboard).args(["-m", "mypy"]));
    }
}

#[test]
#[ignore = "make test-all"]
fn the_library_for_python_passes_its_own_tests_on_sqlite_and_postgresql() {
    let postgresql = Postgresql::start();
    let mut tests = python("bindings/python");
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    tests.env("PORTICO_HOSTILE", hostile_component());
    node::succeed(tests.env("PORTICO_TEST_POSTGRESQL", url_of(&postgresql)));
}
