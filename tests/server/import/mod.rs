//! `portico import homarr`: the data of Homarr moves in.

mod archives;
mod bad_files;
mod everything;
mod homarr_2;
mod homarr_postgresql;
mod interrupted;
mod merging;

use std::path::{Path, PathBuf};

use portico_tests::{Finished, command, repository, run};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// The password of Homarr's users in `everything.sql`.
pub const OLD_PASSWORD: &str = "correct horse battery";

/// Schemas of Homarr 1: its last one, that of 1.8, and that of 1.0, which is the oldest one that is read.
pub const NEWEST: &str = "schema-0041.sql";
pub const OLDER: &str = "schema-0030.sql";
pub const OLDEST: &str = "schema-0020.sql";

/// A folder for files of Homarr and data directories of Portico.
pub struct Workspace {
    pub folder: TempDir,
}

impl Workspace {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Homarr's database with everything in it.
    pub fn everything(&self) -> PathBuf {
        self.database("db.sqlite", NEWEST, &fixture("everything.sql"))
    }

    /// A database of Homarr with this schema, and what this SQL adds.
    pub fn database(&self, name: &str, schema: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        let db = Connection::open(&path).expect("a new database");
        db.execute_batch(&fixture(schema)).expect("the schema");
        db.execute_batch(sql).expect("the data");
        path
    }
}

/// A file of Homarr's fixtures.
pub fn fixture(name: &str) -> String {
    let path = repository().join("tests/fixtures/homarr").join(name);
    std::fs::read_to_string(path).expect("the fixture")
}

/// Imports a file into a data directory.
pub fn import(file: &Path, data: &Path, more: &[&str]) -> Finished {
    let mut command = command();
    command
        .args(["import", "homarr"])
        .arg(file)
        .arg("--data")
        .arg(data);
    run(command.args(more), "")
}

/// The report of an import that succeeds.
#[track_caller]
pub fn report(file: &Path, data: &Path, more: &[&str]) -> Value {
    let said = import(file, data, &[&["--json"], more].concat()).succeeded();
    serde_json::from_str(&said).expect("a report in JSON")
}

/// The dashboard in a data directory, as a document.
#[track_caller]
pub fn export(data: &Path) -> Value {
    let mut command = command();
    command.args(["export", "--format", "json", "--data"]).arg(data);
    let said = run(&mut command, "").succeeded();
    serde_json::from_str(&said).expect("a document")
}

/// The dashboard that `everything.sql` becomes.
pub fn expected() -> Value {
    let icon = portico_sandbox::icons::DEFAULT_ICON;
    let text = fixture("everything.json").replace("DEFAULT_ICON", icon);
    serde_json::from_str(&text).expect("a document")
}

/// How many records of each kind a report says are new.
pub fn created(report: &Value) -> Vec<u64> {
    let counts = report["counts"].as_object().expect("counts");
    counts
        .values()
        .map(|count| count["created"].as_u64().expect("a number"))
        .collect()
}
