//! pgbouncer in front of a PostgreSQL server, on a socket in a temporary folder.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::background::{starts, system_program};
use crate::postgresql::Postgresql;
use crate::process::Process;

const PORT: &str = "6432";

/// A pooler. Dropping it ends it.
pub struct Pgbouncer {
    process: Process,
    folder: TempDir,
}

impl Pgbouncer {
    /// Starts it with this `pool_mode` and these other settings, and waits until it takes connections.
    #[track_caller]
    pub fn start(server: &Postgresql, mode: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (here, there) = (folder.path().display(), server.folder().display());
        let configuration = format!(
            "[databases]\n* = host={there} port=5432\n[pgbouncer]\npool_mode = {mode}\nlisten_port = {PORT}\n\
             unix_socket_dir = {here}\nauth_type = trust\nauth_file = {here}/users\nmax_client_conn = 200\n\
             default_pool_size = 60\n{settings}\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, configuration).expect("write the settings");
        fs::write(folder.path().join("users"), "\"dashboard\" \"\"\n").expect("write the users");
        let mut command = system_program("pgbouncer");
        // It refuses to run as root, and as root changes to the user that it is told.
        let mut owner = Command::new("chown");
        owner
            .args(["-R", "nobody"])
            .arg(folder.path())
            .stderr(Stdio::null());
        if owner.status().is_ok_and(|status| status.success()) {
            command.args(["--user", "nobody"]);
        }
        let process = Process::spawn(command.arg("--quiet").arg(&file).stdin(Stdio::null()), None);
        let mut this = Self { process, folder };
        let mut psql = Command::new("psql");
        psql.arg(this.url("postgres")).args(["--command", "SELECT 1"]);
        psql.stdout(Stdio::null()).stderr(Stdio::null());
        let is_up = starts(&mut this.process, || psql.status().expect("psql").success());
        assert!(is_up, "pgbouncer ended:\n{}", this.process.text());
        this
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.path().to_str().expect("a path of text");
        format!(
            "postgres://dashboard@{}:{PORT}/{database}",
            folder.replace('/', "%2F")
        )
    }
}
