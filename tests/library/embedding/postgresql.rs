//! `examples/node-dashboard/postgresql`: Node 24 and an asynchronous driver, on a real PostgreSQL.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use portico_tests::{node, repository};
use tempfile::TempDir;

use super::{
    dashboard::{Dashboard, component, keeps_every_rule_of_storage, sha256},
    node::{built, example},
};

/// A PostgreSQL server on a socket in a temporary folder. Dropping it ends it.
struct Postgresql {
    server: Child,
    folder: TempDir,
}

impl Postgresql {
    #[track_caller]
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = repository().join("tests/embedding/postgresql.sh");
        let mut command = Command::new(script);
        command.arg(folder.path()).stdin(Stdio::null());
        let server = command.stdout(Stdio::null()).spawn().expect("start PostgreSQL");
        let mut this = Self { server, folder };
        let deadline = Instant::now() + Duration::from_secs(60);
        while !this.answers() {
            let ended = this.server.try_wait().expect("its state");
            assert!(ended.is_none(), "PostgreSQL ended: {ended:?}");
            assert!(Instant::now() < deadline, "PostgreSQL does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        this
    }

    /// Whether it takes connections. `psql` comes with the server.
    fn answers(&self) -> bool {
        let mut psql = Command::new("psql");
        psql.args(["--quiet", "--command", "SELECT 1"]);
        let status = self
            .reached_by(psql.stdout(Stdio::null()).stderr(Stdio::null()))
            .status();
        status.expect("psql").success()
    }

    /// Tells a program where the database is.
    fn reached_by<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("PGHOST", self.folder.path())
            .env("PGUSER", "dashboard")
            .env("PGDATABASE", "postgres")
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        // SIGINT ends the server and its processes at once; SIGKILL would leave them.
        let _ = Command::new("kill")
            .args(["-INT", &self.server.id().to_string()])
            .status();
        let _ = self.server.wait();
    }
}

/// The example over PostgreSQL, installed and built, with what it shares with the other one.
#[track_caller]
fn installed() -> PathBuf {
    example();
    let folder = node::installed(Path::new("examples/node-dashboard/postgresql"));
    built(&folder);
    folder
}

/// Node 24, from the package `node`.
fn node_24(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("node_modules/node/bin/node"));
    command.current_dir(folder);
    command
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
fn a_dashboard_over_postgresql_answers_the_shared_cases_with_the_file_that_ships() {
    let (folder, postgresql) = (installed(), Postgresql::start());
    let built = std::fs::read_to_string(folder.join("generated/component.sha256")).expect("the hash");
    assert_eq!(built, sha256(&component()));
    let mut command = node_24(&folder);
    command.arg("main.js").env("PORT", "0");
    let dashboard = Dashboard::start(postgresql.reached_by(&mut command));
    dashboard.answers_the_shared_cases("node_dashboard.mjs");
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
