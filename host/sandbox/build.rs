//! Finds the component that the host carries inside, builds it if it is not there yet, and compresses it: it is a
//! thirtieth of the binary otherwise.

use std::{env, fs, path::Path, process::Command};

use miniz_oxide::deflate::compress_to_vec;
use sha2::{Digest as _, Sha256};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let root = Path::new(&manifest).join("../..");
    let file = root.join("dist/portico.wasm");
    println!("cargo:rerun-if-changed={}", file.display());
    if !file.exists() && !build(&root) {
        println!("cargo::error=dist/portico.wasm cannot be built: run `make component` to see why");
    }
    let component = fs::read(file).unwrap_or_default();
    // The best level takes seconds.
    let level = if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        10
    } else {
        1
    };
    let to = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let to = Path::new(&to).join("component");
    fs::write(to, compress_to_vec(&component, level)).expect("cargo's folder");
    let hash = Sha256::digest(component);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=PORTICO_COMPONENT_HASH={hash}");
    without_comments(&root.join("wit"));
    let world = root.join("wit/world.wit");
    println!("cargo:rerun-if-changed={}", world.display());
    println!(
        "cargo:rustc-env=PORTICO_CONTRACT_VERSION={}",
        version(&fs::read_to_string(world).unwrap_or_default())
    );
}

/// Writes the files of the contract, and of those that it depends on, without comments into one folder.
fn without_comments(wit: &Path) {
    let to = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    println!("cargo:rerun-if-changed={}", wit.display());
    for folder in ["", "deps/clocks", "deps/random"] {
        let files = fs::read_dir(wit.join(folder)).expect("the folder is in the repository");
        let files = files.map(|file| file.expect("a file").path());
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "wit")) {
            let text = fs::read_to_string(&file).expect("a file of text");
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            let name = file.file_name().expect("a file has a name");
            fs::write(Path::new(&to).join(name), text).expect("cargo's folder");
        }
    }
}

/// The version in `package portico:dashboard@1.0.0;`.
fn version(world: &str) -> &str {
    let package = world.lines().find_map(|line| line.strip_prefix("package "));
    let version = package.and_then(|package| package.split_once('@'));
    version.map_or("", |(_, version)| version.trim_end_matches(';'))
}

/// Builds the component while cargo compiles what the host needs besides. Returns whether it was built.
fn build(root: &Path) -> bool {
    let mut make = Command::new("make");
    make.arg("component").current_dir(root);
    // Flags and wrappers are for the host's crates. With them the component would not be the same.
    for name in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "MAKEFLAGS",
    ] {
        make.env_remove(name);
    }
    make.status().is_ok_and(|status| status.success())
}
