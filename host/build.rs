//! Finds the contract's words for the description.

#[path = "build/words.rs"]
mod words;

use std::{env, fs, path::PathBuf};

fn main() {
    let folder = |name: &str| PathBuf::from(env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}")));
    let manifest = folder("CARGO_MANIFEST_DIR");
    let wit = manifest.join("../wit");
    println!("cargo:rerun-if-changed={}", wit.display());
    let words = words::of_contract(&wit).expect("read wit/");
    fs::write(folder("OUT_DIR").join("words.rs"), words).expect("write words.rs");
}
