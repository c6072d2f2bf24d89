//! File systems that only one process sees: small disks and disks that cannot be written. And limits of
//! the system for one process.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

/// Says that there is no way to mount anything here, and that this is all right.
const WITHOUT: &str = "PORTICO_TEST_WITHOUT_MOUNTS";

/// Whether a test may mount file systems in a namespace of its own. As root and, on most systems,
/// as an ordinary user it may. Where it may not, the test fails with words, unless the
/// environment says that this is known.
#[track_caller]
pub fn can_mount() -> bool {
    if unshare().is_some() {
        return true;
    }
    assert!(
        std::env::var_os(WITHOUT).is_some(),
        "`unshare --mount` does not work here (no Linux, or a container that forbids it): set {WITHOUT}=1 to go \
         without the tests of full and read-only disks"
    );
    println!("skipped: nothing can be mounted here");
    false
}

/// The same command in a namespace of its own, after this script of the shell has mounted things.
pub fn mount_namespace(command: &Command, script: &str) -> Command {
    let mut inside = Command::new("unshare");
    inside.args(unshare().expect("see `can_mount`")).args([
        "sh",
        "-euc",
        &format!("{script}\nexec \"$@\""),
        "sh",
    ]);
    started_by(inside, command)
}

/// The same command with a limit of the system, as an option of `prlimit` (`--fsize=SOFT:HARD`).
pub fn under_limit(command: &Command, limit: &str) -> Command {
    let mut prlimit = Command::new("prlimit");
    prlimit.arg(limit);
    started_by(prlimit, command)
}

/// The same command, which is given this socket as systemd gives one (`LISTEN_FDS`).
pub fn with_socket(command: &Command, socket: &TcpListener) -> Command {
    let mut shell = Command::new("sh");
    let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"";
    shell.args(["-euc", script, "sh"]);
    let mut command = started_by(shell, command);
    let socket = socket.try_clone().expect("another descriptor of the socket");
    command.stdin(Stdio::from(OwnedFd::from(socket)));
    command
}

/// Changes a limit of a process that runs.
#[track_caller]
pub fn set_limit(process: u32, limit: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &process.to_string(), limit])
        .status();
    assert!(status.expect("the command prlimit").success(), "{limit}");
}

/// The command as the last arguments of another one, which starts it.
fn started_by(mut starter: Command, command: &Command) -> Command {
    starter.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => starter.env(name, value),
            None => starter.env_remove(name),
        };
    }
    starter
}

/// How `unshare` has to be called: as root of a new user namespace, or as root that one is.
fn unshare() -> Option<&'static [&'static str]> {
    let ways: [&[_]; 2] = [&["--map-root-user", "--mount"], &["--mount"]];
    ways.into_iter().find(|way| {
        let tried = Command::new("unshare").args(*way).arg("true").output();
        tried.is_ok_and(|output| output.status.success())
    })
}
