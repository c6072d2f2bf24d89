//! A dashboard as a child process, and what is tried on it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use portico_sandbox::COMPONENT;
use portico_storage_kit::{all, run};
use portico_tests::{later, node, repository};

/// A running dashboard. Dropping it ends it.
pub struct Dashboard {
    child: Child,
    url: String,
    said: Vec<String>,
}

impl Dashboard {
    /// Starts a server that prints a line `listening on URL` once it does. It gets no address but
    /// a free port, and its log goes to standard error.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("start the dashboard");
        let mut lines = BufReader::new(child.stdout.take().expect("its standard output")).lines();
        let mut said = Vec::new();
        let url = lines.find_map(|line| {
            let line = line.ok()?;
            let url = line.strip_prefix("listening on ").map(str::to_owned);
            said.push(line);
            url
        });
        let Some(url) = url else {
            panic!("it does not listen: {:?}", child.wait());
        };
        Self { child, url, said }
    }

    /// The lines that it printed before it listened, and the one that says so.
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// Where it listens, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs the shared cases over it. The adapter is the file in `tests/clients/embedding` that
    /// knows what is the dashboard's own.
    #[track_caller]
    pub fn answers_the_shared_cases(&self, adapter: &str) {
        let folder = node::client("embedding");
        let mut judge = Command::new("node");
        node::succeed(judge.args(["cases.mjs", adapter, &self.url]).current_dir(folder));
    }

    /// Asks it to stop (SIGTERM) and waits until it did.
    #[track_caller]
    pub fn stop(mut self) {
        node::succeed(Command::new("kill").arg(self.child.id().to_string()));
        let status = self.child.wait().expect("its end");
        assert!(status.success(), "it stopped with a failure: {status}");
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs every case of the storage kit over an implementation, by its bridge.
#[track_caller]
pub fn keeps_every_rule_of_storage(bridge: &mut Command) {
    let mut target = portico_storage_kit::Child::start(bridge).expect("start the bridge");
    let report = run(&mut target, &all(), |_| {});
    assert!(report.is_kept(), "{report}");
}

/// The SHA-256 of a file, in hexadecimal digits.
#[track_caller]
pub fn sha256(file: &Path) -> String {
    let output = node::succeed(Command::new("sha256sum").arg(file));
    output.split(' ').next().expect("a hash").to_owned()
}

/// The component that ships, built by `make component`.
pub fn component() -> PathBuf {
    let file = repository().join("dist/portico.wasm");
    assert!(file.exists(), "build it first: make component");
    file
}

/// Components of other versions than the one that ships, which a dashboard must run as well: the first one, and one of
/// 1.1.0 with an interface that the dashboard does not know, written to this folder.
#[track_caller]
pub fn other_versions(folder: &Path) -> [PathBuf; 2] {
    let later_file = folder.join("later.wasm");
    fs::write(&later_file, later(&COMPONENT)).expect("write the component");
    [repository().join("tests/fixtures/portico-1.0.0.wasm"), later_file]
}

/// One part of `tests/clients/embedding/strangers.mjs` over the dashboard at this URL, with this adapter.
#[track_caller]
pub fn strangers(part: &str, adapter: &str, url: &str) -> Command {
    let mut judge = Command::new("node");
    judge
        .args(["strangers.mjs", part, adapter, url])
        .current_dir(node::client("embedding"));
    judge
}
