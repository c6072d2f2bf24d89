//! Programs in Node and from npm that tests run.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use crate::repository;

/// The folder of a client under `tests/clients`, with what its lock file names installed.
#[track_caller]
pub fn client(name: &str) -> PathBuf {
    installed(&Path::new("tests/clients").join(name))
}

/// A folder of the repository, with what its lock file names installed.
#[track_caller]
pub fn installed(folder: &Path) -> PathBuf {
    let folder = repository().join(folder);
    let lock_file = folder.join("package-lock.json");
    // Another test may want the same folder at the same time.
    let turn = File::open(&lock_file).expect("the lock file");
    turn.lock().expect("a turn to install");
    let installed = changed(folder.join("node_modules/.package-lock.json"));
    if installed.is_none_or(|installed| installed < changed(lock_file).expect("the lock file")) {
        let mut install = Command::new("npm");
        // What npm compiles, it compiles in half the time: tests need it no faster.
        install.envs([("CFLAGS", "-O1"), ("CXXFLAGS", "-O1")]);
        succeed(install.arg("ci").current_dir(&folder));
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

/// The browser that `make test-all` installs, or the one that `CHROMIUM` names.
pub fn chromium() -> PathBuf {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return path.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)))
        .find(|path| path.is_file());
    found.expect("chromium is not installed: `make test-all` does that, or set CHROMIUM")
}
