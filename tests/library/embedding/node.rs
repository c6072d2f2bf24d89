//! `bindings/node`, and `examples/node-dashboard`, which uses it.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use portico_sandbox::COMPONENT;
use portico_tests::{hostile_component, later, node, postgresql::Postgresql, renamed, repository};
use tempfile::TempDir;

use super::dashboard::{
    Dashboard, component, keeps_every_rule_of_storage, other_versions, sha256, strangers,
};

/// In `tests/clients/embedding`.
const ADAPTER: &str = "node_dashboard.mjs";

/// The library, installed and built from the component that ships.
#[track_caller]
fn library() -> PathBuf {
    let folder = node::installed(Path::new("bindings/node"));
    let turn = File::open(folder.join("package.json")).expect("its scripts");
    turn.lock().expect("a turn to build");
    let changed = |file: PathBuf| fs::metadata(file).and_then(|file| file.modified()).ok();
    let built: Option<SystemTime> = changed(folder.join("generated/component.sha256"));
    let scripts = fs::read_dir(folder.join("build")).expect("its build");
    let sources = scripts.map(|script| script.expect("a script").path());
    let ready = repository().join("dist/portico-with-sql.wasm");
    assert!(ready.exists(), "build it first: make storage-component");
    let sources = sources.chain([component(), ready, repository().join("contract/procedures.json")]);
    if built.is_none_or(|built| sources.map(changed).any(|source| Some(built) < source)) {
        node::succeed(Command::new("npm").args(["run", "build"]).current_dir(&folder));
    }
    folder
}

/// The example, installed, with the library.
#[track_caller]
pub fn example() -> PathBuf {
    library();
    node::installed(Path::new("examples/node-dashboard"))
}

/// What the example consists of, without what is installed.
const PARTS: [&str; 4] = ["package.json", "main.js", "src", "public"];

/// Copies the example to a folder, over a library that is built from this component. Returns the copy.
#[track_caller]
pub fn with_component(component: &Path, folder: &Path) -> PathBuf {
    let (example, installed) = (example(), library());
    let [package, dashboard] = ["package", "dashboard"].map(|name| folder.join(name));
    let packages = dashboard.join("node_modules");
    for folder in [&package, &packages.join("@portico")] {
        fs::create_dir_all(folder).expect("a folder");
    }
    copy(&installed, &["package.json", "lib"], &package);
    symlink(installed.join("node_modules"), package.join("node_modules")).expect("a link");
    node::succeed(&mut build(&package.join("generated"), component));

    copy(&example, &PARTS, &dashboard);
    for entry in fs::read_dir(example.join("node_modules")).expect("its packages") {
        let entry = entry.expect("a package");
        if entry.file_name() != "@portico" {
            symlink(entry.path(), packages.join(entry.file_name())).expect("a link");
        }
    }
    symlink(&package, packages.join("@portico/dashboard")).expect("a link");
    dashboard
}

/// Builds what the library runs in this folder, from this component.
fn build(folder: &Path, component: &Path) -> Command {
    let mut command = Command::new("node");
    command
        .args(["build/build.js", "--out"])
        .args([folder, component])
        .current_dir(library());
    command
}

/// Copies parts of a folder to another one.
#[track_caller]
pub fn copy(from: &Path, parts: &[&str], to: &Path) {
    node::succeed(Command::new("cp").arg("-r").args(parts).arg(to).current_dir(from));
}

/// Starts the dashboard in this folder.
#[track_caller]
fn start(folder: &Path, data: &TempDir) -> Dashboard {
    let mut command = Command::new("node");
    command.arg("main.js").current_dir(folder);
    Dashboard::start(command.env("PORT", "0").env("DATA", data.path()))
}

#[test]
fn a_dashboard_in_node_answers_the_shared_cases() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&example(), &data);
    dashboard.answers_the_shared_cases(ADAPTER);
    dashboard.stop();
}

#[test]
fn in_node_components_of_other_versions_answer_the_shared_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for component in other_versions(folder.path()) {
        let data = tempfile::tempdir().expect("a temporary folder");
        let copy = tempfile::tempdir().expect("a temporary folder");
        let dashboard = start(&with_component(&component, copy.path()), &data);
        dashboard.answers_the_shared_cases(ADAPTER);
        dashboard.stop();
    }
}

#[test]
fn in_node_an_export_that_should_suspend_a_call_and_is_not_found_fails_the_build() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("some.wasm");
    let build_of = |component: Vec<u8>| {
        fs::write(&file, component).expect("write the component");
        let mut command = build(&folder.path().join("generated"), &file);
        command.output().expect("run the build")
    };
    let built = build_of(later(&COMPONENT));
    assert!(built.status.success(), "{built:?}");
    let refused = build_of(renamed(&COMPONENT, "get-all", "got-all"));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("users#get-all"), "{said}");
}

#[test]
fn in_node_one_callers_call_leaves_nothing_to_another_and_a_trap_nothing_to_anyone() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&example(), &data);
    let cookies = node::succeed(&mut strangers("accounts", ADAPTER, dashboard.url()));
    dashboard.stop();

    let folder = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&with_component(&hostile_component(), folder.path()), &data);
    node::succeed(strangers("misbehave", ADAPTER, dashboard.url()).arg(cookies));
    node::succeed(&mut strangers("exhaust", ADAPTER, dashboard.url()));
    node::succeed(&mut strangers("alongside", ADAPTER, dashboard.url()));
    dashboard.stop();
}

#[test]
fn the_library_for_node_keeps_its_promises() {
    node::succeed(Command::new("npm").arg("test").current_dir(library()));
}

#[test]
#[ignore = "make test-all"]
fn the_library_keeps_them_on_node_24_and_over_postgresql_too() {
    let (folder, postgresql) = (library(), Postgresql::start());
    let tests = ["portico", "http", "database"].map(|name| format!("test/{name}.test.js"));
    let mut command = Command::new(folder.join("node_modules/node/bin/node"));
    command.arg("--test").args(tests).current_dir(folder);
    node::succeed(postgresql.reached_by(&mut command));
}

/// A dashboard without users of its own, over the ready storage.
#[track_caller]
fn answers_the_shared_cases_over_the_ready_storage(node: &Path, reached: impl FnOnce(&mut Command)) {
    library();
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(node);
    command
        .arg("ready.mjs")
        .env("PORT", "0")
        .env("DATA", data.path())
        .env_remove("PGHOST")
        .current_dir(node::client("embedding"));
    reached(&mut command);
    let dashboard = Dashboard::start(&mut command);
    dashboard.answers_the_shared_cases("node_ready.mjs");
    dashboard.stop();
}

#[test]
#[ignore = "make test-all"]
fn in_node_the_ready_storage_answers_the_shared_cases() {
    answers_the_shared_cases_over_the_ready_storage(Path::new("node"), |_| ());
}

#[test]
#[ignore = "make test-all"]
fn in_node_24_the_ready_storage_answers_the_shared_cases_over_postgresql() {
    let (node, postgresql) = (library().join("node_modules/node/bin/node"), Postgresql::start());
    answers_the_shared_cases_over_the_ready_storage(&node, |command| {
        postgresql.reached_by(command);
    });
}

/// Node 20 has no JSPI: over PostgreSQL the ready storage runs in threads.
#[test]
#[ignore = "make test-all"]
fn the_library_keeps_them_over_postgresql_on_node_20() {
    let postgresql = Postgresql::start();
    let mut command = Command::new("node");
    // One test for each way to wait: lists and writes, hashing, and calls that overlap.
    let pattern = "--test-name-pattern=over pg, (users and apps|sessions|calls that overlap)";
    command.args(["--test", pattern, "test/database.test.js"]);
    let said = node::succeed(postgresql.reached_by(command.current_dir(library())));
    assert!(said.contains("over pg, calls that overlap do not fail"), "{said}");
}

#[test]
fn its_storage_keeps_every_rule() {
    keeps_every_rule_of_storage(Command::new("node").arg(example().join("storage-kit.mjs")));
}

#[test]
fn in_node_a_call_that_collided_waits_and_tries_again() {
    let judge = node::client("embedding");
    example();
    node::succeed(Command::new("node").arg("collisions.mjs").current_dir(judge));
}

#[test]
#[ignore = "make test-all"]
fn better_auth_says_who_calls() {
    library();
    let example = node::installed(Path::new("examples/node-better-auth"));
    let data = tempfile::tempdir().expect("a temporary folder");
    for part in ["session", "restarted"] {
        let mut command = Command::new("node");
        command
            .arg("main.js")
            .env("ADMIN", "ada@example.org")
            .current_dir(&example);
        let dashboard = Dashboard::start(command.env("PORT", "0").env("DATA", data.path()));
        let mut judge = Command::new("node");
        judge.args(["better_auth.mjs", part, dashboard.url()]);
        node::succeed(judge.current_dir(node::client("embedding")));
        dashboard.stop();
    }
}

#[test]
fn it_fits_the_types_that_are_made_of_the_contract() {
    node::succeed(Command::new("npm").args(["run", "check"]).current_dir(example()));
}

#[test]
fn it_runs_the_file_that_ships() {
    let built = fs::read_to_string(library().join("generated/component.sha256")).expect("the hash");
    assert_eq!(built, sha256(&component()));
}
