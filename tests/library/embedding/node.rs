//! `examples/node-dashboard`: Node, through jco.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use portico_sandbox::COMPONENT;
use portico_tests::{hostile_component, later, node, renamed, repository};
use tempfile::TempDir;

use super::dashboard::{
    Dashboard, component, keeps_every_rule_of_storage, other_versions, sha256, strangers,
};

/// In `tests/clients/embedding`.
const ADAPTER: &str = "node_dashboard.mjs";

/// The example, installed and built from the component that ships.
#[track_caller]
pub fn example() -> PathBuf {
    let folder = node::installed(Path::new("examples/node-dashboard"));
    built(&folder);
    folder
}

/// Builds an installed example unless it is built from the component that ships.
#[track_caller]
pub fn built(folder: &Path) {
    let build = repository().join("examples/node-dashboard/build.js");
    let turn = File::open(folder.join("package.json")).expect("its scripts");
    turn.lock().expect("a turn to build");
    let changed = |file: PathBuf| fs::metadata(file).and_then(|file| file.modified()).ok();
    let built: Option<SystemTime> = changed(folder.join("generated/component.sha256"));
    let sources = [component(), repository().join("contract/procedures.json"), build];
    if built.is_none_or(|built| {
        sources
            .map(changed)
            .into_iter()
            .any(|source| Some(built) < source)
    }) {
        node::succeed(Command::new("npm").args(["run", "build"]).current_dir(folder));
    }
}

/// What the example consists of, without what is installed and built.
pub const PARTS: [&str; 5] = ["package.json", "build.js", "main.js", "src", "public"];

/// Copies these parts of an installed example to a folder, where it uses the same installed packages.
#[track_caller]
pub fn copy(example: &Path, parts: &[&str], to: &Path) {
    let mut command = Command::new("cp");
    node::succeed(command.arg("-r").args(parts).arg(to).current_dir(example));
    symlink(example.join("node_modules"), to.join("node_modules")).expect("a link");
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

/// Builds a copy of the example in this folder.
fn build(folder: &TempDir) -> Command {
    let mut command = Command::new("node");
    command.arg("build.js").current_dir(folder);
    command
}

/// What it is built from: this component, and the inputs of the procedures.
fn files(component: &Path) -> [PathBuf; 2] {
    [
        component.to_owned(),
        repository().join("contract/procedures.json"),
    ]
}

#[test]
fn in_node_components_of_other_versions_answer_the_shared_cases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&example(), &PARTS, folder.path());
    for component in other_versions(folder.path()) {
        node::succeed(build(&folder).args(files(&component)));
        let data = tempfile::tempdir().expect("a temporary folder");
        let dashboard = start(folder.path(), &data);
        dashboard.answers_the_shared_cases(ADAPTER);
        dashboard.stop();
    }
}

#[test]
fn in_node_a_function_that_should_suspend_a_call_and_is_not_found_fails_the_build() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&example(), &PARTS, folder.path());
    let file = folder.path().join("some.wasm");
    let build_of = |component: Vec<u8>| {
        fs::write(&file, component).expect("write the component");
        let mut command = build(&folder);
        command.arg("--jspi").args(files(&file));
        command.output().expect("run the build")
    };
    let built = build_of(later(&COMPONENT));
    assert!(built.status.success(), "{built:?}");
    // An import, and an export.
    for (old, new) in [("has-users", "has-other"), ("get-all", "got-all")] {
        let refused = build_of(renamed(&COMPONENT, old, new));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("jco found"), "{said}");
    }
}

#[test]
fn in_node_one_callers_call_leaves_nothing_to_another_and_a_trap_nothing_to_anyone() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let dashboard = start(&example(), &data);
    let cookies = node::succeed(&mut strangers("accounts", ADAPTER, dashboard.url()));
    dashboard.stop();

    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&example(), &PARTS, folder.path());
    node::succeed(build(&folder).args(files(&hostile_component())));
    let dashboard = start(folder.path(), &data);
    node::succeed(strangers("misbehave", ADAPTER, dashboard.url()).arg(cookies));
    dashboard.stop();
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
fn it_fits_the_types_that_are_made_of_the_contract() {
    node::succeed(Command::new("npm").args(["run", "check"]).current_dir(example()));
}

#[test]
fn it_runs_the_file_that_ships() {
    let built = fs::read_to_string(example().join("generated/component.sha256")).expect("the hash");
    assert_eq!(built, sha256(&component()));
}
