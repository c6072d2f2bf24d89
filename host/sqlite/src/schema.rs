//! Whether a file from elsewhere consists of what Portico made, and of nothing else.
//!
//! Invariants:
//! - A file is accepted only if its `sqlite_schema` has exactly the entries (tables, indexes, views and
//!   triggers) that the migrations up to its version leave, letter by letter. So no code runs that
//!   came with the file: no trigger, no view, no CHECK, no generated column.
//! - Before that is known, only the schema is read, and only for a while: a file can be made such that
//!   reading its schema never ends.

use std::time::{Duration, Instant};

use anyhow::bail;
use rusqlite::{Connection, ErrorCode};

use super::migrations;

/// How long it may take to read a schema, which takes milliseconds.
const SCHEMA_TIME: Duration = Duration::from_secs(5);
/// How long everything else may take: a minute, and one second more for each 256 KiB of the file.
const LEAST_TIME: Duration = Duration::from_secs(60);
const BYTES_IN_A_SECOND: u64 = 256 << 10;

/// Steps of a statement between two looks at the time.
const STEPS: i32 = 1000;
/// More entries than any version has.
const MOST_ENTRIES: i64 = 1000;
/// Differences that are named, and how much of each name is shown.
const NAMED: usize = 3;
const LONGEST_NAME: usize = 60;

/// Interrupts every statement of this connection that runs at the deadline or later.
fn end_at(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    connection.progress_handler(STEPS, Some(move || Instant::now() >= deadline))
}

/// Bounds the time in which the schema is read.
pub(super) fn limit_for_schema(connection: &mut Connection) -> rusqlite::Result<()> {
    end_at(connection, Instant::now() + SCHEMA_TIME)
}

/// Bounds the time in which all of a file is read that is so many bytes long.
pub(super) fn limit_for_content(connection: &mut Connection, bytes: u64) -> rusqlite::Result<()> {
    let more = Duration::from_secs(bytes / BYTES_IN_A_SECOND);
    end_at(connection, Instant::now() + LEAST_TIME + more)
}

/// Says what it means that a statement was interrupted.
pub(super) fn explain_interruption(error: anyhow::Error) -> anyhow::Error {
    let code = error.downcast_ref::<rusqlite::Error>();
    match code.and_then(rusqlite::Error::sqlite_error_code) {
        Some(ErrorCode::OperationInterrupted) => {
            error.context("reading it takes too long: it is damaged, or was made to do harm")
        }
        _ => error,
    }
}

/// One entry of `sqlite_schema`. Where its pages are is no part of what it says.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

impl Entry {
    fn shown(&self) -> String {
        let name: String = self.name.chars().take(LONGEST_NAME).collect();
        format!("the {} {name:?}", self.kind)
    }

    fn is_named_as(&self, other: &Self) -> bool {
        (&self.kind, &self.name) == (&other.kind, &other.name)
    }
}

fn entries(connection: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT ?1")?;
    let entries = statement.query_map([MOST_ENTRIES], |row| {
        Ok(Entry {
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

/// Refuses a database that does not consist of exactly what its version consists of.
pub(super) fn check(connection: &Connection) -> anyhow::Result<()> {
    let version = migrations::version(connection)?;
    let wanted = entries(&migrations::build(version)?)?;
    let found = entries(connection)?;
    if version > 0 && found == wanted {
        return Ok(());
    }
    let is_in = |entry: &Entry, others: &[Entry]| others.iter().any(|other| other.is_named_as(entry));
    let mut differences = Vec::new();
    for entry in &found {
        if !is_in(entry, &wanted) {
            differences.push(format!("{} is not one of Portico's", entry.shown()));
        } else if !wanted.contains(entry) {
            differences.push(format!("{} is defined differently", entry.shown()));
        }
    }
    for entry in wanted.iter().filter(|entry| !is_in(entry, &found)) {
        differences.push(format!("{} is missing", entry.shown()));
    }
    let more = match differences.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    differences.truncate(NAMED);
    bail!(
        "its tables are not those of version {version}, so another program changed it: give a file that `portico \
         backup` wrote ({}{more})",
        differences.join("; ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of what the first versions consist of.
    const RECORDED: [u32; 6] = [
        0xd2b4_02d6,
        0x493a_c24d,
        0xabad_f57e,
        0x7f86_9b3d,
        0xbb86_ce22,
        0xc9f3_7a76,
    ];

    /// Where this fails, backups from before would be refused: a migration that was released has changed, or
    /// another SQLite puts ALTER TABLE or an index of words into other letters. Then `check` has to
    /// take both.
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
        let sums: Vec<_> = (1..=RECORDED.len()).map(sum).collect();
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
