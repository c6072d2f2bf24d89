//! The storage kit on the command line.
//!
//! It reads its few arguments itself: a parser of arguments would take longer to compile than the kit.

use std::io::Write as _;
use std::process::{Command, ExitCode};

use crate::cases::{Case, all};
use crate::child::Child;
use crate::run::run;

const HELP: &str = "\
Tests an implementation of Portico's storage

The contract is wit/storage.wit; storage-kit/README.md describes the protocol.

Usage: {program} run [OPTIONS] -- COMMAND...
       {program} list

Commands:
  run   Runs the cases against an implementation; fails if it breaks a rule
  list  Lists the cases, each with its rule

Options of run:
  --case TEXT  Only cases whose file or name contains this
  --no-skips   Fails also if a case could not run

COMMAND is the program that speaks for the implementation, with its arguments.";

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
enum Action {
    Help,
    List,
    Run {
        case: Option<String>,
        no_skips: bool,
        command: Vec<String>,
    },
}

/// Runs the storage kit with these arguments, without the name of the program. `program` is what the help
/// calls it.
pub fn main(program: &str, arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let done = match read(arguments) {
        Ok(Action::Help) => {
            show(&HELP.replace("{program}", program));
            Ok(ExitCode::SUCCESS)
        }
        Ok(Action::List) => {
            for case in all() {
                show(&format!("{}: {}\n    {}", case.file, case.name, case.rule));
            }
            Ok(ExitCode::SUCCESS)
        }
        Ok(Action::Run {
            case,
            no_skips,
            command,
        }) => run_cases(case.as_deref(), no_skips, &command),
        Err(reason) => {
            eprintln!("error: {reason}\n\n{}", HELP.replace("{program}", program));
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Writes lines to the standard output. If it is closed, as by `head`, the text is dropped.
fn show(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn read(arguments: impl IntoIterator<Item = String>) -> Result<Action, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        Some("run") => {}
        Some("list") => {
            return match arguments.next() {
                None => Ok(Action::List),
                Some(unknown) => Err(format!("`list` takes no argument: {unknown}")),
            };
        }
        Some("help" | "--help" | "-h") => return Ok(Action::Help),
        Some(unknown) => return Err(format!("there is no command `{unknown}`")),
        None => return Err("a command is missing".into()),
    }
    let (mut case, mut no_skips) = (None, false);
    let first = loop {
        let argument = arguments.next();
        match argument.as_deref() {
            Some("--case") => case = Some(arguments.next().ok_or("`--case` needs a text")?),
            Some("--no-skips") => no_skips = true,
            Some("--help" | "-h") => return Ok(Action::Help),
            Some("--") => break arguments.next(),
            Some(text) if text.starts_with("--case=") => case = Some(text["--case=".len()..].to_owned()),
            Some(unknown) if unknown.starts_with('-') => {
                return Err(format!("`run` has no option `{unknown}`"));
            }
            _ => break argument,
        }
    };
    let command: Vec<_> = first.into_iter().chain(arguments).collect();
    if command.is_empty() {
        return Err("`run` needs the command of an implementation".into());
    }
    Ok(Action::Run {
        case,
        no_skips,
        command,
    })
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
    let mut child = Child::start(Command::new(&command[0]).args(&command[1..]))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &str) -> Result<Action, String> {
        read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read() {
        let run = |case: Option<&str>, no_skips, command: &str| {
            Ok(Action::Run {
                case: case.map(str::to_owned),
                no_skips,
                command: command.split(' ').map(str::to_owned).collect(),
            })
        };
        assert_eq!(read_words("list"), Ok(Action::List));
        assert_eq!(read_words("--help"), Ok(Action::Help));
        assert_eq!(read_words("run -- node a.mjs"), run(None, false, "node a.mjs"));
        // What follows the command belongs to it.
        assert_eq!(
            read_words("run --no-skips --case apps node --case x -- y"),
            run(Some("apps"), true, "node --case x -- y")
        );
        assert_eq!(
            read_words("run --case=apps -- -x"),
            run(Some("apps"), false, "-x")
        );
        for wrong in [
            "",
            "walk",
            "list all",
            "run",
            "run --",
            "run --case",
            "run --quick -- node",
        ] {
            assert!(read_words(wrong).is_err(), "{wrong}");
        }
    }
}
