//! Programs in Node and from npm that tests run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

/// The folder of a client under `tests/clients`, with what its lock file names installed.
#[track_caller]
pub fn client(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name);
    let lock_file = folder.join("package-lock.json");
    // Two tests that install at once would meet.
    let turn = fs::File::open(&lock_file).expect("the lock file");
    turn.lock().expect("a turn");
    let lock = changed(lock_file).expect("the lock file");
    let installed = changed(folder.join("node_modules/.package-lock.json"));
    if installed.is_none_or(|installed| installed < lock) {
        succeed(Command::new("npm").arg("ci").current_dir(&folder));
    }
    folder
}

fn changed(file: PathBuf) -> Option<SystemTime> {
    fs::metadata(file).and_then(|file| file.modified()).ok()
}

/// Runs a command that must succeed, and gives what it wrote to its standard output.
#[track_caller]
pub fn succeed(command: &mut Command) -> String {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?} cannot be run; this test needs Node 20 or newer and npm: {error}"),
    };
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?} failed ({})\n{stdout}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    stdout
}
