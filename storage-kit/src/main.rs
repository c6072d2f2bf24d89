//! The storage kit as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    portico_storage_kit::main("portico-storage-kit", std::env::args().skip(1))
}
