//! What commands write to the terminal.
//!
//! Invariant: `print` and `complain` escape control characters. A caller of `print_as_is` has done so.

use std::{
    io::{ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use tracing_subscriber::fmt::{
    format::Writer,
    time::{FormatTime as _, SystemTime},
};

use super::terminal;

/// Writes a line to the standard output, with control characters escaped.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_as_is(&terminal::visible(text))
}

/// From now on, failures and announcements are objects of JSON, like the lines of the log.
pub fn speak_json() {
    SPEAKS_JSON.store(true, Ordering::Relaxed);
}

static SPEAKS_JSON: AtomicBool = AtomicBool::new(false);

/// Writes a failure to the standard error. An error while writing it is ignored.
pub fn complain(text: &str) {
    let line = as_json("ERROR", text).unwrap_or_else(|| format!("portico: {}", terminal::visible(text)));
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes to the standard output what programs wait for.
pub fn announce(text: &str) -> anyhow::Result<()> {
    match as_json("INFO", text) {
        Some(line) => print_as_is(&line),
        None => print(text),
    }
}

/// A line like those of the log, if they are JSON.
fn as_json(level: &str, message: &str) -> Option<String> {
    let mut timestamp = String::new();
    // It fails only if the text cannot grow.
    let _ = SystemTime.format_time(&mut Writer::new(&mut timestamp));
    let line = json!({ "timestamp": timestamp, "level": level, "message": message });
    SPEAKS_JSON.load(Ordering::Relaxed).then(|| line.to_string())
}

/// Writes a line to the standard output. The program that reads it may stop reading at any time.
pub fn print_as_is(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
