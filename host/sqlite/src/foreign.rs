//! Reads a database that another program made, and that may come from anyone.
//!
//! Invariants:
//! - Only a private copy of the file is opened: its log is written into it, and nothing else is changed.
//! - No code that came with the file runs. Its triggers and views are off, and the caller reads only tables
//!   that [`check_table`] has accepted: no virtual table, no view, no generated column.
//! - Reading has a time limit: a file can be made so that reading its schema never ends.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

use super::connection::{become_one_file, connect_foreign_alone};
use super::schema;

/// The most columns of a table that is accepted.
const MAX_COLUMNS: i64 = 200;

/// Opens a private copy of this many bytes. Nothing else may have it open.
pub fn open_copy(path: &Path, bytes: u64) -> rusqlite::Result<Connection> {
    let connection = connect_foreign_alone(path, |connection| schema::limit_for_content(connection, bytes))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    become_one_file(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// The names of the columns of this table, in order. `None` if there is no such table, or if code computes its rows.
pub fn check_table(connection: &Connection, table: &str) -> rusqlite::Result<Option<Vec<String>>> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let found: Option<Option<String>> = connection.query_row(sql, [table], |row| row.get(0)).optional()?;
    let is_plain = found.flatten().is_some_and(|sql| {
        let mut words = sql.split_ascii_whitespace();
        words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("create"))
            && words
                .next()
                .is_some_and(|word| word.eq_ignore_ascii_case("table"))
    });
    if !is_plain {
        return Ok(None);
    }
    let mut statement = connection.prepare("SELECT name, hidden FROM pragma_table_xinfo(?1) LIMIT ?2")?;
    let columns = statement.query_map((table, MAX_COLUMNS + 1), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    let columns: Vec<_> = columns.collect::<rusqlite::Result<_>>()?;
    let is_stored = columns.len() as i64 <= MAX_COLUMNS && columns.iter().all(|(_, hidden)| *hidden == 0);
    Ok(is_stored.then(|| columns.into_iter().map(|(name, _)| name).collect()))
}

/// Explains an error in reading, if it is that reading took too long.
pub fn explain(error: anyhow::Error) -> anyhow::Error {
    schema::explain_interruption(error)
}
