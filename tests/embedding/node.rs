//! `examples/node-dashboard`: Node, through jco.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use portico_tests::node;

use crate::dashboard::{Dashboard, component, keeps_every_rule_of_storage};

/// The example, installed and built from the component that ships.
#[track_caller]
fn example() -> PathBuf {
    let folder = node::installed(Path::new("examples/node-dashboard"));
    let turn = File::open(folder.join("build.js")).expect("its build");
    turn.lock().expect("a turn to build");
    let changed = |file: PathBuf| fs::metadata(file).and_then(|file| file.modified()).ok();
    let built: Option<SystemTime> = changed(folder.join("generated/component.sha256"));
    if built.is_none_or(|built| {
        Some(built) < changed(component()) || Some(built) < changed(folder.join("build.js"))
    }) {
        node::succeed(Command::new("npm").args(["run", "build"]).current_dir(&folder));
    }
    folder
}

fn sha256(file: &Path) -> String {
    let output = node::succeed(Command::new("sha256sum").arg(file));
    output.split(' ').next().expect("a hash").to_owned()
}

#[test]
fn a_dashboard_in_node_answers_the_shared_cases() {
    let folder = example();
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new("node");
    command.arg("main.js").current_dir(&folder);
    let dashboard = Dashboard::start(command.env("PORT", "0").env("DATA", data.path()));
    dashboard.answers_the_shared_cases("node_dashboard.mjs");
    dashboard.stop();
}

#[test]
fn its_storage_keeps_every_rule() {
    keeps_every_rule_of_storage(Command::new("node").arg(example().join("storage-kit.mjs")));
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
