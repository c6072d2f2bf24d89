//! The component that the host carries inside, and components from files.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use crate::limits::Limits;

/// The component that this host was built with, as a file of WebAssembly.
pub static COMPONENT: &[u8] = include_bytes!(env!("PORTICO_COMPONENT_FILE"));

/// The SHA-256 of [`COMPONENT`] in hexadecimal digits, computed while the host is built.
pub(crate) const COMPONENT_HASH: &str = env!("PORTICO_COMPONENT_HASH");

/// Which component it is.
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
            contract: env!("PORTICO_CONTRACT_VERSION").into(),
            sha256: COMPONENT_HASH.into(),
        }
    }
}

/// Whether these bytes are [`COMPONENT`] itself, not a copy of it.
pub(crate) fn is_inside(component: &[u8]) -> bool {
    std::ptr::eq(component, COMPONENT)
}

/// Reads the file of a component; of a file that is too long, one byte more than the limit.
pub fn read_file(file: &Path, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let longest = limits.file as u64;
    File::open(file)?.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
