//! How a statement is run. Each is prepared once on a connection.

use portico_storage::driver::{AnswerSize, TextSize};
use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

/// Runs a statement; answers how many rows it changed.
pub(super) fn run(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(params)
}

/// Whether there is a row.
pub(super) fn exists(connection: &Connection, sql: &str, params: impl Params) -> Result<bool> {
    connection.prepare_cached(sql)?.exists(params)
}

/// The first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(params, read).optional()
}

/// All rows.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

/// Adds a record to an answer. Fails if the answer becomes too large.
pub(super) fn sized<T: TextSize>(size: &mut AnswerSize, record: T) -> Result<T> {
    let added = size.add(&record);
    added.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(record)
}
