//! `portico copy`: everything comes over, or nothing does.

mod everything;
mod files;
mod postgresql;
mod postgresql_cut;

use std::path::Path;
use std::process::Command;

use portico_sqlite::copying::DatabaseReader;
use portico_tests::databases::{Rows, rows};
use portico_tests::{Finished, command, run};
use tokio::runtime::Runtime;

/// The command, with these databases in the environment.
fn copying(from: &str, to: &str) -> Command {
    let mut command = command();
    command
        .arg("copy")
        .env("PORTICO_COPY_FROM", from)
        .env("PORTICO_COPY_TO", to);
    command
}

fn copy(from: &str, to: &str) -> Finished {
    run(&mut copying(from, to), "")
}

/// A data directory, as the command takes it.
fn data(folder: &Path) -> String {
    format!("sqlite:{}", folder.display())
}

/// All that a data directory holds.
fn rows_in(folder: &Path) -> Rows {
    let runtime = Runtime::new().expect("a runtime");
    let mut reader = DatabaseReader::open(&folder.join("portico.db")).expect("a database");
    runtime.block_on(rows(&mut reader))
}

/// Compares table by table, so that a failure is not as long as a database.
#[track_caller]
fn assert_same(left: &Rows, right: &Rows) {
    for ((table, left), (_, right)) in left.iter().zip(right) {
        assert!(left == right, "{table} differs:\n{left:?}\n{right:?}");
    }
}
