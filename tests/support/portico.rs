//! The service as a child process.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::Process;
use crate::{
    Anonymous, Endpoint, Finished, Key, PATIENCE, Session, mount_namespace, raw, under_limit, wait_for_text,
    wait_until, with_socket,
};

/// The binary under test: `PORTICO_BIN`, or the one built alongside the tests.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("PORTICO_BIN") {
        return path.into();
    }
    let path = build_folder().join("portico");
    assert!(
        path.exists(),
        "build it first, or set PORTICO_BIN: {} is missing",
        path.display()
    );
    path
}

/// The folder of the compiled component for all tests, each of which runs in a process of its own.
pub fn cache() -> PathBuf {
    build_folder().join("portico-test-cache")
}

/// The component of `tests/hostile`, where `make hostile` leaves it.
pub fn hostile_component() -> PathBuf {
    let target = build_folder().parent().expect("target/PROFILE").to_owned();
    let file = target.join("wasm32-wasip2/component/portico_hostile.wasm");
    assert!(file.exists(), "build it with `make hostile`: {}", file.display());
    file
}

fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    test.parent()
        .and_then(Path::parent)
        .expect("target/PROFILE/deps/TEST")
        .to_owned()
}

/// The binary with an environment of its own: no settings from outside, no icon sources, and a
/// cache of the compiled component that all tests share.
pub fn command() -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PORTICO_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("RUST_LOG")
        .env("PORTICO_ICON_SOURCES", "")
        // Tests sign in more often than people, all from one address.
        .env("PORTICO_SIGN_IN_THROTTLE", "off")
        // Nothing in front of it has to notice that it stops.
        .env("PORTICO_DRAIN", "0")
        .env("PORTICO_CACHE", cache())
        .stdin(Stdio::null());
    command
}

/// The data directory in this folder: one that the service makes by itself.
pub fn data_in(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

/// What a start adds to the usual.
#[derive(Clone, Default)]
pub struct Builder {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    listen: Option<String>,
    no_flags: bool,
    before: Option<String>,
    limit: Option<String>,
    socket: Option<Arc<TcpListener>>,
}

impl Builder {
    /// One more argument after `serve`.
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// One more variable of the environment.
    pub fn environment(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// No `--listen` and no `--data`: both come from elsewhere.
    pub fn without_flags(mut self) -> Self {
        self.no_flags = true;
        self
    }

    /// Runs in a [`mount_namespace`] of its own, after this script, in which `$DATA` is the data
    /// directory (an empty folder).
    pub fn in_namespace(mut self, script: &str) -> Self {
        self.before = Some(script.to_owned());
        self
    }

    /// Runs with this limit of the system, see [`under_limit`].
    pub fn limit(mut self, limit: &str) -> Self {
        self.limit = Some(limit.to_owned());
        self
    }

    /// Listens on this socket, which stays open when it ends.
    pub fn socket(mut self, socket: TcpListener) -> Self {
        self.socket = Some(Arc::new(socket));
        self
    }

    /// Another address than `127.0.0.1:0`.
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = Some(address.to_owned());
        self
    }

    /// Starts the service on an empty data directory and waits until it listens.
    #[track_caller]
    pub fn start(self) -> Portico {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (process, address) = self.listening(&data_in(&folder));
        Portico {
            endpoint: Endpoint::new(&address),
            process,
            folder,
            builder: self,
        }
    }

    /// Starts the service on this data directory, and does not wait.
    pub fn spawn(&self, data: &Path) -> Starting {
        Starting(self.launch(data, None))
    }

    /// Starts a process and waits until it listens; gives its address as well.
    #[track_caller]
    fn listening(&self, data: &Path) -> (Process, String) {
        let (found, address) = mpsc::channel();
        let process = self.launch(data, Some(found));
        match address.recv_timeout(PATIENCE) {
            Ok(address) => (process, address),
            Err(_) => panic!("it does not listen:\n{}", process.text()),
        }
    }

    /// Starts a process. Sends its address once it listens.
    fn launch(&self, data: &Path, found: Option<mpsc::Sender<String>>) -> Process {
        let mut command = command();
        command.arg("serve");
        if !self.no_flags {
            let listen = self.listen.as_deref().unwrap_or("127.0.0.1:0");
            command.args(["--listen", listen, "--data"]).arg(data);
        }
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(limit) = &self.limit {
            command = under_limit(&command, limit);
        }
        if let Some(script) = &self.before {
            std::fs::create_dir_all(data).expect("a place to mount something");
            command = mount_namespace(&command, script);
            command.env("DATA", data);
        }
        if let Some(socket) = &self.socket {
            command = with_socket(&command, socket);
        }
        Process::spawn(&mut command, found)
    }
}

/// A service that may not listen yet. Dropping it ends it.
pub struct Starting(Process);

impl Starting {
    /// What it has written so far.
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// Sends it this signal, such as `-INT`.
    pub fn signal(&self, signal: &str) {
        self.0.signal(signal);
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn wait(&mut self) -> Finished {
        self.0.wait(PATIENCE)
    }
}

/// A running service with a data directory of its own. Dropping it ends it.
pub struct Portico {
    endpoint: Endpoint,
    process: Process,
    folder: TempDir,
    builder: Builder,
}

impl Portico {
    /// Starts the service on an empty data directory and waits until it listens.
    #[track_caller]
    pub fn start() -> Self {
        Builder::default().start()
    }

    /// Where its data is.
    pub fn data(&self) -> PathBuf {
        data_in(&self.folder)
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        self.endpoint.address()
    }

    /// An anonymous client.
    pub fn anonymous(&self) -> Anonymous {
        Anonymous {
            endpoint: self.endpoint.clone(),
        }
    }

    /// A client with this API key, or with the token of a session.
    pub fn key(&self, key: &str) -> Key {
        self.anonymous().key(key)
    }

    /// Signs in.
    #[track_caller]
    pub fn sign_in(&self, name: &str, password: &str) -> Session {
        self.anonymous().sign_in(name, password)
    }

    /// What it has written so far.
    pub fn log(&self) -> String {
        self.process.text()
    }

    /// Waits until the log contains this text after its first `since` bytes, and gives the line.
    #[track_caller]
    pub fn wait_for_log(&self, since: usize, text: &str) -> String {
        let log = wait_for_text(|| self.log()[since..].to_owned(), text, 1);
        let line = log.lines().find(|line| line.contains(text));
        line.expect("the text is in one line").to_owned()
    }

    /// The id of its process.
    pub fn process_id(&self) -> u32 {
        self.process.child.id()
    }

    /// What the system counts of its process under this name in `/proc/PID/status`.
    pub fn status(&self, name: &str) -> u64 {
        let status = format!("/proc/{}/status", self.process_id());
        let status = std::fs::read_to_string(status).expect("the state of the process");
        let mut lines = status.lines().filter_map(|line| line.split_once(':'));
        let count = lines.find_map(|(field, count)| (field == name).then_some(count));
        let count = count.and_then(|count| count.split_whitespace().next());
        count.and_then(|count| count.parse().ok()).expect("a number")
    }

    /// The processor time that its process has had.
    pub fn processor_time(&self) -> Duration {
        let stat = format!("/proc/{}/stat", self.process_id());
        let stat = std::fs::read_to_string(stat).expect("the state of the process");
        // After the name, which may hold anything: fields 14 and 15 of proc(5), in ticks of 10 ms.
        let fields = stat.rsplit_once(')').expect("a name").1;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().expect("a number"));
        Duration::from_millis(10 * ticks.sum::<u64>())
    }

    /// From now on a list of invites takes without end: it reads numbers, and finds none that fits.
    /// Stands for everything that takes longer the more there is.
    pub fn make_lists_of_invites_endless(&self) {
        let database = rusqlite::Connection::open(self.data().join("portico.db")).expect("the database");
        let view = "
            DROP TABLE invite;
            CREATE VIEW invite (id, token_hash, expires_at, creator_id, note) AS
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT i, x'', i, NULL, NULL FROM n WHERE i < 0;";
        database.execute_batch(view).expect("a view");
    }

    /// Asks for a list of invites on a connection of its own, and waits until the service works on it.
    #[track_caller]
    pub fn begin_endless_list(&self, token: &str) -> TcpStream {
        let before = self.processor_time();
        let mut stream = raw::connect(&self.address());
        let bearer = format!("Bearer {token}");
        let request = raw::head("GET", "/api/invites", &[("authorization", &bearer)]);
        stream.write_all(request.as_bytes()).expect("send");
        wait_until("work on the list", || {
            self.processor_time() >= before + Duration::from_millis(100)
        });
        stream
    }

    /// Sends it this signal, such as `-INT`.
    pub fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    /// Asks it to stop (SIGTERM).
    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Says that what it reads from files has changed (SIGHUP).
    pub fn hang_up(&self) {
        self.signal("-HUP");
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn wait(&mut self) -> Finished {
        self.process.wait(PATIENCE)
    }

    /// Asks it to stop, and waits until it did.
    #[track_caller]
    pub fn stop(&mut self) -> Finished {
        self.terminate();
        self.wait()
    }

    /// Ends it immediately (SIGKILL).
    pub fn kill(&mut self) -> Finished {
        self.process.kill();
        self.process.wait(PATIENCE)
    }

    /// Whether its process is there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.child.try_wait(), Ok(None))
    }

    /// Starts it again on the same data directory. Clients follow it to its new port.
    #[track_caller]
    pub fn start_again(&mut self) {
        let (process, address) = self.builder.listening(&data_in(&self.folder));
        self.process = process;
        self.endpoint.move_to(&address);
    }

    /// Starts it again on the same data directory and ends it (SIGKILL) this long after `when` is true,
    /// whether it listens by then or not.
    pub fn kill_while_starting(&mut self, mut when: impl FnMut() -> bool, after: Duration) {
        let mut process = self.builder.launch(&data_in(&self.folder), None);
        let start = Instant::now();
        while !when() {
            assert!(
                start.elapsed() < PATIENCE,
                "it does not come to that:\n{}",
                process.text()
            );
            thread::yield_now();
        }
        thread::sleep(after);
        process.kill();
        process.wait(PATIENCE);
    }

    /// Starts it again on the same data directory, with these arguments from now on.
    #[track_caller]
    pub fn start_again_with(&mut self, arguments: &[&str]) {
        self.builder.arguments = arguments.iter().map(ToString::to_string).collect();
        self.start_again();
    }

    /// Stops it and starts it again.
    #[track_caller]
    pub fn restart(&mut self) {
        assert!(self.stop().status.success(), "it stopped with a failure");
        self.start_again();
    }
}
