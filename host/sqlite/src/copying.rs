//! The SQLite side of copying everything from one database to another.
//!
//! Invariants:
//! - A reader changes nothing.
//! - A writer works on a file of another name, which gets that of the database when it is complete and on the disk. If
//!   it is dropped before that, it removes that file; what a kill leaves, the next writer removes.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use async_trait::async_trait;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, params_from_iter};

use super::backup::{check, is_ours};
use super::connection::{become_one_file, connect, connect_alone};
use super::files::{create_empty, put_in_place, remove_with_companions, with_suffix};
use super::health::{self, explain, explain_any};
use super::migrations;
use portico_storage::copying::{Piece, Row, RowReader, RowWriter, Table, Value, describe};

/// Reads a database that no host uses.
pub struct DatabaseReader(Rows);

impl DatabaseReader {
    /// Opens the database in this file. Refuses one that is damaged, or of another version than this binary's.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let open = || {
            ensure!(std::fs::metadata(path)?.len() > 0, health::EMPTY);
            let path = std::path::absolute(path)?;
            let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
            is_ours(&connection)?;
            let version = migrations::version(&connection)?;
            ensure!(
                version == migrations::NEWEST,
                "its tables are of version {version}, and those of this portico of version {}: start `portico serve` \
                 on it once, which brings them up to date",
                migrations::NEWEST
            );
            connection.execute_batch("BEGIN").map_err(explain)?;
            check(&connection)?;
            Ok(connection)
        };
        let connection = open().with_context(|| format!("cannot read the database {}", path.display()))?;
        Ok(Self(Rows::of(connection)))
    }
}

#[async_trait]
impl RowReader for DatabaseReader {
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        self.0.count(table)
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        self.0.place = Some((table, None));
        Ok(())
    }

    async fn next(&mut self) -> anyhow::Result<Piece> {
        self.0.next()
    }
}

/// Writes a database where there is none.
pub struct DatabaseWriter {
    /// `None` once it is closed.
    rows: Option<Rows>,
    new: NewFile,
    path: PathBuf,
}

/// A file under a temporary name. Dropping it removes it.
struct NewFile(PathBuf);

impl Drop for NewFile {
    fn drop(&mut self) {
        // If this fails, the next writer removes what is left.
        let _ = remove_with_companions(&self.0);
    }
}

impl DatabaseWriter {
    /// Begins to write the database that is to be in this file. The caller makes sure that no host uses it.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(path)?;
        ensure!(
            !path.try_exists()? && !with_suffix(&path, "-wal").try_exists()?,
            "there is a database in {} already: choose another data directory, or move {} away",
            path.parent().unwrap_or(&path).display(),
            path.display()
        );
        let new = with_suffix(&path, ".copying");
        let open = || {
            create_empty(&new)?;
            let file = NewFile(new.clone());
            let mut connection = connect_alone(&new).map_err(explain)?;
            // An incomplete copy is worthless: it is made durable once it is complete.
            let pragmas = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF";
            connection.execute_batch(pragmas).map_err(explain)?;
            migrations::run(&mut connection).map_err(explain_any)?;
            connection.execute_batch("BEGIN IMMEDIATE").map_err(explain)?;
            Ok((file, connection))
        };
        let opened: anyhow::Result<_> = open();
        let (file, connection) = opened.with_context(|| format!("cannot write {}", new.display()))?;
        Ok(Self {
            rows: Some(Rows::of(connection)),
            new: file,
            path,
        })
    }

    fn rows(&mut self) -> anyhow::Result<&mut Rows> {
        self.rows.as_mut().context("the copy is closed")
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let connection = self.rows.take().context("the copy is closed")?.connection;
        connection.execute_batch("COMMIT").map_err(explain)?;
        ensure!(
            become_one_file(&connection).map_err(explain)?,
            "the copy does not become one file"
        );
        connection.close().map_err(|(_, error)| explain(error))?;
        put_in_place(&self.new.0, &self.path)
    }
}

#[async_trait]
impl RowReader for DatabaseWriter {
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        self.rows()?.count(table)
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        self.rows()?.place = Some((table, None));
        Ok(())
    }

    async fn next(&mut self) -> anyhow::Result<Piece> {
        self.rows()?.next()
    }
}

#[async_trait]
impl RowWriter for DatabaseWriter {
    async fn insert(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        let places: Vec<_> = (1..=table.columns.len())
            .map(|place| format!("?{place}"))
            .collect();
        let (columns, places) = (names(table.columns), places.join(", "));
        let sql = format!("INSERT INTO \"{}\" ({columns}) VALUES ({places})", table.name);
        let later = table.later_index();
        self.rows()?.execute(table, piece, &sql, |row| {
            let values = row.iter().enumerate();
            values
                .map(|(place, value)| match later {
                    Some(later) if later == place => Stored(&Value::Null),
                    _ => Stored(value),
                })
                .collect()
        })
    }

    async fn fill(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        let later = table.later_index().context("a column that is filled later")?;
        let (column, key) = (table.columns[later], names(table.key_columns()));
        let sql = format!("UPDATE \"{}\" SET \"{column}\" = ?1 WHERE {key} = ?2", table.name);
        self.rows()?.execute(table, piece, &sql, |row| {
            vec![Stored(&row[later]), Stored(&row[0])]
        })
    }

    async fn commit(mut self: Box<Self>) -> anyhow::Result<()> {
        let kept = self.finish();
        kept.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The rows in an open transaction.
struct Rows {
    connection: Connection,
    /// The table that is being read, and the last row that was read.
    place: Option<(&'static Table, Option<Row>)>,
}

impl Rows {
    fn of(connection: Connection) -> Self {
        Self {
            connection,
            place: None,
        }
    }

    fn count(&self, table: &Table) -> anyhow::Result<u64> {
        let sql = format!("SELECT count(*) FROM \"{}\"", table.name);
        Ok(migrations::number(&self.connection, &sql).map_err(explain)? as u64)
    }

    fn next(&mut self) -> anyhow::Result<Piece> {
        let (table, last) = self.place.take().context("no table is being read")?;
        let (columns, key) = (names(table.columns), names(table.key_columns()));
        let after = match &last {
            Some(_) => {
                let places: Vec<_> = (1..=table.key).map(|place| format!("?{place}")).collect();
                format!("WHERE ({key}) > ({})", places.join(", "))
            }
            None => String::new(),
        };
        let sql = format!("SELECT {columns} FROM \"{}\" {after} ORDER BY {key}", table.name);
        let mut statement = self.connection.prepare_cached(&sql).map_err(explain)?;
        let values = last
            .iter()
            .flat_map(|last| last.iter().take(table.key))
            .map(Stored);
        let mut rows = statement.query(params_from_iter(values)).map_err(explain)?;
        let mut piece = Piece::default();
        while let Some(found) = rows.next().map_err(explain)? {
            let mut row = Row::new();
            for (place, column) in table.columns.iter().enumerate() {
                let value = read(found.get_ref(place).map_err(explain)?);
                let value = value.with_context(|| format!("{}: its {column}", describe(table, &row)))?;
                row.push(value);
            }
            if !piece.push(row) {
                break;
            }
        }
        self.place = Some((table, piece.rows.last().cloned().or(last)));
        Ok(piece)
    }

    /// Runs a statement for each of these rows.
    fn execute<'a>(
        &self,
        table: &Table,
        piece: &'a Piece,
        sql: &str,
        values: impl Fn(&'a Row) -> Vec<Stored<'a>>,
    ) -> anyhow::Result<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(explain)?;
        for row in &piece.rows {
            let done = statement.execute(params_from_iter(values(row)));
            done.map_err(explain)
                .with_context(|| format!("cannot write {}", describe(table, row)))?;
        }
        Ok(())
    }
}

/// A value, as SQLite stores it.
struct Stored<'a>(&'a Value);

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

fn read(value: ValueRef<'_>) -> anyhow::Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| anyhow!("is no UTF-8"))?;
            Value::Text(text.to_owned())
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
        ValueRef::Real(_) => bail!("is a fraction"),
    })
}

/// The names of columns, for a statement.
fn names(columns: &[&str]) -> String {
    let quoted: Vec<_> = columns.iter().map(|column| format!("\"{column}\"")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use portico_storage::copying::TABLES;

    use super::*;

    #[test]
    fn every_column_is_copied() {
        let schema = migrations::build(migrations::NEWEST).unwrap();
        let sql = "
            SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_xinfo(t.name) AS c
            WHERE t.type = 'table'";
        let mut columns = schema.prepare(sql).unwrap();
        let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let columns: Vec<(String, String)> = columns.unwrap().map(Result::unwrap).collect();
        assert!(columns.len() > 80, "{} columns", columns.len());
        let is_copied = |table: &str, column: &str| {
            let mut tables = TABLES.iter();
            tables.any(|copied| copied.name == table && copied.columns.contains(&column))
        };
        let forgotten: Vec<_> = columns
            .iter()
            .filter(|(table, column)| !is_copied(table, column))
            .collect();
        assert!(
            forgotten.is_empty(),
            "not copied (host/storage/src/copying/tables.rs): {forgotten:?}"
        );
    }
}
