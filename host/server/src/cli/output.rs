//! What commands write to the terminal.
//!
//! Invariant: text that others wrote is escaped before it gets here or in here, except in `print_as_is`.

use std::io::{ErrorKind, Write};

use super::terminal;

/// Writes to the standard output what holds nothing that a terminal would obey, or has that escaped.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_as_is(&terminal::visible(text))
}

/// Writes a failure to the standard error; ignores an error of writing it.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "portico: {}", terminal::visible(text));
}

/// Writes to the standard output. The program that reads it may stop reading at any time.
pub fn print_as_is(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
