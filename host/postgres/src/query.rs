//! How a statement is run. Each is prepared once on a connection.

use std::pin::pin;

use futures_util::{Stream, TryStreamExt};
use portico_storage::driver::{AnswerSize, TextSize, TooLarge};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connection::Connection;
pub(super) use super::failure::{Failure, Result};

/// A parameter.
pub(super) type Value<'a> = &'a (dyn ToSql + Sync);

/// Runs a statement; answers how many rows it changed.
pub(super) async fn run(db: &Connection, sql: &str, values: &[Value<'_>]) -> Result<u64> {
    let statement = db.prepared(sql).await?;
    Ok(db.answer(db.client().execute(&statement, values)).await?)
}

/// Whether there is a row. The statement is a SELECT.
pub(super) async fn exists(db: &Connection, sql: &str, values: &[Value<'_>]) -> Result<bool> {
    let sql = format!("{sql} LIMIT 1");
    Ok(first(db, &sql, values, |_| Ok(())).await?.is_some())
}

/// The first row, if there is one.
pub(super) async fn first<T>(
    db: &Connection,
    sql: &str,
    values: &[Value<'_>],
    read: impl FnOnce(&Row) -> Result<T> + Send,
) -> Result<Option<T>> {
    let statement = db.prepared(sql).await?;
    let rows = db.answer(db.client().query(&statement, values)).await?;
    rows.first().map(read).transpose()
}

/// All rows.
pub(super) async fn all<T: Send>(
    db: &Connection,
    sql: &str,
    values: &[Value<'_>],
    read: impl FnMut(&Row) -> Result<T> + Send,
) -> Result<Vec<T>> {
    fold(db, sql, values, Vec::new(), pushing(read)).await
}

/// Adds all rows to a value, one by one, so that an answer that is too large is not held as a whole.
pub(super) async fn fold<A: Send>(
    db: &Connection,
    sql: &str,
    values: &[Value<'_>],
    value: A,
    add: impl FnMut(&mut A, &Row) -> Result<()> + Send,
) -> Result<A> {
    let statement = db.prepared(sql).await?;
    db.answer(async {
        let rows = db.client().query_raw(&statement, values.iter().copied()).await?;
        fold_rows(rows, value, add).await
    })
    .await
}

/// All rows of a statement whose best plan depends on the parameters: it is planned each time.
pub(super) async fn all_planned<T: Send>(
    db: &Connection,
    sql: &str,
    values: &[(Value<'_>, Type)],
    read: impl FnMut(&Row) -> Result<T> + Send,
) -> Result<Vec<T>> {
    let values = values.iter().map(|(value, kind)| (*value, kind.clone()));
    db.answer(async {
        let rows = db.client().query_typed_raw(sql, values).await?;
        fold_rows(rows, Vec::new(), pushing(read)).await
    })
    .await
}

async fn fold_rows<A>(
    rows: impl Stream<Item = std::result::Result<Row, tokio_postgres::Error>>,
    mut value: A,
    mut add: impl FnMut(&mut A, &Row) -> Result<()>,
) -> Result<A> {
    let mut rows = pin!(rows);
    while let Some(row) = rows.try_next().await? {
        add(&mut value, &row)?;
    }
    Ok(value)
}

/// Adds what is read of each row to a list.
fn pushing<T>(mut read: impl FnMut(&Row) -> Result<T>) -> impl FnMut(&mut Vec<T>, &Row) -> Result<()> {
    move |records, row| {
        records.push(read(row)?);
        Ok(())
    }
}

/// Adds a record to an answer. Fails if the answer becomes too large.
pub(super) fn sized<T: TextSize>(size: &mut AnswerSize, record: T) -> Result<T> {
    size.add(&record).map_err(|TooLarge| Failure::TooLarge)?;
    Ok(record)
}
