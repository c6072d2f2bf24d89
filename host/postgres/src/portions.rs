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
use std::time::{Duration, Instant};

use futures_util::future::join;
use futures_util::{TryStreamExt, pin_mut};
use portico_storage::priority::{end_step, is_low};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, RowStream};

use super::connection::Connection;
use super::failure::Result;

/// How long the server works on a portion, about, after the first of its rows have arrived; or as long as these take to
/// arrive, if that is more, so that a list from another machine does not take much longer for its portions.
const WORK: Duration = Duration::from_micros(100);
/// How much larger than the portion before it a portion is at most.
const GROWTH: f64 = 1.25;
/// How many bytes a portion has at most, about.
const PORTION: usize = 64 << 10;
/// How many rows the first portion has: few, because it is not known yet how long the server works on one.
const FIRST: usize = 32;
/// How many rows the others have.
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
    let (mut asked, mut asked_at, mut shortest_wait) = (FIRST, Instant::now(), Duration::MAX);
    // Polled in this order, and so sent in it.
    let (declared, mut portion) = db.answer(join(declared, fetch(db, asked))).await;
    declared?;
    loop {
        let read = db.answer(read_portion(portion?, asked_at, each)).await?;
        if read.rows < asked {
            db.send_before("CLOSE list");
            return Ok(());
        }
        shortest_wait = shortest_wait.min(read.wait);
        (asked, asked_at) = (read.rows_of_next(shortest_wait), Instant::now());
        portion = db.answer(fetch(db, asked)).await;
    }
}

/// What has been read of a portion.
struct Portion {
    rows: usize,
    bytes: usize,
    /// How long the first row took to arrive.
    wait: Duration,
    /// From the first row to the last. The server sends rows when it has 8 KiB of them, so this is about how long it works
    /// on the others. The way to the server and back is not in it.
    time: Duration,
}

impl Portion {
    /// How many rows to ask for after these. The shortest wait for a portion is that for the way to the server and back.
    fn rows_of_next(&self, shortest_wait: Duration) -> usize {
        let work = WORK.max(shortest_wait).as_secs_f64();
        let by_time = self.rows as f64 * (work / self.time.as_secs_f64()).min(GROWTH);
        let by_size = self.rows * PORTION / self.bytes.max(1);
        by_size.min(by_time as usize).clamp(*ROWS.start(), *ROWS.end())
    }
}

/// Reads each row of a portion that was asked for at this moment.
async fn read_portion(
    portion: RowStream,
    asked_at: Instant,
    each: &mut (dyn FnMut(&Row) -> Result<()> + Send),
) -> Result<Portion> {
    pin_mut!(portion);
    let (mut rows, mut bytes) = (0, 0);
    let mut first = None;
    while let Some(row) = portion.try_next().await? {
        first.get_or_insert_with(Instant::now);
        each(&row)?;
        end_step();
        rows += 1;
        bytes += row.raw_size_bytes();
    }
    let first = first.unwrap_or_else(Instant::now);
    Ok(Portion {
        rows,
        bytes,
        wait: first - asked_at,
        time: first.elapsed(),
    })
}

/// Asks for so many rows of the cursor.
async fn fetch(db: &Connection, rows: usize) -> std::result::Result<RowStream, Error> {
    let none: [(&(dyn ToSql + Sync), Type); 0] = [];
    let sql = format!("FETCH {rows} FROM list");
    db.client().query_typed_raw(&sql, none).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many rows are asked for next, from a server on the same machine.
    fn next(rows: usize, bytes: usize, micros: u64) -> usize {
        next_from(Duration::from_micros(50), rows, bytes, micros)
    }

    fn next_from(wait: Duration, rows: usize, bytes: usize, micros: u64) -> usize {
        let time = Duration::from_micros(micros);
        let portion = Portion {
            rows,
            bytes,
            wait,
            time,
        };
        portion.rows_of_next(wait)
    }

    #[test]
    fn the_longer_the_server_works_on_a_portion_the_smaller_is_the_next() {
        let work = WORK.as_micros() as u64;
        assert_eq!(next(400, 4_000, work), 400);
        assert_eq!(next(400, 4_000, 4 * work), 100);
        assert_eq!(next(400, 4_000, 2_000 * work), *ROWS.start());
        assert_eq!(next(400, 4_000, work / 4), 500);
        assert_eq!(next(400, 4_000, 0), 500);
        assert_eq!(next(1_000, 8_000, 0), *ROWS.end());
    }

    #[test]
    fn the_longer_the_way_to_the_server_the_longer_it_may_work_on_a_portion() {
        let far = Duration::from_millis(2);
        assert_eq!(next_from(far, 400, 4_000, 2_000), 400);
        assert_eq!(next_from(far, 400, 4_000, 4_000), 200);
    }

    #[test]
    fn the_larger_the_rows_the_fewer_are_asked_for() {
        assert_eq!(next(100, 100 * 1_024, 0), 64);
        assert_eq!(next(100, 100 * PORTION, 0), *ROWS.start());
    }
}
