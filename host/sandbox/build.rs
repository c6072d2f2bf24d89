//! Finds the component that the host carries inside.

use std::{env, fs, path::PathBuf};

use sha2::{Digest as _, Sha256};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let file = PathBuf::from(manifest).join("../../dist/portico.wasm");
    println!("cargo:rerun-if-changed={}", file.display());
    if !file.exists() {
        println!("cargo::error=dist/portico.wasm is not there: build it first, with `make component`");
    }
    println!("cargo:rustc-env=PORTICO_COMPONENT_FILE={}", file.display());
    let hash = Sha256::digest(fs::read(file).unwrap_or_default());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=PORTICO_COMPONENT_HASH={hash}");
}
