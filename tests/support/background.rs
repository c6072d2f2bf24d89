//! Programs of the system that run in the background of a test.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::PATIENCE;
use crate::process::Process;

/// A program that Debian installs where only root's `PATH` leads.
pub(crate) fn system_program(name: &str) -> Command {
    let path = Path::new("/usr/sbin").join(name);
    if path.exists() {
        return Command::new(path);
    }
    Command::new(name)
}

/// A port of this machine that is free: none of those from which the system takes the ports of connections,
/// which would take it while the program that listens there is being started again. Tests that run at the same time
/// choose from different ones.
pub fn free_port() -> u16 {
    let slot = std::env::var("NEXTEST_TEST_GLOBAL_SLOT").ok();
    let slot = slot.and_then(|slot| slot.parse().ok()).unwrap_or(0_u16) % 10;
    loop {
        let port = 10_000 + slot * 2_200 + fastrand::u16(..2_200);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until the program responds. Returns whether it does, because it may have ended.
#[track_caller]
pub(crate) fn starts(process: &mut Process, mut answers: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !answers() {
        if matches!(process.child.try_wait(), Ok(Some(_))) {
            return false;
        }
        assert!(Instant::now() < end, "it does not start:\n{}", process.text());
        thread::sleep(Duration::from_millis(20));
    }
    matches!(process.child.try_wait(), Ok(None))
}
