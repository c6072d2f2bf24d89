//! Whether this host can run the component in a file, in words.
//!
//! wasmtime also refuses a component that does not fit, but its messages are hard to act on: for a component of another
//! version of the contract it says that a resource is not implemented. So we compare the names and versions of the
//! component's interfaces before anything of it is compiled or run.

mod comparison;
mod world;

use anyhow::{bail, ensure};
use serde::Serialize;
use sha2::{Digest, Sha256};
use wit_parser::decoding::{DecodedWasm, decode};

use self::comparison::{Comparison, compare};
use self::world::World;
pub use self::world::{Compatibility, Interface};
use crate::component;

/// The first bytes of a file of WebAssembly.
const MAGIC: &[u8] = b"\0asm";
const CORE_MODULE: [u8; 4] = [1, 0, 0, 0];
const COMPONENT: [u8; 4] = [13, 0, 1, 0];

/// What is known about a file.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// Its length in bytes.
    pub size: usize,
    /// Its SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// What it is: `component`, `core module`, `WIT package` or `unknown`.
    pub kind: &'static str,
    /// The contract of this host, with its version.
    pub contract: String,
    /// What it imports, in its own order.
    pub imports: Vec<Interface>,
    /// What it exports in its own order, then what this host calls and does not find.
    pub exports: Vec<Interface>,
    /// Why this host cannot run it; empty if names and versions fit.
    pub problems: Vec<String>,
}

/// Inspects a file without compiling or running anything of it.
pub fn inspect(file: &[u8]) -> anyhow::Result<Inspection> {
    let (kind, comparison) = read(file)?;
    let sha256 = sha256(file);
    Ok(Inspection {
        size: file.len(),
        sha256,
        kind,
        contract: contract(),
        imports: comparison.imports,
        exports: comparison.exports,
        problems: comparison.problems,
    })
}

/// Refuses a file that is not a component for this host. Returns the version of the contract for which it was built.
pub(crate) fn check(file: &[u8]) -> anyhow::Result<String> {
    let (_, comparison) = read(file)?;
    if !comparison.problems.is_empty() {
        bail!(
            "it does not fit this host, portico {} with the contract {}: {}",
            env!("CARGO_PKG_VERSION"),
            contract(),
            comparison.problems.join("; ")
        );
    }
    let mut exports = comparison.exports.iter();
    let export = exports.find(|export| matches!(export.standing, Compatibility::Fits));
    let version = export.and_then(|export| export.name.split_once('@'));
    Ok(version.map_or_else(String::new, |(_, version)| version.to_owned()))
}

/// Refuses a file that is not WebAssembly at all.
pub(crate) fn check_kind(file: &[u8]) -> anyhow::Result<()> {
    ensure!(file.starts_with(MAGIC), foreign(file));
    Ok(())
}

/// The package of the contract, with its version.
fn contract() -> String {
    format!("portico:dashboard@{}", component::CONTRACT_VERSION)
}

/// What a file is, and how it compares with the contract.
fn read(file: &[u8]) -> anyhow::Result<(&'static str, Comparison)> {
    let refused = |kind, problem: String| {
        let problems = vec![problem];
        let comparison = Comparison {
            problems,
            ..Comparison::default()
        };
        Ok((kind, comparison))
    };
    match file.strip_prefix(MAGIC).and_then(<[u8]>::first_chunk) {
        Some(&COMPONENT) => {}
        Some(&CORE_MODULE) => {
            return refused(
                "core module",
                "it is a core module and not a component: build it for wasm32-wasip2, or make a component of it \
                 with `wasm-tools component new`"
                    .into(),
            );
        }
        Some(other) => {
            return refused(
                "unknown",
                format!(
                    "its encoding {other:?} is not one that this host knows: build it with current tools, or run a \
                     newer portico"
                ),
            );
        }
        None => return refused("unknown", foreign(file)),
    }
    match decode(file) {
        Ok(DecodedWasm::Component(resolve, world)) => {
            let theirs = World::new(&resolve, world);
            Ok(("component", compare(&ours()?, theirs)))
        }
        Ok(DecodedWasm::WitPackage(..)) => refused(
            "WIT package",
            "it holds only types, the contract itself, and nothing that runs: give the component".into(),
        ),
        Err(error) => refused("component", unreadable(file, &error)),
    }
}

/// What the component inside imports and exports.
fn ours() -> anyhow::Result<World> {
    match decode(&component::COMPONENT)? {
        DecodedWasm::Component(resolve, world) => Ok(World::new(&resolve, world)),
        DecodedWasm::WitPackage(..) => bail!("what this host has inside is not a component"),
    }
}

/// Why a file is not WebAssembly.
fn foreign(file: &[u8]) -> String {
    let text = file.trim_ascii_start();
    if file.is_empty() {
        "the file is empty: copy it again".into()
    } else if MAGIC.starts_with(file) || file.starts_with(MAGIC) {
        "the file is truncated: copy it again".into()
    } else if text.starts_with(b"(component") || text.starts_with(b"(module") {
        "it is WebAssembly's text form: make a file of bytes of it with `wasm-tools parse`".into()
    } else if file.starts_with(b"\x7fELF") {
        "it is a program for this kind of machine, perhaps a component that was compiled already: give the .wasm \
         that it was made of"
            .into()
    } else {
        "it is not WebAssembly: give a component, a file that begins with the bytes 00 61 73 6d".into()
    }
}

/// Why a component cannot be read to its end.
fn unreadable(file: &[u8], error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    if text.contains("unexpected end") {
        format!("the file is truncated after {} bytes: copy it again", file.len())
    } else {
        format!(
            "it is not a component that can be read ({text}): is the file complete, and does `wasm-tools validate` \
             accept it?"
        )
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256(file: &[u8]) -> String {
    let digits = Sha256::digest(file);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wit_parser::Resolve;

    use super::*;
    use crate::component::ComponentVersion;

    /// So the host need not check it when it starts.
    #[test]
    fn the_component_inside_fits() {
        let contract = check(&component::COMPONENT).unwrap();
        assert_eq!(ComponentVersion::included().contract, contract);
    }

    /// So others can be compared with it.
    #[test]
    fn the_component_inside_has_all_interfaces_of_the_contract() {
        let mut resolve = Resolve::new();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let (package, _) = resolve.push_dir(wit).unwrap();
        let world = resolve.select_world(&[package], Some("plugin")).unwrap();
        let world = World::new(&resolve, world);
        let names = |interfaces: &[Interface]| {
            let used = interfaces.iter().filter(|interface| !interface.is_only_types);
            let mut names: Vec<_> = used.map(|interface| interface.name.clone()).collect();
            names.sort();
            names
        };
        let ours = ours().unwrap();
        assert_eq!(names(&ours.imports), names(&world.imports));
        assert_eq!(names(&ours.exports), names(&world.exports));
        assert!(world.exports[0].name.ends_with(component::CONTRACT_VERSION));
    }
}
