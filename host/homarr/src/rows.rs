//! Reads the rows of one table of Homarr.
//!
//! Invariants:
//! - Only tables and columns that are expected are read, and no index: nothing in the file computes a value.
//! - A value of another type than Homarr writes ends the import, because its meaning would be a guess.
//! - A table is read only after it is known to have few rows and little text.

use std::cell::RefCell;
use std::collections::HashSet;

use anyhow::{Context, bail, ensure};
use portico_sqlite::foreign;
use rusqlite::{Connection, types::ValueRef};
use serde_json::{Map, Value};

/// The most rows of a table.
const MOST_ROWS: i64 = 200_000;
/// The most bytes of text and numbers that a table has in the columns that are read.
const MOST_TEXT: f64 = (256 << 20) as f64;

/// What a column holds.
#[derive(Clone, Copy)]
pub enum Holds {
    Text,
    Number,
    YesOrNo,
    /// JSON as a text.
    Json,
}

/// A column that older schemas lack, its name in Homarr's interface, and what it holds.
pub type Optional = (&'static str, &'static str, Holds);

/// One row, while it is read.
pub struct Row<'a, 'rows> {
    row: &'a rusqlite::Row<'rows>,
    table: &'a str,
    columns: &'a [&'static str],
    number: usize,
}

/// Reads tables, and remembers which of their columns it has read.
pub struct Reader<'a> {
    pub connection: &'a Connection,
    read: RefCell<HashSet<(&'static str, &'static str)>>,
}

impl<'a> Reader<'a> {
    pub fn new(connection: &'a Connection) -> Self {
        Self {
            connection,
            read: RefCell::default(),
        }
    }

    /// Whether this column was read.
    pub fn has_read(&self, table: &str, column: &str) -> bool {
        self.read.borrow().iter().any(|read| *read == (table, column))
    }

    /// Reads these columns of all rows.
    pub fn read<T>(
        &self,
        table: &'static str,
        columns: &[&'static str],
        record: impl FnMut(&Row<'_, '_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        self.read_some(table, columns, columns.len(), quoted, record)
    }

    /// Reads these columns of all rows, where a value of the last one that has more bytes than `most` is null. The caller
    /// bounds how many values of the last one it keeps.
    pub fn read_small<T>(
        &self,
        table: &'static str,
        columns: &[&'static str],
        most: usize,
        record: impl FnMut(&Row<'_, '_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let last = columns.last().copied().unwrap_or_default();
        let expression = |column: &str| {
            let name = quoted(column);
            if column == last {
                format!("CASE WHEN octet_length({name}) <= {most} THEN {name} END")
            } else {
                name
            }
        };
        self.read_some(table, columns, columns.len() - 1, expression, record)
    }

    /// `counted`: how many of the columns count when a table is refused as too large.
    fn read_some<T>(
        &self,
        table: &'static str,
        columns: &[&'static str],
        counted: usize,
        expression: impl Fn(&str) -> String,
        mut record: impl FnMut(&Row<'_, '_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let present = self.columns_of(table)?;
        for column in columns {
            ensure!(
                present.iter().any(|name| name == column),
                "the table {table} has no column {column}"
            );
            self.read.borrow_mut().insert((table, column));
        }
        let expressions: Vec<String> = columns.iter().map(|column| expression(column)).collect();
        check_size(self.connection, table, &expressions[..counted])?;
        let sql = format!(
            "SELECT {} FROM main.{} NOT INDEXED",
            expressions.join(", "),
            quoted(table)
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut records = Vec::new();
        while let Some(row) = rows
            .next()
            .with_context(|| format!("the table {table} cannot be read"))?
        {
            let number = records.len() + 1;
            records.push(record(&Row {
                row,
                table,
                columns,
                number,
            })?);
        }
        Ok(records)
    }

    /// Adds a column that older schemas lack. Returns where it is.
    pub fn add_one(
        &self,
        table: &str,
        columns: &mut Vec<&'static str>,
        column: &'static str,
    ) -> anyhow::Result<Option<usize>> {
        let is_there = self.columns_of(table)?.iter().any(|name| name == column);
        if is_there {
            columns.push(column);
        }
        Ok(is_there.then(|| columns.len() - 1))
    }

    /// Adds those of the optional columns that the table has. Returns where they are, their names and what they hold.
    pub fn add_present(
        &self,
        table: &str,
        columns: &mut Vec<&'static str>,
        optional: &[Optional],
    ) -> anyhow::Result<Vec<(usize, &'static str, Holds)>> {
        let present = self.columns_of(table)?;
        let mut added = Vec::new();
        for (column, name, holds) in optional {
            if present.iter().any(|present| present == column) {
                added.push((columns.len(), *name, *holds));
                columns.push(column);
            }
        }
        Ok(added)
    }

    /// The columns of a table that must be there.
    pub fn columns_of(&self, table: &str) -> anyhow::Result<Vec<String>> {
        let present = foreign::check_table(self.connection, table)?;
        present.with_context(|| {
            format!(
                "the table {table} is missing, or is none that Homarr makes (virtual, a view, or computed)"
            )
        })
    }
}

/// How many rows a table has.
pub fn count(connection: &Connection, table: &str) -> anyhow::Result<usize> {
    let sql = format!("SELECT count(*) FROM main.{} NOT INDEXED", quoted(table));
    let count: i64 = connection
        .query_row(&sql, [], |row| row.get(0))
        .with_context(|| format!("the table {table:?} cannot be read"))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// The name of a table or a column in a statement.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Refuses a table that is too large. The lengths of values precede them, so this reads no text.
fn check_size(connection: &Connection, table: &str, expressions: &[String]) -> anyhow::Result<()> {
    let lengths: Vec<String> = expressions
        .iter()
        .map(|expression| format!("ifnull(octet_length({expression}), 0)"))
        .collect();
    let sql = format!(
        "SELECT count(*), total({}) FROM main.{} NOT INDEXED",
        lengths.join(" + "),
        quoted(table)
    );
    let (rows, bytes) = connection
        .query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?)))
        .with_context(|| format!("the table {table} cannot be read"))?;
    ensure!(
        rows <= MOST_ROWS && bytes <= MOST_TEXT,
        "the table {table} is too large: it has {rows} rows and {bytes} bytes, and at most {MOST_ROWS} rows and \
         {MOST_TEXT} bytes are read"
    );
    Ok(())
}

impl Row<'_, '_> {
    pub fn text(&self, column: usize) -> anyhow::Result<String> {
        let text = self.optional_text(column)?;
        text.with_context(|| format!("{} is null", self.place(column)))
    }

    pub fn optional_text(&self, column: usize) -> anyhow::Result<Option<String>> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text);
                let text = text.with_context(|| format!("{} is no UTF-8", self.place(column)))?;
                Ok(Some(text.to_owned()))
            }
            value => bail!("{} is {} and no text", self.place(column), value.data_type()),
        }
    }

    /// A whole number. `None` if it is null, or a number with a fraction, which Homarr's first releases stored.
    pub fn number(&self, column: usize) -> anyhow::Result<Option<i64>> {
        match self.row.get_ref(column)? {
            ValueRef::Null | ValueRef::Real(_) => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number)),
            value => bail!("{} is {} and no number", self.place(column), value.data_type()),
        }
    }

    pub fn flag(&self, column: usize) -> anyhow::Result<bool> {
        Ok(self.number(column)? == Some(1))
    }

    pub fn optional_bytes(&self, column: usize) -> anyhow::Result<Option<Vec<u8>>> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes.to_owned())),
            value => bail!("{} is {} and no blob", self.place(column), value.data_type()),
        }
    }

    /// A number, also one with a fraction.
    fn any_number(&self, column: usize) -> anyhow::Result<Value> {
        match self.row.get_ref(column)? {
            ValueRef::Real(number) => Ok(number.into()),
            _ => Ok(self.number(column)?.into()),
        }
    }

    fn place(&self, column: usize) -> String {
        format!("{}.{} in row {}", self.table, self.columns[column], self.number)
    }
}

/// The values of optional columns, by their names. What is not the JSON that it should be stays a text.
pub fn values(
    row: &Row<'_, '_>,
    optional: &[(usize, &'static str, Holds)],
) -> anyhow::Result<Map<String, Value>> {
    let mut values = Map::new();
    for (column, name, holds) in optional {
        let value = match holds {
            Holds::Text => row.optional_text(*column)?.into(),
            Holds::Number => row.any_number(*column)?,
            Holds::YesOrNo => row.flag(*column)?.into(),
            Holds::Json => match row.optional_text(*column)? {
                Some(text) => serde_json::from_str(&text).unwrap_or_else(|_| text.into()),
                None => Value::Null,
            },
        };
        values.insert((*name).to_owned(), value);
    }
    Ok(values)
}
