//! Long lists, read in portions.
//!
//! The process of the database server that reads a list has the priority of all others there. It works on a statement
//! until its answer is complete, or until its slice of the processor ends, after milliseconds. On a machine that the
//! server shares with this host, other requests would wait for it. With a cursor it pauses after each portion, until
//! a thread of low priority has asked for the next one. For a cursor, PostgreSQL also prefers a plan that gives the
//! first rows soon: it reads an index rather than sorting the whole table before the first row.
//!
//! Invariant: a cursor is only declared in a transaction that only reads, and closed before the next is declared.

use std::ops::RangeInclusive;

use futures_util::future::join;
use futures_util::{TryStreamExt, pin_mut};
use portico_storage::priority::{end_step, is_low};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, RowStream};

use super::connection::Connection;
use super::failure::Result;

/// How many bytes a portion has, about: the server works on them for some tenths of a millisecond.
const PORTION: usize = 64 << 10;
/// How many rows the first portion has.
const FIRST: usize = 128;
/// How many rows the others have, by the size of the rows so far.
const ROWS: RangeInclusive<usize> = 16..=1_024;

/// Whether the rows of the statements on this connection are read in portions.
pub(super) fn are_read(db: &Connection) -> bool {
    is_low() && db.is_reading()
}

/// Declares the cursor of a SELECT.
pub(super) fn declare(select: &str) -> String {
    format!("DECLARE list NO SCROLL CURSOR FOR {select}")
}

/// Reads each row of the cursor. `declared` sends its declaration when it is first polled.
pub(super) async fn read(
    db: &Connection,
    declared: impl Future<Output = std::result::Result<u64, Error>>,
    each: &mut (dyn FnMut(&Row) -> Result<()> + Send),
) -> Result<()> {
    let mut asked = FIRST;
    // Polled in this order, and so sent in it.
    let (declared, mut portion) = db.answer(join(declared, fetch(db, asked))).await;
    declared?;
    let (mut rows, mut bytes) = (0, 0);
    loop {
        let (read, size) = db.answer(read_portion(portion?, each)).await?;
        if read < asked {
            db.send_before("CLOSE list");
            return Ok(());
        }
        (rows, bytes) = (rows + read, bytes + size);
        asked = (rows * PORTION / bytes.max(1)).clamp(*ROWS.start(), *ROWS.end());
        portion = db.answer(fetch(db, asked)).await;
    }
}

/// Reads each row of a portion. Answers how many there are, and their size in bytes.
async fn read_portion(
    portion: RowStream,
    each: &mut (dyn FnMut(&Row) -> Result<()> + Send),
) -> Result<(usize, usize)> {
    pin_mut!(portion);
    let (mut rows, mut bytes) = (0, 0);
    while let Some(row) = portion.try_next().await? {
        each(&row)?;
        end_step();
        rows += 1;
        bytes += row.raw_size_bytes();
    }
    Ok((rows, bytes))
}

/// Asks for so many rows of the cursor.
async fn fetch(db: &Connection, rows: usize) -> std::result::Result<RowStream, Error> {
    let none: [(&(dyn ToSql + Sync), Type); 0] = [];
    let sql = format!("FETCH {rows} FROM list");
    db.client().query_typed_raw(&sql, none).await
}
