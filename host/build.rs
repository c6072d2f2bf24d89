//! Finds the component that the host carries inside.

use std::{env, path::PathBuf};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let component = PathBuf::from(manifest).join("../dist/portico.wasm");
    println!("cargo:rerun-if-changed={}", component.display());
    if !component.exists() {
        println!("cargo::error=dist/portico.wasm is not there: build it first, with `make component`");
    }
    println!("cargo:rustc-env=PORTICO_COMPONENT_FILE={}", component.display());
}
