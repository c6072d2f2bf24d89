//! The component is the same to the byte wherever it is built.

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// What is built, or belongs to tools.
const LEFT_OUT: [&str; 5] = [".git", "target", "dist", "node_modules", "data"];

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if kind.is_dir() {
            copy(&entry.path(), &to.join(name))?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds the component in this folder, with these variables.
fn built_in(folder: &Path, variables: &[(&str, OsString)]) -> Vec<u8> {
    let mut make = Command::new("make");
    make.arg("component").current_dir(folder);
    for name in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "MAKEFLAGS",
    ] {
        make.env_remove(name);
    }
    make.env("CARGO_NET_OFFLINE", "true")
        .envs(variables.iter().map(|(name, value)| (name, value)));
    assert!(make.status().expect("make").success());
    fs::read(folder.join("dist/portico.wasm")).expect("dist/portico.wasm")
}

#[test]
#[ignore = "make test-all"]
fn two_builds_in_two_folders_give_the_same_file() {
    // The one that ships, which is there already.
    let one = built_in(&root(), &[]);

    // Elsewhere, from the beginning; with cargo's own folder under another name; and with flags that are meant for the host.
    let temporary = tempfile::tempdir().expect("a folder");
    let home = env::var_os("CARGO_HOME").map(Into::into);
    let home = home.unwrap_or_else(|| env::home_dir().expect("a home").join(".cargo"));
    let other_home = temporary.path().join("another-home-of-cargo");
    symlink(home, &other_home).expect("a link");
    let variables = [
        ("CARGO_HOME", other_home.into_os_string()),
        ("RUSTFLAGS", "--cfg of_the_host".into()),
        ("CARGO_TARGET_DIR", "target".into()),
    ];
    let folder = temporary.path().join("much/longer/and/deeper/b");
    copy(&root(), &folder).expect("a copy of the sources");
    let other = built_in(&folder, &variables);

    let difference = one.iter().zip(&other).position(|(one, other)| one != other);
    assert_eq!(difference, None, "the place of the first difference");
    assert_eq!(one.len(), other.len());
}
