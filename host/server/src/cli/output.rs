//! What commands write to the terminal.
//!
//! Invariant: `print` and `complain` escape control characters. A caller of `print_as_is` has done so.

use std::io::{ErrorKind, Write};

use super::terminal;

/// Writes a line to the standard output, with control characters escaped.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_as_is(&terminal::visible(text))
}

/// Writes a failure to the standard error. An error while writing it is ignored.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "portico: {}", terminal::visible(text));
}

/// Writes a line to the standard output. The program that reads it may stop reading at any time.
pub fn print_as_is(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
