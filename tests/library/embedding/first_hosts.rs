//! The hosts of the contract 1.0.0 as they were (`tests/fixtures/hosts-1.0.0`) run the file that ships: a dashboard that took
//! Portico in with 1.0.0 exchanges the file and nothing else.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use portico_tests::{node, repository};

use super::{dashboard::component, node::copy};

const HOSTS: &str = "tests/fixtures/hosts-1.0.0";

#[test]
fn the_first_host_in_node_runs_the_file_that_ships() {
    let host = node::installed(&Path::new(HOSTS).join("node"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(
        &host,
        &["package.json", "build.js", "run.js", "src"],
        folder.path(),
    );
    symlink(host.join("node_modules"), folder.path().join("node_modules")).expect("a link");
    let files = [component(), repository().join("contract/procedures.json")];
    let mut build = Command::new("node");
    node::succeed(build.arg("build.js").args(files).current_dir(&folder));
    node::succeed(Command::new("node").arg("run.js").current_dir(&folder));
}

#[test]
#[ignore = "make test-all"]
fn the_first_host_in_python_runs_the_file_that_ships() {
    let program = repository().join("target/python/bin/python");
    assert!(program.exists(), "install it first: make target/python/installed");
    let script = repository().join(HOSTS).join("python/run.py");
    node::succeed(Command::new(program).arg(script).arg(component()));
}
