//! `portico compile-component`: what a host starts to compile the file of a component, because it can end a process.

use std::{
    env,
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitCode},
};

use portico_sandbox::{Compiler, compile};

/// The name of the command.
pub const NAME: &str = "compile-component";

/// Compiles files by this program.
pub const COMPILER: Compiler = Compiler::Apart(command);

fn command() -> io::Result<Command> {
    // The file may have been replaced by another version since this process started.
    let program = match cfg!(target_os = "linux") {
        true => PathBuf::from("/proc/self/exe"),
        false => env::current_exe()?,
    };
    let mut command = Command::new(program);
    command.arg0("portico").arg(NAME);
    Ok(command)
}

/// Compiles from the standard input to the standard output.
pub fn run() -> anyhow::Result<ExitCode> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let mut component = Vec::new();
    io::stdin().read_to_end(&mut component)?;
    match compile(&component) {
        Ok(code) => {
            io::stdout().write_all(&code)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            write!(io::stderr(), "{error:#}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}
