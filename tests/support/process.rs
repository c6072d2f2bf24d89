//! Child processes, and what they write.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::PATIENCE;

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
    /// Both, for messages that may be in either.
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
    process.wait(PATIENCE)
}

/// Waits until a log contains this text this many times, and gives the log. What a process writes is read a
/// little later.
#[track_caller]
pub fn wait_for_text(log: impl Fn() -> String, text: &str, times: usize) -> String {
    let began = Instant::now();
    loop {
        let log = log();
        if log.matches(text).count() >= times {
            return log;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{text:?} is not in the log {times} times:\n{log}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// A child process whose output is collected.
pub(crate) struct Process {
    pub(crate) child: Child,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
    /// Both, line by line as they came: what is there only grows.
    both: Arc<Mutex<String>>,
    ended: Mutex<mpsc::Receiver<()>>,
}

impl Process {
    pub(crate) fn spawn(command: &mut Command, found: Option<mpsc::Sender<String>>) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start it");
        let (ends, ended) = mpsc::channel();
        // Both pipes are read to their ends, so that the process never waits for a full one.
        let both = Arc::new(Mutex::default());
        let stdout = collect(
            child.stdout.take().expect("its standard output"),
            both.clone(),
            found,
            ends.clone(),
        );
        let stderr = child.stderr.take().expect("its standard error");
        let stderr = collect(stderr, both.clone(), None, ends);
        Self {
            child,
            stdout,
            stderr,
            both,
            ended: Mutex::new(ended),
        }
    }

    pub(crate) fn text(&self) -> String {
        self.both.lock().expect("the lock").clone()
    }

    pub(crate) fn signal(&self, signal: &str) {
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

    pub(crate) fn kill(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
    }

    #[track_caller]
    pub(crate) fn wait(&mut self, limit: Duration) -> Finished {
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
    both: Arc<Mutex<String>>,
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
            for buffer in [&buffer, &both] {
                buffer.lock().expect("the lock").push_str(&line);
            }
            // The line itself, or the message in its JSON.
            let address = line.split_once("portico listens on http://");
            if let (Some(found), Some((_, address))) = (&found, address) {
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
