//! The component that is built into the host, and components from files.

use std::{
    fs::File,
    io::{self, Read as _},
    ops::Deref,
    path::Path,
};

use crate::limits::Limits;

/// The component that this host was built with. It dereferences to its file of WebAssembly.
pub const COMPONENT: Included = Included;

/// The type of [`COMPONENT`].
#[derive(Clone, Copy, Debug)]
pub struct Included;

impl Deref for Included {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        include_bytes!("../../../dist/portico.wasm")
    }
}

/// A file of WebAssembly.
#[derive(Clone, Copy, Debug)]
pub enum Wasm<'a> {
    /// That of [`COMPONENT`].
    Included,
    /// These bytes.
    Bytes(&'a [u8]),
}

impl From<Included> for Wasm<'_> {
    fn from(Included: Included) -> Self {
        Self::Included
    }
}

impl<'a> From<&'a [u8]> for Wasm<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl Deref for Wasm<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Included => &COMPONENT,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// The version of the contract in `wit/`.
pub(crate) const CONTRACT_VERSION: &str = "1.0.0";

/// The SHA-256 of [`COMPONENT`] in hexadecimal digits, computed while the host is built.
pub(crate) const COMPONENT_HASH: &str = env!("PORTICO_COMPONENT_HASH");

/// Identifies a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentVersion {
    /// The version of the contract that it was built for.
    pub contract: String,
    /// The SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
}

impl ComponentVersion {
    /// That of [`COMPONENT`].
    pub fn included() -> Self {
        Self {
            contract: CONTRACT_VERSION.into(),
            sha256: COMPONENT_HASH.into(),
        }
    }
}

/// Reads the file of a component. If the file is too long, reads one byte more than the limit.
pub fn read_file(file: &Path, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let longest = limits.file as u64;
    File::open(file)?.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
