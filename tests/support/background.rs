//! Programs of the system that run in the background of a test.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::process::Process;

/// Long enough for a start on a machine that runs other tests.
const START: Duration = Duration::from_secs(60);

/// A program that Debian installs where only root's `PATH` leads.
pub(crate) fn system_program(name: &str) -> Command {
    let path = Path::new("/usr/sbin").join(name);
    if path.exists() {
        return Command::new(path);
    }
    Command::new(name)
}

/// A port of this machine that is free: none of those from which the system takes the ports of connections,
/// which would take it while the program that listens there is being started again.
pub fn free_port() -> u16 {
    loop {
        let port = fastrand::u16(10_000..32_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until the program responds. Returns whether it does, because it may have ended.
#[track_caller]
pub(crate) fn starts(process: &mut Process, mut answers: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + START;
    while !answers() {
        if matches!(process.child.try_wait(), Ok(Some(_))) {
            return false;
        }
        assert!(Instant::now() < end, "it does not start:\n{}", process.text());
        thread::sleep(Duration::from_millis(20));
    }
    matches!(process.child.try_wait(), Ok(None))
}
