//! The storage kit on the command line.

use std::io::Write as _;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use portico_storage_kit::{Case, Child, all, run};

/// Tests an implementation of Portico's storage.
///
/// The contract is wit/storage.wit; storage-kit/README.md describes the protocol.
#[derive(Parser)]
#[command(name = "portico-storage-kit", version)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Runs the cases against an implementation; fails if it breaks a rule
    Run {
        /// Only cases whose file or name contains this
        #[arg(long, value_name = "TEXT")]
        case: Option<String>,
        /// Fails also if a case could not run
        #[arg(long)]
        no_skips: bool,
        /// The program that speaks for the implementation, and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Lists the cases, each with its rule
    List,
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Action::List => {
            for case in all() {
                println!("{}: {}\n    {}", case.file, case.name, case.rule);
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Run {
            case,
            no_skips,
            command,
        } => run_cases(case.as_deref(), no_skips, &command),
    }
}

fn run_cases(filter: Option<&str>, no_skips: bool, command: &[String]) -> anyhow::Result<ExitCode> {
    let mut cases = all();
    if let Some(text) = filter {
        cases.retain(|case| case.file.contains(text) || case.name.contains(text));
        anyhow::ensure!(
            !cases.is_empty(),
            "no case has \"{text}\" in its file or name: see `list`"
        );
    }
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| anyhow::anyhow!("name the program to test"))?;
    let mut child = Child::start(Command::new(program).args(arguments))?;
    let mut number = 0;
    let begins = |case: &Case| {
        number += 1;
        let _ = writeln!(
            std::io::stderr(),
            "[{number}/{}] {}: {}",
            cases.len(),
            case.file,
            case.name
        );
    };
    let report = run(&mut child, &cases, begins);
    println!("{report}");
    let skipped = no_skips && report.skipped().next().is_some();
    Ok(match report.is_kept() && !skipped {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
