//! The two databases, as a dashboard's drivers reach them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use rusqlite::ffi;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};

use crate::bindings::database::{Cell, Dialect, Error, Row, Value};
use crate::host::{Connection, Database};

/// What one result may hold.
const MOST_BYTES: usize = 100_000_000;

/// Adds up what rows hold, while they are read.
#[derive(Default)]
struct Size(usize);

impl Size {
    fn add(&mut self, cell: &Cell) -> Result<(), Error> {
        self.0 += match cell {
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        if self.0 > MOST_BYTES {
            Err(Error::TooLarge)
        } else {
            Ok(())
        }
    }
}

/// A file of SQLite, and its connections.
pub struct Sqlite {
    path: PathBuf,
    idle: Arc<Mutex<Vec<rusqlite::Connection>>>,
    foreign_keys: bool,
    _folder: TempDir,
}

impl Sqlite {
    pub fn new() -> Self {
        Self::with_foreign_keys(true)
    }

    /// As the driver opens its connections.
    pub fn with_foreign_keys(foreign_keys: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let sqlite = Self {
            path: folder.path().join("dashboard.db"),
            idle: Arc::default(),
            foreign_keys,
            _folder: folder,
        };
        sqlite.run("PRAGMA journal_mode = WAL");
        sqlite
    }

    fn open(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(&self.path).expect("a database");
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        connection
            .pragma_update(None, "foreign_keys", self.foreign_keys)
            .unwrap();
        connection.pragma_update(None, "synchronous", "off").unwrap();
        connection
    }

    /// Statements of the dashboard's own.
    pub fn run(&self, sql: &str) {
        self.open().execute_batch(sql).expect("statements");
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn begin(&self, opening: &[String]) -> Result<Box<dyn Connection>, Error> {
        let idle = self.idle.lock().unwrap().pop();
        let connection = SqliteConnection {
            connection: Some(idle.unwrap_or_else(|| self.open())),
            idle: self.idle.clone(),
        };
        for statement in opening {
            connection
                .connection()
                .execute_batch(statement)
                .map_err(of_sqlite)?;
        }
        Ok(Box::new(connection))
    }
}

struct SqliteConnection {
    connection: Option<rusqlite::Connection>,
    idle: Arc<Mutex<Vec<rusqlite::Connection>>>,
}

impl SqliteConnection {
    fn connection(&self) -> &rusqlite::Connection {
        self.connection.as_ref().expect("it is there until the end")
    }

    fn prepare(&self, sql: &str, values: &[Value]) -> rusqlite::Result<rusqlite::CachedStatement<'_>> {
        let mut statement = self.connection().prepare_cached(sql)?;
        assert_eq!(statement.parameter_count(), values.len(), "{sql}");
        for (number, value) in (1..).zip(values) {
            statement.raw_bind_parameter(number, Parameter(value))?;
        }
        Ok(statement)
    }
}

struct Parameter<'a>(&'a Value);

impl rusqlite::ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Value::Text(text) => text.as_ref().map(|text| ValueRef::Text(text.as_bytes())),
            Value::Number(number) => number.map(ValueRef::Integer),
            Value::Bytes(bytes) => bytes.as_deref().map(ValueRef::Blob),
            Value::Truth(_) => panic!("SQLite gets no truth values"),
        };
        Ok(ToSqlOutput::Borrowed(value.unwrap_or(ValueRef::Null)))
    }
}

impl Connection for SqliteConnection {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        let mut statement = self.prepare(sql, values).map_err(of_sqlite)?;
        let (columns, mut size, mut read) = (statement.column_count(), Size::default(), Vec::new());
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(of_sqlite)? {
            let mut cells = Vec::with_capacity(columns);
            for column in 0..columns {
                let cell = match row.get_ref(column).map_err(of_sqlite)? {
                    ValueRef::Null => Cell::Null,
                    ValueRef::Integer(number) => Cell::Number(number),
                    ValueRef::Text(text) => Cell::Text(String::from_utf8(text.to_vec()).unwrap()),
                    ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
                    ValueRef::Real(_) => panic!("no column is a floating-point number"),
                };
                size.add(&cell)?;
                cells.push(cell);
            }
            read.push(cells);
        }
        Ok(read)
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        let mut statement = self.prepare(sql, values).map_err(of_sqlite)?;
        Ok(statement.raw_execute().map_err(of_sqlite)? as u64)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        self.connection().execute_batch("COMMIT").map_err(of_sqlite)
    }
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        let connection = self.connection.take().expect("it is there until the end");
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK").expect("a rollback");
        }
        self.idle.lock().unwrap().push(connection);
    }
}

fn of_sqlite(error: rusqlite::Error) -> Error {
    let rusqlite::Error::SqliteFailure(code, Some(message)) = &error else {
        return Error::Unavailable(error.to_string());
    };
    match code.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
            let columns = message.strip_prefix("UNIQUE constraint failed: ");
            Error::Unique(columns.unwrap_or_default().to_owned())
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Error::Reference,
        other if matches!(other & 0xff, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => Error::Retry,
        _ => Error::Unavailable(error.to_string()),
    }
}

/// Where tokio-postgres works. Never dropped: its last user may be one of its own threads.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

/// A database of PostgreSQL, and its connections.
pub struct Postgres {
    url: String,
    idle: Arc<Mutex<Vec<Session>>>,
}

struct Session {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Postgres {
    pub fn new(url: String) -> Self {
        let idle = Arc::default();
        Self { url, idle }
    }

    fn open(&self) -> Session {
        let connected = RUNTIME.block_on(tokio_postgres::connect(&self.url, NoTls));
        let (client, connection) = connected.expect("a connection");
        RUNTIME.spawn(connection);
        let prepared = HashMap::new();
        Session { client, prepared }
    }

    /// Statements of the dashboard's own.
    pub fn run(&self, sql: &str) {
        RUNTIME
            .block_on(self.open().client.batch_execute(sql))
            .expect("statements");
    }
}

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgresql
    }

    fn begin(&self, opening: &[String]) -> Result<Box<dyn Connection>, Error> {
        let idle = self.idle.lock().unwrap().pop();
        let mut connection = PostgresConnection {
            session: Some(idle.unwrap_or_else(|| self.open())),
            is_open: !opening.is_empty(),
            idle: self.idle.clone(),
        };
        if !opening.is_empty() {
            let client = &connection.session().client;
            let opened = RUNTIME.block_on(client.batch_execute(&opening.join("; ")));
            opened.map_err(of_postgres)?;
        }
        Ok(Box::new(connection))
    }
}

struct PostgresConnection {
    session: Option<Session>,
    is_open: bool,
    idle: Arc<Mutex<Vec<Session>>>,
}

impl PostgresConnection {
    fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("it is there until the end")
    }
}

impl Session {
    async fn prepare(&mut self, sql: &str, values: &[Value]) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let kinds: Vec<_> = values.iter().map(kind).collect();
        let statement = self.client.prepare_typed(sql, &kinds).await?;
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

fn kind(value: &Value) -> Type {
    match value {
        Value::Text(_) => Type::TEXT,
        Value::Number(_) => Type::INT8,
        Value::Truth(_) => Type::BOOL,
        Value::Bytes(_) => Type::BYTEA,
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(parameter).collect()
}

fn parameter(value: &Value) -> &(dyn ToSql + Sync) {
    match value {
        Value::Text(text) => text,
        Value::Number(number) => number,
        Value::Truth(truth) => truth,
        Value::Bytes(bytes) => bytes,
    }
}

impl Connection for PostgresConnection {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        let session = self.session();
        let rows = RUNTIME.block_on(async {
            let statement = session.prepare(sql, values).await?;
            session.client.query(&statement, &parameters(values)).await
        });
        let mut size = Size::default();
        let rows = rows.map_err(of_postgres)?;
        let row = |row: &tokio_postgres::Row| {
            let cells = (0..row.len()).map(|column| {
                let cell = cell(row, column).unwrap_or(Cell::Null);
                size.add(&cell)?;
                Ok(cell)
            });
            cells.collect()
        };
        rows.iter().map(row).collect()
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        let session = self.session();
        let changed = RUNTIME.block_on(async {
            let statement = session.prepare(sql, values).await?;
            session.client.execute(&statement, &parameters(values)).await
        });
        changed.map_err(of_postgres)
    }

    fn commit(mut self: Box<Self>) -> Result<(), Error> {
        let client = &self.session().client;
        RUNTIME
            .block_on(client.batch_execute("COMMIT"))
            .map_err(of_postgres)?;
        self.is_open = false;
        Ok(())
    }
}

fn cell(row: &tokio_postgres::Row, column: usize) -> Option<Cell> {
    match *row.columns()[column].type_() {
        Type::TEXT => row.get::<_, Option<String>>(column).map(Cell::Text),
        // As the driver `pg` gives it.
        Type::INT8 => row
            .get::<_, Option<i64>>(column)
            .map(|number| Cell::Text(number.to_string())),
        Type::INT4 => row
            .get::<_, Option<i32>>(column)
            .map(|number| Cell::Number(number.into())),
        Type::BOOL => row.get::<_, Option<bool>>(column).map(Cell::Truth),
        Type::BYTEA => row.get::<_, Option<Vec<u8>>>(column).map(Cell::Bytes),
        ref other => panic!("no column has the type {other}"),
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        let session = self.session.take().expect("it is there until the end");
        if self.is_open {
            RUNTIME
                .block_on(session.client.batch_execute("ROLLBACK"))
                .expect("a rollback");
        }
        self.idle.lock().unwrap().push(session);
    }
}

fn of_postgres(error: tokio_postgres::Error) -> Error {
    let Some(refusal) = error.as_db_error() else {
        return Error::Unavailable(error.to_string());
    };
    let code = refusal.code();
    if *code == SqlState::UNIQUE_VIOLATION {
        return Error::Unique(refusal.constraint().unwrap_or_default().to_owned());
    }
    if *code == SqlState::FOREIGN_KEY_VIOLATION {
        return Error::Reference;
    }
    let retried = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    match retried.contains(code) {
        true => Error::Retry,
        false => Error::Unavailable(refusal.message().to_owned()),
    }
}
