//! The command `portico`.

mod cli;

use std::process::ExitCode;

use mimalloc::MiMalloc;

// Most allocations of a request are small and short-lived, for which mimalloc is fast.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            cli::output::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
