//! PostgreSQL on a socket in a temporary folder: the server that all tests of a run share, with databases of the
//! test's own, or a server of a test's own, for one that ends, stops or sets up its server.
//!
//! Needs nothing but the standard library and `tempfile`: crates that cannot depend on the rest of the tests'
//! support take this file in by its path.

#![allow(dead_code, reason = "not every test uses everything")]

use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a start on a machine that runs other tests.
const START: Duration = Duration::from_secs(120);

/// A server. Dropping it ends it, or removes this test's databases from the one that is shared.
pub struct Postgresql {
    folder: PathBuf,
    options: Vec<String>,
    /// None where the server is shared.
    own: Option<Own>,
    /// What the names of this test's databases begin with on a server that is shared.
    prefix: String,
    created: Mutex<Vec<String>>,
}

/// What goes with a server of a test's own.
struct Own {
    server: Mutex<Child>,
    _folder: TempDir,
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

    /// The server that all tests of a run of nextest share, which the first that needs it starts. It ends with
    /// the run. Elsewhere it is a server of the test's own.
    #[track_caller]
    pub fn shared() -> Self {
        static HANDLES: AtomicUsize = AtomicUsize::new(0);
        assert_named();
        let Ok(run) = std::env::var("NEXTEST_RUN_ID") else {
            return Self::start();
        };
        let folder = std::env::temp_dir().join(format!("portico-postgresql-{run}"));
        // The one that makes the folder starts the server.
        if std::fs::create_dir(&folder).is_ok() {
            spawn_shared(&folder);
        }
        let handle = HANDLES.fetch_add(1, Ordering::Relaxed);
        let this = Self {
            folder,
            options: Vec::new(),
            own: None,
            prefix: format!("{}_{handle}_", std::process::id()),
            created: Mutex::default(),
        };
        this.wait();
        this
    }

    /// Starts an empty server of the test's own and waits until it takes connections.
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with these options of `postgres`.
    #[track_caller]
    pub fn start_with(options: &[&str]) -> Self {
        assert_named();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = options.iter().map(ToString::to_string).collect();
        let this = Self::spawn_in(folder, options);
        this.wait();
        this
    }

    /// Starts a server on what is in the folder.
    fn spawn_in(folder: TempDir, options: Vec<String>) -> Self {
        let server = Mutex::new(spawn(folder.path(), &options));
        Self {
            folder: folder.path().to_owned(),
            options,
            own: Some(Own {
                server,
                _folder: folder,
            }),
            prefix: String::new(),
            created: Mutex::default(),
        }
    }

    #[track_caller]
    fn server(&self) -> MutexGuard<'_, Child> {
        let own = self.own.as_ref();
        let own = own.expect("a server of the test's own: `Postgresql::start`");
        own.server.lock().expect("the server")
    }

    /// Where its socket is, and its data.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name on the server of a database that this test calls so.
    pub fn name(&self, database: &str) -> String {
        match database {
            "postgres" => database.to_owned(),
            _ => format!("{}{database}", self.prefix),
        }
    }

    /// Creates an empty database of this name; gives its URL.
    #[track_caller]
    pub fn create_database(&self, name: &str) -> String {
        self.run("postgres", &format!("CREATE DATABASE \"{}\"", self.name(name)));
        self.created.lock().expect("the databases").push(self.name(name));
        self.url(name)
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.url_of("dashboard", database)
    }

    /// The URL of a database for this role.
    pub fn url_of(&self, role: &str, database: &str) -> String {
        let folder = self.folder.to_str().expect("a path of text");
        format!(
            "postgres://{role}@{}:{}/{}",
            folder.replace('/', "%2F"),
            self.port(),
            self.name(database)
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

    /// What `psql` says of statements that fail.
    #[track_caller]
    pub fn run_failing(&self, database: &str, sql: &str) -> String {
        let mut psql = self.psql(database);
        let output = psql.args(["--command", sql]).output().expect("psql");
        assert!(!output.status.success(), "{sql} succeeds");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Tells a program where the server is.
    pub fn reached_by<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("PGHOST", &self.folder)
            .env("PGPORT", self.port())
            .env("PGUSER", "dashboard")
            .env("PGDATABASE", "postgres")
    }

    /// Ends the server and all its connections immediately, as `pg_ctl stop -m immediate` does.
    pub fn crash(&self) {
        self.end("-QUIT");
    }

    /// Whether its process is there.
    pub fn is_running(&self) -> bool {
        matches!(self.server().try_wait(), Ok(None))
    }

    /// Ends the server and each of its processes without a warning (SIGKILL), as if its machine was lost.
    pub fn kill(&self) {
        let mut server = self.server();
        let id = server.id().to_string();
        // Stopped first, so that it starts no other process.
        signal("-STOP", &[&id]);
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("processes");
        let processes: Vec<_> = children.split_whitespace().chain([&id[..]]).collect();
        signal("-KILL", &processes);
        let _ = server.wait();
    }

    /// Ends one of the processes that work for clients without a warning (SIGKILL): the server ends all
    /// others, recovers, and takes connections again.
    #[track_caller]
    pub fn kill_one_process(&self) {
        let sql =
            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'portico%' ORDER BY state LIMIT 1";
        let deadline = Instant::now() + START;
        let process = loop {
            let process = self.run("postgres", sql);
            if !process.is_empty() {
                break process;
            }
            assert!(Instant::now() < deadline, "no process works for a host");
        };
        signal("-KILL", &[&process]);
    }

    /// Starts a standby of this server, which acknowledges no commit without the standby's response.
    #[track_caller]
    pub fn start_standby(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(self, folder.path());
        let standby = Self::spawn_in(folder, self.options.clone());
        self.wait_for(&standby);
        standby
    }

    /// The same with a server that was one before, and has ended.
    #[track_caller]
    pub fn take_back(&self, ended: &Self) {
        std::fs::remove_dir_all(ended.folder.join("data")).expect("remove the data");
        copy(self, &ended.folder);
        *ended.server() = spawn(&ended.folder, &ended.options);
        self.wait_for(ended);
    }

    /// Makes a standby the primary.
    #[track_caller]
    pub fn promote(&self) {
        assert_eq!(self.run("postgres", "SELECT pg_promote()"), "t");
    }

    /// Waits for a new standby; from then on commits wait for it.
    #[track_caller]
    fn wait_for(&self, standby: &Self) {
        standby.wait();
        let wait_until_it_is = |state: &str| {
            let sql = format!("SELECT count(*) FROM pg_stat_replication WHERE {state}");
            let deadline = Instant::now() + START;
            while self.run("postgres", &sql) != "1" {
                assert!(Instant::now() < deadline, "the standby does not follow");
                thread::sleep(Duration::from_millis(50));
            }
        };
        wait_until_it_is("state = 'streaming'");
        self.run("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.run("postgres", "SELECT pg_reload_conf()");
        wait_until_it_is("sync_state = 'sync'");
        // The process that makes checkpoints tells all others that commits wait from now on. One that waits
        // has what was committed before on the standby, too.
        self.run("postgres", "CHECKPOINT");
        self.run("postgres", "COMMENT ON DATABASE postgres IS 'it has a standby'");
    }

    /// Starts it again after a crash, and waits until it takes connections.
    #[track_caller]
    pub fn start_again(&self) {
        *self.server() = spawn(&self.folder, &self.options);
        self.wait();
    }

    fn psql(&self, database: &str) -> Command {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]);
        command.args(["--set", "ON_ERROR_STOP=1"]);
        command.args(["--dbname", &self.name(database)]);
        self.reached_by(&mut command);
        command
    }

    #[track_caller]
    fn wait(&self) {
        let deadline = Instant::now() + START;
        // `psql` comes with the server.
        let answers = || self.psql("postgres").args(["--command", "SELECT 1"]).output();
        while !answers().expect("psql").status.success() {
            if self.own.is_some() {
                let ended = self.server().try_wait();
                assert!(matches!(ended, Ok(None)), "PostgreSQL ended: {ended:?}");
            }
            assert!(Instant::now() < deadline, "PostgreSQL does not answer");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn end(&self, signal: &str) {
        let mut server = self.server();
        if matches!(server.try_wait(), Ok(None)) {
            self::signal(signal, &[&server.id().to_string()]);
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
    let mut command = script("tests/embedding/postgresql.sh");
    command.arg(folder).args(options);
    command.spawn().expect("start PostgreSQL")
}

/// Starts the server of a run. The parent of each test is nextest itself.
fn spawn_shared(folder: &Path) {
    let mut command = script("tests/support/postgresql_of_run.sh");
    // In a group of its own, because nextest ends that of a test which takes too long.
    command.process_group(0);
    let status = command.arg(folder).arg(parent_id().to_string()).status();
    assert!(status.is_ok_and(|status| status.success()), "start PostgreSQL");
}

/// A script of the repository, whose output goes nowhere.
fn script(path: &str) -> Command {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let script = folders.find_map(|above| Some(above.join(path)).filter(|script| script.exists()));
    let mut command = Command::new(script.expect("the script"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Where a test chooses a language for messages, it is this one. Without that, they are as ever.
    command.env("LANGUAGE", "de");
    command
}

/// Copies the data of a running server to a standby's folder.
#[track_caller]
fn copy(primary: &Postgresql, folder: &Path) {
    let mut command = Command::new("pg_basebackup");
    command.args([
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
        "--pgdata",
    ]);
    let output = primary.reached_by(command.arg(folder.join("data"))).output();
    let output = output.expect("pg_basebackup");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// Sends a signal. A process that has ended by itself gets none.
fn signal(signal: &str, processes: &[&str]) {
    let mut command = Command::new("kill");
    let _ = command.arg(signal).args(processes).stderr(Stdio::null()).status();
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        if self.own.is_some() {
            // SIGINT ends the server and its processes immediately; SIGKILL would leave the processes.
            return self.end("-INT");
        }
        let databases = self.created.lock().expect("the databases");
        let mut psql = self.psql("postgres");
        for database in databases.iter() {
            let sql = format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)");
            psql.args(["--command", &sql]);
        }
        // Without a command, psql waits for one.
        if !databases.is_empty() {
            let _ = psql.output();
        }
    }
}
