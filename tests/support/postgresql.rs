//! A PostgreSQL server of a test's own, on a socket in a temporary folder.
//!
//! Needs nothing but the standard library and `tempfile`: crates that cannot depend on the rest of the tests'
//! support take this file in by its path.

#![allow(dead_code, reason = "not every test uses everything")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a start on a machine that runs other tests.
const START: Duration = Duration::from_secs(60);

/// A server. Dropping it ends it.
pub struct Postgresql {
    server: Mutex<Child>,
    folder: TempDir,
    options: Vec<String>,
}

impl Postgresql {
    /// Whether the programs of the server are on this machine.
    pub fn is_installed() -> bool {
        let folders = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let folders = folders.flatten().map(|version| version.path().join("bin"));
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = folders.chain(std::env::split_paths(&on_path));
        folders.any(|folder| folder.join("initdb").exists())
    }

    /// Starts an empty server and waits until it takes connections.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with these options of `postgres`.
    #[track_caller]
    pub fn start_with(options: &[&str]) -> Self {
        assert_named();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options: Vec<_> = options.iter().map(ToString::to_string).collect();
        let server = spawn(folder.path(), &options);
        let this = Self {
            server: Mutex::new(server),
            folder,
            options,
        };
        this.wait();
        this
    }

    /// Where its socket is, and its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates an empty database of this name; gives its URL.
    #[track_caller]
    pub fn create_database(&self, name: &str) -> String {
        self.run("postgres", &format!("CREATE DATABASE \"{name}\""));
        self.url(name)
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.url_of("dashboard", database)
    }

    /// The URL of a database for this role.
    pub fn url_of(&self, role: &str, database: &str) -> String {
        let folder = self.folder.path().to_str().expect("a path of text");
        format!(
            "postgres://{role}@{}:{}/{database}",
            folder.replace('/', "%2F"),
            self.port()
        )
    }

    /// Also the name of its socket ends with it.
    fn port(&self) -> &str {
        let mut options = self.options.iter();
        options
            .find_map(|option| option.strip_prefix("port="))
            .unwrap_or("5432")
    }

    /// Runs statements in a database; gives what they answer, a line for each row.
    #[track_caller]
    pub fn run(&self, database: &str, sql: &str) -> String {
        let mut psql = self.psql(database);
        let output = psql.args(["--command", sql]).output().expect("psql");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{sql}: {errors}");
        String::from_utf8(output.stdout)
            .expect("text")
            .trim_end()
            .to_owned()
    }

    /// Tells a program where the server is.
    pub fn reached_by<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("PGHOST", self.folder.path())
            .env("PGPORT", self.port())
            .env("PGUSER", "dashboard")
            .env("PGDATABASE", "postgres")
    }

    /// Ends the server and all its connections at once, as `pg_ctl stop -m immediate` does.
    pub fn crash(&self) {
        self.end("-QUIT");
    }

    /// Whether its process is there.
    pub fn is_running(&self) -> bool {
        matches!(self.server.lock().expect("the server").try_wait(), Ok(None))
    }

    /// Starts it again after a crash, and waits until it takes connections.
    #[track_caller]
    pub fn start_again(&self) {
        *self.server.lock().expect("the server") = spawn(self.folder.path(), &self.options);
        self.wait();
    }

    fn psql(&self, database: &str) -> Command {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]);
        command.args(["--set", "ON_ERROR_STOP=1", "--dbname", database]);
        self.reached_by(&mut command);
        command
    }

    #[track_caller]
    fn wait(&self) {
        let deadline = Instant::now() + START;
        // `psql` comes with the server.
        let answers = || self.psql("postgres").args(["--command", "SELECT 1"]).output();
        while !answers().expect("psql").status.success() {
            let ended = self.server.lock().expect("the server").try_wait();
            assert!(matches!(ended, Ok(None)), "PostgreSQL ended: {ended:?}");
            assert!(Instant::now() < deadline, "PostgreSQL does not answer");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn end(&self, signal: &str) {
        let mut server = self.server.lock().expect("the server");
        if matches!(server.try_wait(), Ok(None)) {
            let id = server.id().to_string();
            let _ = Command::new("kill").args([signal, &id]).status();
            let _ = server.wait();
        }
    }
}

/// `make test` runs the tests that need a server by their names (`postgresql_tests` in the Makefile). One without
/// such a name would never run there.
#[track_caller]
fn assert_named() {
    // Under nextest, the name of the test is an argument.
    let is_test = std::env::var_os("NEXTEST").is_some();
    let is_named = env!("CARGO_PKG_NAME") == "portico-postgres"
        || std::env::args()
            .skip(1)
            .any(|argument| argument.contains("postgresql"));
    assert!(
        !is_test || is_named,
        "a test that needs a server of PostgreSQL has `postgresql` in its name, or in that of its module"
    );
}

fn spawn(folder: &Path, options: &[String]) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let script = script.map(|above| above.join("tests/embedding/postgresql.sh"));
    let script = script.into_iter().find(|script| script.exists());
    let mut command = Command::new(script.expect("the script"));
    command.arg(folder).args(options).stdin(Stdio::null());
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().expect("start PostgreSQL")
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        // SIGINT ends the server and its processes at once; SIGKILL would leave them.
        self.end("-INT");
    }
}
