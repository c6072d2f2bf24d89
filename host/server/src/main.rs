//! The command `portico`.

mod cli;

use std::process::ExitCode;

use mimalloc::MiMalloc;

// Most of what a request allocates is small and soon freed.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::output::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
