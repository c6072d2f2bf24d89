//! The service as a child process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Anonymous, Door, Key, Session, mount_namespace, raw, under_limit};

/// Long enough for a first start, which compiles the component while other tests do the same.
const START: Duration = Duration::from_secs(120);
/// Long enough for everything that is left to do when it is told to stop.
const STOP: Duration = Duration::from_secs(30);

/// The binary under test: `PORTICO_BIN`, or the one built beside the tests.
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

/// Where the compiled component is kept for all tests, each of which runs in a process of its own.
pub fn cache() -> PathBuf {
    build_folder().join("portico-test-cache")
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

    /// Another address than `127.0.0.1:0`.
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = Some(address.to_owned());
        self
    }

    /// Starts the service on an empty data directory and waits until it listens.
    #[track_caller]
    pub fn start(self) -> Portico {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let process = Process::start(&self, &data_in(&folder));
        Portico {
            door: Door::new(&process.address),
            process,
            folder,
            builder: self,
        }
    }
}

/// A running service with a data directory of its own. Dropping it ends it.
pub struct Portico {
    door: Door,
    process: Process,
    folder: TempDir,
    builder: Builder,
}

/// How a process ended, and what it wrote from start to end.
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Finished {
    /// Both, for messages that may stand in either.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Checks that it succeeded, and gives its standard output.
    #[track_caller]
    pub fn succeeded(self) -> String {
        assert!(self.status.success(), "{}:\n{}", self.status, self.text());
        self.stdout
    }

    /// Checks that it failed with words of its own, and gives all that it wrote.
    #[track_caller]
    pub fn failed(self) -> String {
        let text = self.text();
        assert!(!self.status.success(), "it succeeded:\n{text}");
        assert!(
            self.status.code().is_some_and(|code| code != 101),
            "it did not end by itself:\n{text}"
        );
        assert!(
            !self.stderr.trim().is_empty() && !text.contains("panicked"),
            "no clear message:\n{text}"
        );
        text
    }
}

/// Runs a command to its end with this input.
#[track_caller]
pub fn run(command: &mut Command, input: &str) -> Finished {
    command.stdin(Stdio::piped());
    let mut process = Process::spawn(command, None);
    let mut stdin = process.child.stdin.take().expect("its standard input");
    // It may end without reading.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    process.wait(START)
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
        self.door.address()
    }

    /// An anonymous client.
    pub fn anonymous(&self) -> Anonymous {
        Anonymous {
            door: self.door.clone(),
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
            CREATE VIEW invite (id, token_hash, expires_at, creator_id) AS
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT i, x'', i, NULL FROM n WHERE i < 0;";
        database.execute_batch(view).expect("a view");
    }

    /// Asks for a list of invites on a connection of its own, and waits until the service works on it.
    #[track_caller]
    pub fn begin_endless_list(&self, token: &str) -> TcpStream {
        let (before, began) = (self.processor_time(), Instant::now());
        let mut stream = raw::connect(&self.address());
        let bearer = format!("Bearer {token}");
        let request = raw::head("GET", "/api/invites", &[("authorization", &bearer)]);
        stream.write_all(request.as_bytes()).expect("send");
        while self.processor_time() < before + Duration::from_millis(100) {
            assert!(began.elapsed() < START, "it does not work on it");
            thread::sleep(Duration::from_millis(5));
        }
        stream
    }

    /// Asks it to stop (SIGTERM).
    pub fn terminate(&self) {
        self.process.signal("-TERM");
    }

    /// Says that what it reads from files has changed (SIGHUP).
    pub fn hang_up(&self) {
        self.process.signal("-HUP");
    }

    /// Waits until it ended by itself.
    #[track_caller]
    pub fn wait(&mut self) -> Finished {
        self.process.wait(STOP)
    }

    /// Asks it to stop, and waits until it did.
    #[track_caller]
    pub fn stop(&mut self) -> Finished {
        self.terminate();
        self.wait()
    }

    /// Ends it at once (SIGKILL).
    pub fn kill(&mut self) -> Finished {
        self.process.kill();
        self.process.wait(STOP)
    }

    /// Starts it again on the same data directory. Clients follow it to its new port.
    #[track_caller]
    pub fn start_again(&mut self) {
        self.process = Process::start(&self.builder, &data_in(&self.folder));
        self.door.move_to(&self.process.address);
    }

    /// Starts it again on the same data directory and ends it (SIGKILL) this long after `when` is true,
    /// whether it listens by then or not.
    pub fn kill_while_starting(&mut self, mut when: impl FnMut() -> bool, after: Duration) {
        let mut process = Process::launch(&self.builder, &data_in(&self.folder), None);
        let start = Instant::now();
        while !when() {
            assert!(
                start.elapsed() < START,
                "it does not come to that:\n{}",
                process.text()
            );
            thread::yield_now();
        }
        thread::sleep(after);
        process.kill();
        process.wait(STOP);
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

struct Process {
    child: Child,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
    ended: Mutex<mpsc::Receiver<()>>,
    address: String,
}

impl Process {
    fn spawn(command: &mut Command, found: Option<mpsc::Sender<String>>) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start it");
        let (ends, ended) = mpsc::channel();
        // Both pipes are read to their ends, so that the process never waits for a full one.
        let stdout = collect(
            child.stdout.take().expect("its standard output"),
            found,
            ends.clone(),
        );
        let stderr = collect(child.stderr.take().expect("its standard error"), None, ends);
        Self {
            child,
            stdout,
            stderr,
            ended: Mutex::new(ended),
            address: String::new(),
        }
    }

    #[track_caller]
    fn start(builder: &Builder, data: &Path) -> Self {
        let (found, address) = mpsc::channel();
        let mut process = Self::launch(builder, data, Some(found));
        match address.recv_timeout(START) {
            Ok(address) => process.address = address,
            Err(_) => panic!("it does not listen:\n{}", process.text()),
        }
        process
    }

    fn launch(builder: &Builder, data: &Path, found: Option<mpsc::Sender<String>>) -> Self {
        let mut command = command();
        command.arg("serve");
        if !builder.no_flags {
            let listen = builder.listen.as_deref().unwrap_or("127.0.0.1:0");
            command.args(["--listen", listen, "--data"]).arg(data);
        }
        command
            .args(&builder.arguments)
            .envs(builder.environment.iter().map(|(name, value)| (name, value)));
        if let Some(limit) = &builder.limit {
            command = under_limit(&command, limit);
        }
        if let Some(script) = &builder.before {
            std::fs::create_dir_all(data).expect("a place to mount something");
            command = mount_namespace(&command, script);
            command.env("DATA", data);
        }
        Self::spawn(&mut command, found)
    }

    fn text(&self) -> String {
        format!(
            "{}{}",
            self.stdout.lock().expect("the lock"),
            self.stderr.lock().expect("the lock")
        )
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .arg(signal)
            .arg(self.child.id().to_string())
            .status();
        assert!(
            status.expect("the command kill").success(),
            "it is not there any more:\n{}",
            self.text()
        );
    }

    fn kill(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
    }

    #[track_caller]
    fn wait(&mut self, limit: Duration) -> Finished {
        // Both pipes end with the process; only then is what it wrote complete.
        let ended = self.ended.get_mut().expect("the lock").recv_timeout(limit);
        if ended == Err(mpsc::RecvTimeoutError::Timeout) {
            panic!("it does not end:\n{}", self.text());
        }
        let status = self.child.wait().expect("wait for it");
        let text = |buffer: &Mutex<String>| buffer.lock().expect("the lock").clone();
        Finished {
            status,
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- what the service wrote\n{}---", self.text());
        }
    }
}

/// Collects a pipe line by line; sends the address from the line that says where it listens.
fn collect(
    pipe: impl Read + Send + 'static,
    found: Option<mpsc::Sender<String>>,
    ends: mpsc::Sender<()>,
) -> Arc<Mutex<String>> {
    let buffer = Arc::new(Mutex::new(String::new()));
    let collected = buffer.clone();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut bytes = Vec::new();
        while pipe.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let line = String::from_utf8_lossy(&bytes).into_owned();
            bytes.clear();
            buffer.lock().expect("the lock").push_str(&line);
            let address = line.strip_prefix("portico listens on http://");
            if let (Some(found), Some(address)) = (&found, address) {
                let address = address.split_whitespace().next().unwrap_or_default();
                // The test may not wait any more.
                let _ = found.send(address.trim_end_matches('/').to_owned());
            }
        }
        // A test that waits for the end waits until both of these are gone.
        drop(ends);
    });
    collected
}
