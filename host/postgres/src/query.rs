//! How a statement is run. Each is prepared once on a connection.

use portico_storage::driver::{AnswerSize, TextSize, TooLarge};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connection::Connection;
pub(super) use super::failure::{Failure, Result};
use super::{lists, portions};

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
pub(super) async fn all<T: Send + 'static>(
    db: &Connection,
    sql: &str,
    values: &[Value<'_>],
    read: impl FnMut(&Row) -> Result<T> + Send + 'static,
) -> Result<Vec<T>> {
    fold(db, sql, values, Vec::new(), pushing(read)).await
}

/// Adds all rows to a value, one by one, so that an answer that is too large is not held as a whole.
pub(super) async fn fold<A: Send + 'static>(
    db: &Connection,
    sql: &str,
    values: &[Value<'_>],
    mut value: A,
    mut add: impl FnMut(&mut A, &Row) -> Result<()> + Send + 'static,
) -> Result<A> {
    if portions::are_read(db) {
        let declare = db.prepared(&portions::declare(sql)).await?;
        let declared = db.client().execute(&declare, values);
        portions::read(db, declared, &mut |row| add(&mut value, row)).await?;
        return Ok(value);
    }
    let statement = db.prepared(sql).await?;
    db.answer(async {
        let rows = db.client().query_raw(&statement, values.iter().copied()).await?;
        lists::fold(rows, value, add).await
    })
    .await
}

/// All rows of a statement whose best plan depends on the parameters: it is planned each time.
pub(super) async fn all_planned<T: Send + 'static>(
    db: &Connection,
    sql: &str,
    values: &[(Value<'_>, Type)],
    read: impl FnMut(&Row) -> Result<T> + Send + 'static,
) -> Result<Vec<T>> {
    if portions::are_read(db) {
        let declare = portions::declare(sql);
        let declared = db.client().execute_typed(&declare, values);
        let (mut records, mut push) = (Vec::new(), pushing(read));
        portions::read(db, declared, &mut |row| push(&mut records, row)).await?;
        return Ok(records);
    }
    let values = values.iter().map(|(value, kind)| (*value, kind.clone()));
    db.answer(async {
        let rows = db.client().query_typed_raw(sql, values).await?;
        lists::fold(rows, Vec::new(), pushing(read)).await
    })
    .await
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
