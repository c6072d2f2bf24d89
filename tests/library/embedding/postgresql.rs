//! `examples/node-dashboard/postgresql`: Node 24 and an asynchronous driver, on a real PostgreSQL.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use portico_tests::{hostile_component, node, postgresql::Postgresql, repository};

use super::{
    dashboard::{Dashboard, keeps_every_rule_of_storage, strangers},
    node::{copy, example, with_component},
};

/// In `tests/clients/embedding`.
const ADAPTER: &str = "node_dashboard.mjs";

/// The example over PostgreSQL, installed, with what it shares with the other one.
#[track_caller]
fn installed() -> PathBuf {
    example();
    node::installed(Path::new("examples/node-dashboard/postgresql"))
}

/// Node 24, from the package `node`.
fn node_24(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("node_modules/node/bin/node"));
    command.current_dir(folder);
    command
}

/// Starts the dashboard in this folder.
#[track_caller]
fn start(folder: &Path, postgresql: &Postgresql) -> Dashboard {
    let mut command = node_24(folder);
    command.arg("main.js").env("PORT", "0");
    Dashboard::start(postgresql.reached_by(&mut command))
}

/// Runs a part of `postgresql.mjs` on an empty database.
#[track_caller]
fn passes(part: &str) {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let script = repository().join("tests/clients/embedding/postgresql.mjs");
    let mut command = node_24(&folder);
    command.arg("--expose-gc").arg(script).arg(part);
    node::succeed(postgresql.reached_by(&mut command));
}

#[test]
#[ignore = "make test-all"]
fn a_dashboard_over_postgresql_answers_the_shared_cases() {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let dashboard = start(&folder, &postgresql);
    dashboard.answers_the_shared_cases(ADAPTER);
    dashboard.stop();
}

/// Node 20 has no JSPI: the component runs in threads.
#[test]
#[ignore = "make test-all"]
fn a_dashboard_over_postgresql_answers_the_shared_cases_on_node_20() {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let mut command = Command::new("node");
    command.arg("main.js").env("PORT", "0").current_dir(folder);
    let dashboard = Dashboard::start(postgresql.reached_by(&mut command));
    dashboard.answers_the_shared_cases(ADAPTER);
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn over_postgresql_one_callers_call_leaves_nothing_to_another_and_a_trap_nothing_to_anyone() {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let dashboard = start(&folder, &postgresql);
    let cookies = node::succeed(&mut strangers("accounts", ADAPTER, dashboard.url()));
    dashboard.stop();

    let hostile = tempfile::tempdir().expect("a temporary folder");
    let hostile_folder = with_component(&hostile_component(), hostile.path()).join("postgresql");
    fs::create_dir(&hostile_folder).expect("a folder");
    let parts = [
        "package.json",
        "dashboard.js",
        "database.js",
        "main.js",
        "schema.sql",
        "sessions.js",
        "storage.js",
    ];
    copy(&folder, &parts, &hostile_folder);
    symlink(folder.join("node_modules"), hostile_folder.join("node_modules")).expect("a link");
    let dashboard = start(&hostile_folder, &postgresql);
    node::succeed(strangers("misbehave", ADAPTER, dashboard.url()).arg(cookies));
    for part in ["exhaust", "alongside"] {
        node::succeed(&mut strangers(part, ADAPTER, dashboard.url()));
    }
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn its_storage_over_postgresql_keeps_every_rule() {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let mut command = node_24(&folder);
    keeps_every_rule_of_storage(postgresql.reached_by(command.arg("storage-kit.mjs")));
}

#[test]
#[ignore = "make test-all"]
fn over_postgresql_calls_that_overlap_do_not_fail() {
    passes("collisions");
}

#[test]
#[ignore = "make test-all"]
fn over_postgresql_faults_of_the_host_leave_no_memory_and_no_transaction() {
    passes("faults");
}
