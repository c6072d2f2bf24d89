//! The file of a component.

use std::{
    io,
    path::{Path, PathBuf},
};

use portico_sandbox::{self as sandbox, Limits, inspect::sha256};

/// Reads a component file, up to the limit on its size.
pub fn read(file: &Path) -> io::Result<Vec<u8>> {
    sandbox::read_file(file, &Limits::default())
}

/// The component file that a host serves.
pub struct ComponentFile {
    pub path: PathBuf,
    /// The SHA-256 of the version that is served.
    pub served: String,
}

impl ComponentFile {
    /// A file from which the host has loaded these bytes.
    pub fn new(path: PathBuf, bytes: &[u8]) -> Self {
        let served = sha256(bytes);
        Self { path, served }
    }
}
