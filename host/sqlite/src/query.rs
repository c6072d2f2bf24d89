//! How a statement is run. Each is prepared once on a connection.

use std::error::Error;
use std::fmt;

use portico_storage::driver::LARGEST_ANSWER;
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

/// The records of an answer have more text than the contract allows.
#[derive(Debug)]
pub(super) struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the records have more than {LARGEST_ANSWER} bytes of text"
        )
    }
}

impl Error for TooLarge {}

/// Counts the text of an answer.
#[derive(Default)]
pub(super) struct AnswerSize(usize);

impl AnswerSize {
    /// Adds a record. Fails if the answer becomes too large.
    pub fn add<T>(&mut self, record: T, texts: impl IntoIterator<Item = usize>) -> Result<T> {
        self.0 += texts.into_iter().sum::<usize>();
        if self.0 > LARGEST_ANSWER {
            return Err(rusqlite::Error::ToSqlConversionFailure(TooLarge.into()));
        }
        Ok(record)
    }
}
