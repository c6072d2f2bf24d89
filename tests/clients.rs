//! The unmodified tRPC client in Node against the service: `clients/trpc/judge.test.mjs`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use portico_tests::{Fixtures, Portico, administrator};

#[test]
fn the_unmodified_trpc_client_is_content() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/trpc");
    install(&folder);

    let server = Portico::start();
    let administrator = administrator(&server);
    let key = administrator.key_of(&administrator.user_id);
    run(Command::new("node")
        .args(["--test", "--test-reporter=spec", "judge.test.mjs"])
        .current_dir(&folder)
        .env("PORTICO_URL", format!("http://{}", server.address()))
        .env("PORTICO_KEY", &key.key)
        .env("PORTICO_USER_ID", &administrator.user_id));
}

/// Installs the client, exactly as the lock file has it, unless that was done already.
fn install(folder: &Path) {
    let lock = changed(folder.join("package-lock.json")).expect("the lock file");
    let installed = changed(folder.join("node_modules/.package-lock.json"));
    if installed.is_none_or(|installed| installed < lock) {
        run(Command::new("npm").arg("ci").current_dir(folder));
    }
}

fn changed(file: PathBuf) -> Option<SystemTime> {
    fs::metadata(file).and_then(|file| file.modified()).ok()
}

/// Runs a command that must succeed.
fn run(command: &mut Command) {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?} cannot be run; this test needs Node 20 or newer and npm: {error}"),
    };
    assert!(
        output.status.success(),
        "{command:?} failed ({})\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
