//! Links the binary so that it is small.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let target = env::var("TARGET").unwrap_or_default();
    if !is_release || target != "x86_64-unknown-linux-gnu" {
        return;
    }
    // Without names of functions: `strip` in the profile leaves them in.
    link("--strip-all");
    // What follows is for the linker that Rust brings for this target. Another may not know it.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if env::var_os("RUSTC_LINKER").is_some() || flags.contains("link") {
        return;
    }
    // Functions with the same code are kept once.
    link("--icf=all");
    // Relocations take an eighth of their size, which glibc can read from 2.36 on.
    if glibc().is_some_and(|version| version >= (2, 36)) {
        link("-z,pack-relative-relocs");
    }
}

fn link(argument: &str) {
    println!("cargo::rustc-link-arg-bins=-Wl,{argument}");
}

/// The version of this machine's glibc. The binary is for machines that have no older one.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
