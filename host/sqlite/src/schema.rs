//! Checks that a file from elsewhere consists of what Portico made, and of nothing else.
//!
//! Invariants:
//! - A file is accepted only if its `sqlite_schema` has exactly the entries (tables, indexes, views and triggers) that
//!   the migrations up to its version create, letter by letter. So no code that came with the file runs: no trigger, no
//!   view, no CHECK, no generated column.
//! - Until it is accepted, only the schema is read, within a time limit: a file can be made so that reading its schema
//!   never ends.

use std::time::{Duration, Instant};

use anyhow::bail;
use rusqlite::{Connection, ErrorCode};

use super::health::first_few;
use super::interrupts::end_at;
use super::migrations;

/// The limit for reading a schema, which usually takes milliseconds.
const SCHEMA_TIME: Duration = Duration::from_secs(5);
/// The limit for everything else: a minute, plus one second for each 256 KiB of the file.
const CONTENT_TIME: Duration = Duration::from_secs(60);
const BYTES_PER_SECOND: u64 = 256 << 10;

/// More entries than any version has.
const MAX_ENTRIES: i64 = 1000;
/// How many characters of a name an error shows.
const MAX_NAME: usize = 60;

/// Limits the time for reading the schema.
pub(super) fn limit_for_schema(connection: &mut Connection) -> rusqlite::Result<()> {
    end_at(connection, Instant::now() + SCHEMA_TIME)
}

/// Limits the time for reading everything in a file of this length.
pub(super) fn limit_for_content(connection: &mut Connection, bytes: u64) -> rusqlite::Result<()> {
    let more = Duration::from_secs(bytes / BYTES_PER_SECOND);
    end_at(connection, Instant::now() + CONTENT_TIME + more)
}

/// Explains the error of an interrupted statement.
pub(super) fn explain_interruption(error: anyhow::Error) -> anyhow::Error {
    let code = error.downcast_ref::<rusqlite::Error>();
    match code.and_then(rusqlite::Error::sqlite_error_code) {
        Some(ErrorCode::OperationInterrupted) => {
            error.context("reading it takes too long: it is damaged, or was crafted to be slow")
        }
        _ => error,
    }
}

/// One entry of `sqlite_schema`, without the number of its first page.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SchemaRow {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

impl SchemaRow {
    fn describe(&self) -> String {
        let name: String = self.name.chars().take(MAX_NAME).collect();
        format!("the {} {name:?}", self.kind)
    }

    fn has_name_of(&self, other: &Self) -> bool {
        (&self.kind, &self.name) == (&other.kind, &other.name)
    }
}

fn entries(connection: &Connection) -> rusqlite::Result<Vec<SchemaRow>> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT ?1")?;
    let entries = statement.query_map([MAX_ENTRIES], |row| {
        Ok(SchemaRow {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get(3)?,
        })
    })?;
    let mut entries: Vec<_> = entries.collect::<rusqlite::Result<_>>()?;
    entries.sort();
    Ok(entries)
}

/// Refuses a database whose schema is not exactly that of its version.
pub(super) fn check(connection: &Connection) -> anyhow::Result<()> {
    let version = migrations::version(connection)?;
    let expected = entries(&migrations::build(version)?)?;
    let found = entries(connection)?;
    if version > 0 && found == expected {
        return Ok(());
    }
    let is_in = |entry: &SchemaRow, others: &[SchemaRow]| others.iter().any(|other| other.has_name_of(entry));
    let mut differences = Vec::new();
    for entry in &found {
        if !is_in(entry, &expected) {
            differences.push(format!("{} is not one of Portico's", entry.describe()));
        } else if !expected.contains(entry) {
            differences.push(format!("{} is defined differently", entry.describe()));
        }
    }
    for entry in expected.iter().filter(|entry| !is_in(entry, &found)) {
        differences.push(format!("{} is missing", entry.describe()));
    }
    bail!(
        "its tables are not those of version {version}, so another program changed it: give a file that `portico \
         backup` wrote ({})",
        first_few(differences)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksums of the schemas of the released versions, from the first.
    const RECORDED: [u32; migrations::NEWEST + 1 - migrations::FIRST] = [
        0x2bcb_4097,
        0xc894_263b,
        0xfbc4_1d67,
        0x78a1_5ea1,
        0x7f75_b460,
        0xc609_b49a,
        0x9967_8d3c,
        0xf544_1cff,
        0xbf4c_a2c1,
        0x45b3_327b,
        0x4e1e_99bd,
        0x9e55_a41b,
    ];

    /// If this fails, earlier backups would be refused: a released migration has changed, or another SQLite writes
    /// ALTER TABLE differently. `check` must then accept both.
    #[test]
    fn what_a_released_version_consists_of_never_changes() {
        let sum = |version| {
            let mut sum = crc32fast::Hasher::new();
            for entry in entries(&migrations::build(version).unwrap()).unwrap() {
                for text in [entry.kind, entry.name, entry.table, entry.sql.unwrap_or_default()] {
                    sum.update(text.as_bytes());
                    sum.update(b"\0");
                }
            }
            sum.finalize()
        };
        let sums: Vec<_> = (migrations::FIRST..=migrations::NEWEST).map(sum).collect();
        assert_eq!(sums, RECORDED, "{sums:#x?}");
    }

    #[test]
    fn a_statement_without_end_is_ended() {
        let mut connection = Connection::open_in_memory().unwrap();
        end_at(&mut connection, Instant::now() + Duration::from_millis(20)).unwrap();
        let endless =
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
        let error = connection
            .query_row(endless, [], |row| row.get::<_, i64>(0))
            .unwrap_err();
        let error = explain_interruption(error.into());
        assert!(
            format!("{error:#}").starts_with("reading it takes too long"),
            "{error:#}"
        );
    }
}
