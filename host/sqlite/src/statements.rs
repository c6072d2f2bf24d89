//! How a statement of `portico-sql` runs on a connection. Each statement is prepared once on each connection.

use std::sync::LazyLock;

use portico_sql::{Dialect, Insert, Row, Sql, Texts, Value};
use portico_storage::{Error, Result};
use rusqlite::types::{FromSql, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Params};

/// The statements as SQLite takes them.
static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts::new(Dialect::Sqlite, ""));

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    /// The contents of a row are invalid, or the result is too large.
    Storage(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Runs a statement of this driver's own. Returns how many rows it changed.
pub(super) fn run(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(params)
}

pub(super) fn prepare<'a>(
    connection: &'a Connection,
    sql: &'static Sql,
) -> rusqlite::Result<CachedStatement<'a>> {
    connection.prepare_cached(&TEXTS.of(sql, false))
}

pub(super) fn prepare_insert<'a>(
    connection: &'a Connection,
    into: &'static Insert,
) -> rusqlite::Result<CachedStatement<'a>> {
    connection.prepare_cached(&TEXTS.of_insert(into))
}

/// Adds the rows of a statement to a value.
pub(super) fn fold<A>(
    connection: &Connection,
    sql: &'static Sql,
    values: &[Value],
    mut into: A,
    mut add: impl FnMut(&mut A, &dyn Row) -> Result<()>,
) -> std::result::Result<A, Failure> {
    let mut statement = prepare(connection, sql)?;
    bind(&mut statement, values)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        add(&mut into, &SqliteRow(row)).map_err(Failure::Storage)?;
    }
    Ok(into)
}

/// Runs a statement that writes. Returns how many rows it changed.
pub(super) fn execute(connection: &Connection, sql: &'static Sql, values: &[Value]) -> rusqlite::Result<u64> {
    let mut statement = prepare(connection, sql)?;
    bind(&mut statement, values)?;
    Ok(statement.raw_execute()? as u64)
}

pub(super) fn insert(
    connection: &Connection,
    into: &'static Insert,
    rows: &[Vec<Value>],
) -> rusqlite::Result<()> {
    let mut statement = prepare_insert(connection, into)?;
    rows.iter().try_for_each(|row| {
        bind(&mut statement, row)?;
        statement.raw_execute().map(drop)
    })
}

fn bind(statement: &mut CachedStatement<'_>, values: &[Value]) -> rusqlite::Result<()> {
    debug_assert_eq!(statement.parameter_count(), values.len());
    let mut numbered = (1..).zip(values);
    numbered.try_for_each(|(number, value)| statement.raw_bind_parameter(number, Parameter(value)))
}

struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = match self.0 {
            Value::Text(text) => text
                .as_ref()
                .map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes())),
            Value::Contained(text) => ValueRef::Text(text.as_bytes()),
            Value::Number(number) => number.map_or(ValueRef::Null, ValueRef::Integer),
            Value::Bool(truth) => truth.map_or(ValueRef::Null, |truth| ValueRef::Integer(truth.into())),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Texts(texts) => {
                let list = serde_json::to_string(texts);
                let list = list.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                return Ok(ToSqlOutput::from(list));
            }
        };
        Ok(ToSqlOutput::Borrowed(borrowed))
    }
}

struct SqliteRow<'a>(&'a rusqlite::Row<'a>);

impl SqliteRow<'_> {
    fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        let value = self.0.get(column);
        value.map_err(|error| Error::Unavailable(format!("a stored value is invalid: {error}")))
    }
}

impl Row for SqliteRow<'_> {
    fn get_text(&self, column: usize) -> Result<Option<String>> {
        self.get(column)
    }

    fn get_number(&self, column: usize) -> Result<Option<i64>> {
        self.get(column)
    }

    fn get_bool(&self, column: usize) -> Result<Option<bool>> {
        self.get(column)
    }

    fn get_bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        self.get(column)
    }
}
