//! How a statement of `portico-sql` runs on a connection.

use std::error::Error as StdError;
use std::pin::pin;
use std::sync::LazyLock;

use bytes::BytesMut;
use futures_util::TryStreamExt;
use portico_sql::{Column, Dialect, Insert, Row, Span, Sql, Texts, Value, columns_of};
use portico_storage::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::connection::Connection;
pub(super) use super::failure::{Failure, Result};

/// The statements as PostgreSQL takes them.
static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts::new(Dialect::Postgres, ""));

/// Adds the rows of a statement to a value, one by one. A statement whose best plan depends on its parameters is
/// planned each time; any other is prepared once on each connection.
pub(super) async fn fold<A: Send>(
    db: &Connection,
    sql: &'static Sql,
    writes: bool,
    values: &[Value],
    mut into: A,
    mut add: impl FnMut(&mut A, &dyn Row) -> portico_storage::Result<()> + Send,
) -> Result<A> {
    let text = TEXTS.of(sql, writes);
    let statement = match sql.span {
        Span::Short | Span::Unbounded => Some(db.prepared(&text, &types_of(values)).await?),
        Span::Long => None,
    };
    db.wait_for(async {
        let rows = match &statement {
            Some(statement) => {
                db.client()
                    .query_raw(statement, values.iter().map(Parameter))
                    .await?
            }
            None => {
                let typed = values.iter().map(|value| (Parameter(value), type_of(value)));
                db.client().query_typed_raw(&text, typed).await?
            }
        };
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await? {
            add(&mut into, &PostgresRow(&row)).map_err(Failure::Unread)?;
        }
        Ok(into)
    })
    .await
}

/// Runs a statement that writes. Returns how many rows it changed.
pub(super) async fn execute(db: &Connection, sql: &'static Sql, values: &[Value]) -> Result<u64> {
    let statement = db.prepared(&TEXTS.of(sql, true), &types_of(values)).await?;
    let values = values.iter().map(Parameter);
    Ok(db.wait_for(db.client().execute_raw(&statement, values)).await?)
}

/// Rows that are inserted with one statement, now or with the COMMIT.
pub(super) struct Deferred {
    into: &'static Insert,
    columns: Vec<Vec<Value>>,
}

impl Deferred {
    pub fn new(into: &'static Insert, rows: Vec<Vec<Value>>) -> Self {
        Self {
            into,
            columns: columns_of(into, rows),
        }
    }

    pub async fn run(&self, db: &Connection) -> Result<()> {
        let statement = self.prepare(db).await?;
        let lists = self.columns.iter().map(|column| List(column));
        db.wait_for(db.client().execute_raw(&statement, lists)).await?;
        Ok(())
    }

    async fn prepare(&self, db: &Connection) -> Result<tokio_postgres::Statement> {
        let kinds = self.into.columns.iter().map(|(_, kind)| match kind {
            Column::Text => Type::TEXT_ARRAY,
            Column::Number => Type::INT8_ARRAY,
            Column::Bool => Type::BOOL_ARRAY,
        });
        let kinds: Vec<_> = kinds.collect();
        Ok(db.prepared(&TEXTS.of_insert(self.into), &kinds).await?)
    }
}

/// Prepares the statements, so that they can be sent without waiting. After this only the database can refuse them, and
/// then the COMMIT that follows undoes the whole transaction.
pub(super) async fn prepare_all(db: &Connection, insertions: &[Deferred]) -> Result<()> {
    for insertion in insertions {
        insertion.prepare(db).await?;
    }
    Ok(())
}

fn types_of(values: &[Value]) -> Vec<Type> {
    values.iter().map(type_of).collect()
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Text(_) | Value::Contained(_) => Type::TEXT,
        Value::Number(_) => Type::INT8,
        Value::Bool(_) => Type::BOOL,
        Value::Bytes(_) => Type::BYTEA,
        Value::Texts(_) => Type::TEXT_ARRAY,
    }
}

type Written = std::result::Result<IsNull, Box<dyn StdError + Sync + Send>>;

#[derive(Debug)]
struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Written {
        match self.0 {
            Value::Text(text) => text.to_sql(kind, out),
            Value::Contained(text) => Dialect::Postgres.contained(text).to_sql(kind, out),
            Value::Number(number) => number.to_sql(kind, out),
            Value::Bool(truth) => truth.to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
            Value::Texts(texts) => texts.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // Each statement is prepared with the types of its values.
        true
    }

    to_sql_checked!();
}

/// The values of one column.
#[derive(Debug)]
struct List<'a>(&'a [Value]);

impl ToSql for List<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Written {
        let values: Vec<_> = self.0.iter().map(Parameter).collect();
        values.to_sql(kind, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

struct PostgresRow<'a>(&'a tokio_postgres::Row);

impl PostgresRow<'_> {
    fn get<'a, T: FromSql<'a>>(&'a self, column: usize) -> portico_storage::Result<T> {
        let value = self.0.try_get(column);
        value.map_err(|error| Error::Unavailable(format!("a stored value is invalid: {error}")))
    }
}

impl Row for PostgresRow<'_> {
    fn get_text(&self, column: usize) -> portico_storage::Result<Option<String>> {
        self.get(column)
    }

    fn get_number(&self, column: usize) -> portico_storage::Result<Option<i64>> {
        self.get(column)
    }

    fn get_bool(&self, column: usize) -> portico_storage::Result<Option<bool>> {
        self.get(column)
    }

    fn get_bytes(&self, column: usize) -> portico_storage::Result<Option<Vec<u8>>> {
        self.get(column)
    }
}
