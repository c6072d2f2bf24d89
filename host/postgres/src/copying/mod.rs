//! The PostgreSQL side of copying everything from one database to another.
//!
//! Invariants:
//! - A reader changes nothing, and sees one state: one transaction of REPEATABLE READ.
//! - A writer writes in one transaction, in which it also creates the tables if there are none. It holds the write lock
//!   alone, so no host writes meanwhile. If it is dropped, or its connection is cut, nothing stays.
//! - Errors name the database without the password, and records by their keys.

mod cells;

use std::pin::{Pin, pin};

use anyhow::{Context, anyhow, bail, ensure};
use async_trait::async_trait;
use futures_util::stream::{Fuse, StreamExt, TryStreamExt};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, RowStream};

use super::connection::Connection;
use super::limits::Limits;
use super::locks::{BEGIN_READING, WriteLock};
use super::target::Target;
use super::versions::{NEWEST, Version};
use super::{health, measure, migrations, trigrams};
use cells::Cell;
use portico_model::time::Clock as _;
use portico_sql::Lock;
use portico_storage::copying::{Piece, Row, RowReader, RowWriter, TABLES, Table, Value, describe};

/// The tables that are not copied, because their rows are made anew.
const DERIVED: [&str; 2] = [
    "portico_version",
    // Counts of the last minutes.
    "shared_record",
];

/// Copying may take any time, but a copy whose program is gone must end at some point.
const PATIENCE: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'";

/// Whether a column of the schema is copied or generated.
pub fn covers(table: &str, column: &str) -> bool {
    let is_copied = |copied: &Table| copied.name == table && copied.columns.contains(&column);
    TABLES.iter().any(is_copied) || DERIVED.contains(&table)
}

/// Reads a database, even while hosts work on it.
pub struct DatabaseReader {
    rows: Rows,
    shown: String,
    lead: i64,
}

impl DatabaseReader {
    /// Connects to the database of this URL. Refuses one of another version than this binary's.
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        let target = Target::parse(url)?;
        let open = async {
            let connection = connect(&target).await?;
            migrations::check_server(connection.client()).await?;
            measure(&connection, &target.clock).await?;
            connection
                .client()
                .batch_execute(&format!("{BEGIN_READING}; {PATIENCE}"))
                .await?;
            let found = migrations::version(connection.client()).await?;
            ensure!(found.version > 0, "it has no tables of Portico");
            ensure!(
                found.version >= NEWEST,
                "its tables are of version {found}, and those of this portico of version {NEWEST}: start `portico serve` \
                 on it once, which brings them up to date"
            );
            check_not_newer(found)?;
            Ok(connection)
        };
        let connection: anyhow::Result<_> = open.await;
        let connection =
            connection.with_context(|| format!("cannot read the database {}", target.shown()))?;
        Ok(Self {
            rows: Rows::of(connection),
            shown: target.shown().to_owned(),
            lead: target.clock.lead(),
        })
    }

    /// By how many milliseconds the clock of this machine is ahead of the server's.
    pub fn lead(&self) -> i64 {
        self.lead
    }

    /// The database, without the password.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

#[async_trait]
impl RowReader for DatabaseReader {
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        self.rows.count(table).await
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        self.rows.start(table).await
    }

    async fn next(&mut self) -> anyhow::Result<Piece> {
        self.rows.next().await
    }
}

/// Writes a database that has no data.
pub struct DatabaseWriter {
    rows: Rows,
    shown: String,
}

impl DatabaseWriter {
    /// Connects to the database of this URL and locks it against other writers. Refuses one that has data.
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        let target = Target::parse(url)?;
        let connection = Self::begin(&target).await;
        let connection =
            connection.with_context(|| format!("cannot write the database {}", target.shown()))?;
        Ok(Self {
            rows: Rows::of(connection),
            shown: target.shown().to_owned(),
        })
    }

    /// The database, without the password.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    async fn begin(target: &Target) -> anyhow::Result<Connection> {
        let connection = connect(target).await?;
        let client = connection.client();
        migrations::check_server(client).await?;
        client
            .batch_execute(&format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {PATIENCE}"
            ))
            .await?;
        lock(client)
            .await
            .map_err(|error| match error.downcast::<tokio_postgres::Error>() {
                Ok(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    anyhow!("another portico writes to it: stop it first")
                }
                Ok(error) => anyhow!(explain(&error)),
                Err(error) => error,
            })?;
        for table in &TABLES {
            let name = table.name;
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {name})");
            let has_rows: bool = client.query_one(&sql, &[]).await?.try_get(0)?;
            ensure!(
                !has_rows,
                "it has data already (in the table {name}): give a database without any, such as a new one (CREATE \
                 DATABASE)"
            );
        }
        Ok(connection)
    }

    fn client(&self) -> &Client {
        self.rows.connection.client()
    }

    /// Writes rows into a table, with COPY.
    async fn copy(&self, table: &'static Table, rows: &[Vec<Cell<'_>>]) -> Result<(), tokio_postgres::Error> {
        let (columns, types) = self.written_columns(table).await?;
        let sql = format!(
            "COPY {} ({}) FROM STDIN (FORMAT binary)",
            table.name,
            columns.join(", ")
        );
        let statement = self.rows.connection.prepared(&sql, &[]).await?;
        let sink = self.client().copy_in(&statement).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows {
            let cells: Vec<_> = row.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect();
            writer.as_mut().write(&cells).await?;
        }
        writer.finish().await.map(drop)
    }

    /// The columns that are written, and their types.
    async fn written_columns(
        &self,
        table: &'static Table,
    ) -> Result<(Vec<String>, Vec<Type>), tokio_postgres::Error> {
        let columns = quoted(table.columns);
        let sql = format!("SELECT {} FROM {} LIMIT 0", columns.join(", "), table.name);
        let statement = self.rows.connection.prepared(&sql, &[]).await?;
        let types = statement.columns().iter().map(|column| column.type_().clone());
        Ok((columns, types.collect()))
    }

    /// The numbers of the audit log continue after those that were copied.
    async fn continue_numbers(&self) -> Result<(), tokio_postgres::Error> {
        let sql = "
            SELECT setval(pg_get_serial_sequence('audit', 'number')::regclass, max(number)) FROM audit
            HAVING max(number) IS NOT NULL";
        self.client().query(sql, &[]).await.map(drop)
    }
}

#[async_trait]
impl RowReader for DatabaseWriter {
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        self.rows.count(table).await
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        self.rows.start(table).await
    }

    async fn next(&mut self) -> anyhow::Result<Piece> {
        self.rows.next().await
    }
}

#[async_trait]
impl RowWriter for DatabaseWriter {
    async fn insert(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        let columns = self.written_columns(table).await;
        let (_, types) = columns.map_err(|error| anyhow!(explain(&error)))?;
        let rows: Vec<_> = piece
            .rows
            .iter()
            .map(|row| cells_of(table, row, &types))
            .collect::<Result<_, _>>()?;
        let copied = self.copy(table, &rows).await;
        copied.map_err(|error| match refused_row(table, piece, &error) {
            Some(row) => anyhow!("cannot write {}: {}", describe(table, row), explain(&error)),
            None => anyhow!("cannot write rows of {}: {}", table.name, explain(&error)),
        })
    }

    async fn fill(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        let later = table.later_index().context("a column that is filled later")?;
        let (name, key, column) = (table.name, table.columns[0], table.columns[later]);
        let sql = format!(
            "UPDATE {name} SET \"{column}\" = filled.value
            FROM unnest($1::text[], $2::text[]) AS filled (key, value) WHERE {name}.\"{key}\" = filled.key"
        );
        let texts = |index: usize| -> Vec<Option<&str>> {
            let texts = piece.rows.iter().map(|row| match &row[index] {
                Value::Text(text) => Some(&text[..]),
                _ => None,
            });
            texts.collect()
        };
        let filled = self.client().execute(&sql, &[&texts(0), &texts(later)]).await;
        filled.map(drop).map_err(|error| {
            anyhow!(
                "cannot write {column} of rows of {}: {}",
                table.name,
                explain(&error)
            )
        })
    }

    async fn commit(self: Box<Self>) -> anyhow::Result<()> {
        let shown = &self.shown;
        let numbered = self.continue_numbers().await;
        numbered.map_err(|error| anyhow!("cannot number the audit log of {shown}: {}", explain(&error)))?;
        if let Err(error) = self.client().batch_execute("COMMIT").await {
            let what = explain(&error);
            if health::is_lost(&error) {
                bail!(
                    "it is not known whether the copy was kept: look whether {shown} has data. If it has, it is all \
                     of it ({what})"
                );
            }
            bail!("{shown} does not keep the copy: {what}");
        }
        // A host does both by itself, and later.
        trigrams::ensure(self.client(), shown).await;
        let _ = self.client().batch_execute("ANALYZE").await;
        Ok(())
    }
}

/// The rows that a transaction sees.
struct Rows {
    connection: Connection,
    /// The rows of the table that is being read. It ends once, and is asked again.
    open: Option<Pin<Box<Fuse<RowStream>>>>,
}

impl Rows {
    fn of(connection: Connection) -> Self {
        Self {
            connection,
            open: None,
        }
    }

    async fn count(&self, table: &'static Table) -> anyhow::Result<u64> {
        let sql = format!("SELECT count(*) FROM {}", table.name);
        let row = self.connection.client().query_one(&sql, &[]).await;
        let row = row.map_err(|error| cannot_read(table, &error))?;
        Ok(row.try_get::<_, i64>(0)?.unsigned_abs())
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        let sql = format!(
            "SELECT {} FROM {} ORDER BY {}",
            quoted(table.columns).join(", "),
            table.name,
            quoted(table.key_columns()).join(", ")
        );
        let statement = self.connection.prepared(&sql, &[]).await;
        let statement = statement.map_err(|error| cannot_read(table, &error))?;
        let parameters: [&(dyn ToSql + Sync); 0] = [];
        let rows = self.connection.client().query_raw(&statement, parameters).await;
        let rows = rows.map_err(|error| cannot_read(table, &error))?;
        self.open = Some(Box::pin(rows.fuse()));
        Ok(())
    }

    /// The server sends on only as rows are taken.
    async fn next(&mut self) -> anyhow::Result<Piece> {
        let rows = self.open.as_mut().context("no table is being read")?;
        let mut piece = Piece::default();
        while let Some(row) = rows.try_next().await.map_err(|error| anyhow!(explain(&error)))? {
            if !piece.push(cells::read(&row)?) {
                break;
            }
        }
        Ok(piece)
    }
}

async fn connect(target: &Target) -> anyhow::Result<Connection> {
    let connection = Connection::open_unchecked(target).await;
    connection.map_err(|error| anyhow!(health::describe(&error)))
}

/// Makes the tables if there are none, and takes the lock.
async fn lock(client: &Client) -> anyhow::Result<()> {
    migrations::migrate(client).await?;
    check_not_newer(migrations::version(client).await?)?;
    let lock = WriteLock {
        installation: migrations::installation(client).await?,
        limits: Limits::default(),
    };
    client.batch_execute(&lock.take(Lock::Alone)).await?;
    Ok(())
}

/// A newer version may have tables and columns that this binary would leave out.
fn check_not_newer(found: Version) -> anyhow::Result<()> {
    ensure!(
        found.version <= NEWEST,
        "its tables are of version {found}, and this portico knows versions up to {NEWEST}: copy with the newer portico"
    );
    Ok(())
}

/// The values of a row for the columns that are written.
fn cells_of<'a>(table: &Table, row: &'a Row, types: &[Type]) -> anyhow::Result<Vec<Cell<'a>>> {
    let of = |index: usize, cell: anyhow::Result<Cell<'a>>| {
        cell.with_context(|| {
            format!(
                "cannot write {}: its {}",
                describe(table, row),
                table.columns[index]
            )
        })
    };
    let later = table.later_index();
    let mut cells = Vec::with_capacity(types.len());
    for (index, value) in row.iter().enumerate() {
        let value = if later == Some(index) { &Value::Null } else { value };
        cells.push(of(index, Cell::of(value, &types[index]))?);
    }
    Ok(cells)
}

/// The row that PostgreSQL refused. It says at which line of the COPY that was.
fn refused_row<'a>(table: &Table, piece: &'a Piece, error: &tokio_postgres::Error) -> Option<&'a Row> {
    let context = error.as_db_error().and_then(DbError::where_)?;
    let (_, line) = context.split_once(&format!("COPY {}, line ", table.name))?;
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let line: usize = line[..digits].parse().ok()?;
    piece.rows.get(line.checked_sub(1)?)
}

fn cannot_read(table: &Table, error: &tokio_postgres::Error) -> anyhow::Error {
    anyhow!("cannot read the table {}: {}", table.name, explain(error))
}

/// What PostgreSQL says, without values of columns, because one may be a secret. For a reference, it says to what it
/// refers.
fn explain(error: &tokio_postgres::Error) -> String {
    let Some(refusal) = error.as_db_error() else {
        return error.to_string();
    };
    let detail = refusal
        .detail()
        .filter(|_| *refusal.code() == SqlState::FOREIGN_KEY_VIOLATION);
    match detail {
        Some(detail) => format!("{}: {detail}", refusal.message()),
        None => format!("{} ({})", refusal.message(), refusal.code().code()),
    }
}

fn quoted(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| format!("\"{column}\"")).collect()
}
