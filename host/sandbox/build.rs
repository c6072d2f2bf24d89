//! Builds the component that becomes part of the host, if it is not there yet, and hashes it.

use std::{fs, process::Command};

use sha2::{Digest as _, Sha256};

const FILE: &str = "../../dist/portico.wasm";
/// Flags and wrappers are for the host's crates: with them the component would be another file.
const OF_THE_HOST: [&str; 4] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "MAKEFLAGS",
];

fn main() {
    println!("cargo::rerun-if-changed={FILE}");
    if !fs::exists(FILE).is_ok_and(|exists| exists) {
        let mut make = Command::new("make");
        make.args(["-C", "../..", "component"]);
        for name in OF_THE_HOST {
            make.env_remove(name);
        }
        if !make.status().is_ok_and(|status| status.success()) {
            println!("cargo::error=dist/portico.wasm cannot be built: run `make component` to see why");
        }
    }
    let hash = Sha256::digest(fs::read(FILE).unwrap_or_default());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=PORTICO_COMPONENT_HASH={hash}");
}
