//! `portico storage-kit`: tests an implementation of storage.

use std::process::ExitCode;

use clap::Args;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct StorageKit {
    /// What the kit is to do; --help tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

impl StorageKit {
    pub fn run(self) -> ExitCode {
        portico_storage_kit::main("portico storage-kit", self.arguments)
    }
}
