//! Finds the component that the host carries inside, and the contract's words for the description.

#[path = "build/words.rs"]
mod words;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

fn main() {
    let folder = |name: &str| PathBuf::from(env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}")));
    let manifest = folder("CARGO_MANIFEST_DIR");
    component(&manifest.join("../dist/portico.wasm"));

    let wit = manifest.join("../wit");
    println!("cargo:rerun-if-changed={}", wit.display());
    let words = words::of_contract(&wit).expect("read wit/");
    fs::write(folder("OUT_DIR").join("words.rs"), words).expect("write words.rs");
}

fn component(file: &Path) {
    println!("cargo:rerun-if-changed={}", file.display());
    if !file.exists() {
        println!("cargo::error=dist/portico.wasm is not there: build it first, with `make component`");
    }
    println!("cargo:rustc-env=PORTICO_COMPONENT_FILE={}", file.display());
    let hash = Sha256::digest(fs::read(file).unwrap_or_default());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=PORTICO_COMPONENT_HASH={hash}");
}
