//! Finds the component that the host carries inside, and builds it if it is not there yet.

use std::{env, fs, path::Path, process::Command};

use sha2::{Digest as _, Sha256};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let root = Path::new(&manifest).join("../..");
    let file = root.join("dist/portico.wasm");
    println!("cargo:rerun-if-changed={}", file.display());
    if !file.exists() && !build(&root) {
        println!("cargo::error=dist/portico.wasm cannot be built: run `make component` to see why");
    }
    println!("cargo:rustc-env=PORTICO_COMPONENT_FILE={}", file.display());
    let hash = Sha256::digest(fs::read(file).unwrap_or_default());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=PORTICO_COMPONENT_HASH={hash}");
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
