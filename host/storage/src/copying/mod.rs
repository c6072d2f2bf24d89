//! Copies everything from one database to another, whatever their drivers.
//!
//! Invariants:
//! - A [`RowReader`] sees one state of its database from beginning to end.
//! - Once `keep` has returned, everything that a [`RowWriter`] was given is in its database; before that, nothing is.
//! - [`copy`] returns only if the writer's database has the same rows as the reader's, value by value.
//! - Only a few rows at a time are in memory.

mod tables;

use std::future::poll_fn;
use std::task::Poll;

use anyhow::{Context, bail, ensure};
use async_trait::async_trait;

pub use tables::{TABLES, Table};

/// A value as all databases have it; a flag is 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The values of a table's columns, in their order.
pub type Row = Vec<Value>;

/// A piece of a table ends with the row that reaches one of these.
const PIECE_ROWS: usize = 1000;
const PIECE_BYTES: usize = 4 << 20;

/// Rows that are read or written together.
#[derive(Debug, Default)]
pub struct Piece {
    /// The rows.
    pub rows: Vec<Row>,
    bytes: usize,
}

impl Piece {
    /// Adds a row. Returns whether there is room for another one.
    pub fn push(&mut self, row: Row) -> bool {
        self.bytes += row.iter().map(Value::bytes).sum::<usize>();
        self.rows.push(row);
        self.rows.len() < PIECE_ROWS && self.bytes < PIECE_BYTES
    }
}

impl Value {
    fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) => 0,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// A row in words: its table and its key.
pub fn describe(table: &Table, row: &[Value]) -> String {
    let mut text = table.name.to_owned();
    for value in row.iter().take(table.key) {
        let value = match value {
            Value::Null => "NULL".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Text(key) => format!("{key:?}"),
            Value::Bytes(bytes) => format!("({} bytes)", bytes.len()),
        };
        text = format!("{text} {value}");
    }
    text
}

/// Reads the tables of a database in one state.
#[async_trait]
pub trait RowReader: Send {
    /// How many rows a table has.
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64>;

    /// Begins to read a table, in the order of the bytes of its key.
    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()>;

    /// The next rows of this table; `None` at its end.
    async fn next(&mut self) -> anyhow::Result<Piece>;
}

/// Writes the tables of a database without data. It can also read what it has written.
#[async_trait]
pub trait RowWriter: RowReader {
    /// Adds rows of a table. A column that is filled later is not written.
    async fn insert(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()>;

    /// Fills the column of these rows that was left out.
    async fn fill(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()>;

    /// Commits all rows, durably. If this fails, no row is stored, or the error says that the outcome is not known.
    async fn commit(self: Box<Self>) -> anyhow::Result<()>;
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// This many rows are written, of this many.
    Copying(u64, u64),
    /// This many rows are compared, of this many.
    Comparing(u64, u64),
}

/// How many rows of each table were copied.
pub type Counts = Vec<(&'static Table, u64)>;

/// Copies everything and compares it. Afterwards the caller calls `keep`.
pub async fn copy(
    from: &mut dyn RowReader,
    to: &mut dyn RowWriter,
    shows: &mut (dyn FnMut(Step) + Send),
) -> anyhow::Result<Counts> {
    let mut counts = Counts::new();
    for table in &TABLES {
        counts.push((table, from.count(table).await?));
    }
    let all = counts.iter().map(|(_, count)| count).sum();
    let mut done = 0;
    for table in &TABLES {
        from.start(table).await?;
        while let Some(piece) = next(from).await? {
            to.insert(table, &piece).await?;
            done += piece.rows.len() as u64;
            shows(Step::Copying(done, all));
        }
    }
    for table in &TABLES {
        let Some(later) = table.later_index() else {
            continue;
        };
        from.start(table).await?;
        while let Some(mut piece) = next(from).await? {
            piece.rows.retain(|row| row[later] != Value::Null);
            to.fill(table, &piece).await?;
        }
    }
    let mut compared = 0;
    for (table, count) in &counts {
        let written = to.count(table).await?;
        ensure!(
            written == *count,
            "the copy has {written} rows of {} and not {count}",
            table.name
        );
        let rows = compare(table, from, to, &mut |rows| {
            shows(Step::Comparing(compared + rows, all));
        })
        .await?;
        ensure!(
            rows == *count,
            "{rows} rows of {} could be compared and not {count}",
            table.name
        );
        compared += rows;
    }
    Ok(counts)
}

/// The next rows; `None` at the end of the table. Yields to other tasks, because a driver may never wait.
async fn next(reader: &mut (impl RowReader + ?Sized)) -> anyhow::Result<Option<Piece>> {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    let piece = reader.next().await?;
    Ok((!piece.rows.is_empty()).then_some(piece))
}

/// Compares a table row by row. Returns how many rows there are.
async fn compare(
    table: &'static Table,
    from: &mut dyn RowReader,
    to: &mut dyn RowWriter,
    shows: &mut (dyn FnMut(u64) + Send),
) -> anyhow::Result<u64> {
    from.start(table).await?;
    to.start(table).await?;
    let (mut count, mut found) = (0, Vec::new().into_iter());
    while let Some(piece) = next(from).await? {
        for row in piece.rows {
            let copied = match found.next() {
                Some(copied) => copied,
                None => {
                    let piece = next(to).await?;
                    found = piece.map(|piece| piece.rows).unwrap_or_default().into_iter();
                    let first = found.next();
                    first.with_context(|| format!("{} is not in the copy", describe(table, &row)))?
                }
            };
            same(table, &row, &copied)?;
            count += 1;
        }
        shows(count);
    }
    ensure!(
        found.next().is_none() && next(to).await?.is_none(),
        "the copy has more rows of {}",
        table.name
    );
    Ok(count)
}

/// Fails if two rows differ, and says where. It shows no values, because one may be a secret.
fn same(table: &Table, row: &[Value], copied: &[Value]) -> anyhow::Result<()> {
    if row == copied {
        return Ok(());
    }
    let what = describe(table, row);
    if row[..table.key] != copied[..table.key] {
        bail!("the copy has {} where {what} is", describe(table, copied));
    }
    let columns = table.columns.iter().zip(row.iter().zip(copied));
    let differ = columns.filter(|(_, (value, copied))| value != copied);
    let differ: Vec<_> = differ.map(|(column, _)| *column).collect();
    bail!("{what} differs in the copy: {}", differ.join(", "))
}

#[cfg(test)]
mod tests;
