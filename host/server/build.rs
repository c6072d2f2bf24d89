//! Links the binary.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let target = env::var("TARGET").unwrap_or_default();
    // The linker that Rust brings for this target keeps functions with the same code once. Another may not know how.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_rusts_linker = env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link");
    if is_release && target == "x86_64-unknown-linux-gnu" && is_rusts_linker {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
