//! The names of apps, and those of users, in memory (`portico_storage::names`), read from PostgreSQL as they are
//! needed. Many hosts may work on one database, and none of them is told of changes.
//!
//! Invariants:
//! - A search asks first what the names of all ranges are in the state that its transaction reads: one number,
//!   the sum of their versions. As long as it is the same, so is the [`Directory`]; otherwise the directory is read
//!   anew, and the names of the ranges that have changed.
//! - A table with more names than there is room for is searched in the database.
//! - Copies are made and searched on a thread of their own.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::TryFutureExt;
use portico_storage::Error;
use portico_storage::background::Background;
use portico_storage::names::{END, Names as Copies, Pass, Range, RangeNames};
use tokio::sync::oneshot;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::Connection;
use super::query::{Failure, Result, Value, all, all_planned};
use super::ranges::Table;
use super::values::unexpected;

/// Copies of the names of one table.
pub(super) struct Names {
    pub table: Table,
    copies: Copies,
    /// What was read last.
    directory: Mutex<Arc<Directory>>,
    /// With so many records it is not tried whether there is room for their names.
    too_many: AtomicU64,
    /// Where copies are made and searched.
    searches: Arc<Background>,
    /// Held while copies are read that no search waits for, or many of them.
    pub filling: tokio::sync::Mutex<()>,
}

/// What a pass over the copies came to.
pub(super) enum Outcome {
    Found(Box<Pass>),
    /// More ranges would have to be read than it was allowed.
    Unread,
    /// There are too many names.
    NoRoom,
}

/// Where a pass has stopped.
enum Stop {
    Done,
    /// Before a range of which there is no copy.
    Missing(usize),
    NoRoom,
}

/// The names of a range, as PostgreSQL answers them.
struct Read {
    text: Vec<u8>,
    kinds: Vec<u8>,
}

impl Names {
    pub fn new(table: Table, most_bytes: usize, searches: Arc<Background>) -> Self {
        Self {
            table,
            copies: Copies::new(most_bytes),
            directory: Mutex::default(),
            too_many: AtomicU64::new(u64::MAX),
            searches,
            filling: tokio::sync::Mutex::default(),
        }
    }

    /// Of the same table, with so much memory for copies.
    pub fn limited_to(&self, most_bytes: usize) -> Self {
        Self::new(self.table, most_bytes, self.searches.clone())
    }

    /// The ranges in the state that a transaction reads.
    pub async fn directory(&self, db: &Connection) -> Result<Arc<Directory>> {
        let table = self.table.name();
        let sql = format!(
            "SELECT sum(version)::text FROM (
                SELECT version FROM {table}_range UNION ALL SELECT version FROM {table}_range_change
            ) AS versions"
        );
        let found = all(db, &sql, &[], |row| number(row, 0)).await?;
        let last = self.last().clone();
        if found == [last.version] {
            return Ok(last);
        }
        let directory = Arc::new(Directory::read(db, self.table).await?);
        self.copies.forget_others(&directory.numbers());
        *self.last() = directory.clone();
        Ok(directory)
    }

    /// Finds what a pass looks for in the ranges of a directory. Reads at most so many of them, and none if it is
    /// likely that these are too few.
    pub async fn find(
        self: &Arc<Self>,
        db: &Connection,
        directory: &Arc<Directory>,
        mut pass: Pass,
        most: usize,
    ) -> Result<Outcome> {
        if directory.records() >= self.too_many.load(Ordering::Relaxed) {
            return Ok(Outcome::NoRoom);
        }
        if !pass.needs_few() {
            let missing = self.missing(directory);
            let is_likely = pass.needs_all() || missing * 2 > directory.ranges.len();
            if missing > most && is_likely {
                return Ok(Outcome::Unread);
            }
        }
        let (mut at, mut read) = (0, None);
        for left in (0..=most).rev() {
            let (names, ranges) = (self.clone(), directory.clone());
            let walk = move || {
                let stop = names.walk(&ranges, &mut pass, at, read);
                (pass, stop)
            };
            let stop;
            (pass, stop) = self.on_thread(walk).await?;
            match stop {
                Stop::Done => return Ok(Outcome::Found(Box::new(pass))),
                Stop::NoRoom => return Ok(Outcome::NoRoom),
                Stop::Missing(_) if left == 0 => break,
                Stop::Missing(index) => {
                    at = index;
                    read = Some(self.read(db, &directory.range(index)).await?);
                }
            }
        }
        Ok(Outcome::Unread)
    }

    /// Reads copies of ranges of a directory, from one of them on, at most so many. Answers where it stopped; none if
    /// that is the end.
    pub async fn fill(
        self: &Arc<Self>,
        db: &Connection,
        directory: &Arc<Directory>,
        from: usize,
        most: usize,
    ) -> Result<Option<usize>> {
        let (mut left, mut making) = (most, None);
        let mut stopped = None;
        for index in from..directory.ranges.len() {
            let range = directory.range(index);
            if self.copies.get(&range).is_some() {
                continue;
            }
            if left == 0 {
                stopped = Some(index);
                break;
            }
            left -= 1;
            // The server reads a range while the copy of the one before it is made.
            let read = self.read(db, &range).await?;
            if !ended(making.take()).await? {
                return Ok(None);
            }
            let (names, ranges) = (self.clone(), directory.clone());
            making = Some(self.on_thread(move || names.make(&ranges, index, read).is_some()));
        }
        let has_room = ended(making).await?;
        Ok(stopped.filter(|_| has_room))
    }

    /// Gives the ranges from one of them on to a pass, until it needs one that is not held. `read` are the names of
    /// the first.
    fn walk(&self, directory: &Directory, pass: &mut Pass, from: usize, mut read: Option<Read>) -> Stop {
        for index in from..directory.ranges.len() {
            let range = directory.range(index);
            if pass.is_full() {
                break;
            }
            if read.is_none() && pass.skips(&range) {
                continue;
            }
            let copy = match read.take() {
                Some(read) => match self.make(directory, index, read) {
                    Some(copy) => copy,
                    None => return Stop::NoRoom,
                },
                None => match self.copies.get(&range) {
                    Some(copy) => copy,
                    None => return Stop::Missing(index),
                },
            };
            pass.visit(&range, &copy);
        }
        Stop::Done
    }

    /// Of how many ranges of a directory there is no copy.
    fn missing(&self, directory: &Directory) -> usize {
        let ranges = (0..directory.ranges.len()).map(|index| directory.range(index));
        ranges.filter(|range| self.copies.get(range).is_none()).count()
    }

    /// Makes the copy of a range, and holds it; none if there is no room for it. Then there is none for any.
    fn make(&self, directory: &Directory, index: usize, read: Read) -> Option<Arc<RangeNames>> {
        let range = directory.range(index);
        let copy = Arc::new(RangeNames::new(range.version, read.text, read.kinds));
        if self.copies.hold(range.number, copy.clone()) {
            return Some(copy);
        }
        // Not again as soon as one is gone.
        self.too_many
            .store(directory.records() / 4 * 3, Ordering::Relaxed);
        self.copies.forget_others(&HashSet::new());
        None
    }

    /// Reads the names of a range, in the state of its directory.
    async fn read(&self, db: &Connection, range: &Range<'_>) -> Result<Read> {
        let kind = match self.table {
            Table::Apps => "''",
            Table::Users => {
                "string_agg((CASE provider WHEN 'credentials' THEN 0 WHEN 'oidc' THEN 2 ELSE 4 END
                    + disabled::integer)::text, '')"
            }
        };
        let columns = match self.table {
            Table::Apps => "name_key",
            Table::Users => "name_key, provider, disabled",
        };
        // An aggregate takes the rows in the order in which they come.
        let sql = format!(
            "SELECT string_agg(convert_to(name_key, 'UTF8'), '\\x{END:02x}'::bytea), {kind}
            FROM (
                SELECT {columns} FROM {} WHERE (name_key, id) >= ($1, $2) ORDER BY name_key, id LIMIT $3
            ) AS names",
            self.table.name()
        );
        let records = i64::from(range.records);
        let values: [(Value<'_>, Type); 3] = [
            (&range.first_key, Type::TEXT),
            (&range.first_id, Type::TEXT),
            (&records, Type::INT8),
        ];
        let read = all_planned(db, &sql, &values, |row| {
            let (text, kinds): (Option<&[u8]>, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
            let text = text.map(|text| [text, &[END]].concat());
            let kinds = kinds.unwrap_or_default().bytes().map(|kind| kind - b'0');
            Ok(Read {
                text: text.unwrap_or_default(),
                kinds: kinds.collect(),
            })
        });
        read.await?
            .pop()
            .ok_or_else(|| unexpected("the names of a range"))
    }

    /// Begins work on the thread for searches, and waits for it.
    fn on_thread<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T>> + Send + use<T, W> {
        let (sender, done) = oneshot::channel();
        self.searches.run(move || {
            // Nothing is done for calls that have ended meanwhile.
            if !sender.is_closed() {
                drop(sender.send(work()));
            }
        });
        done.map_err(|_| Failure::Storage(Error::Unavailable("a search has ended early".into())))
    }

    fn last(&self) -> MutexGuard<'_, Arc<Directory>> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a copy that may be under way has been made.
async fn ended(making: Option<impl Future<Output = Result<bool>>>) -> Result<bool> {
    match making {
        Some(making) => making.await,
        None => Ok(true),
    }
}

/// The ranges of a table in one state, in order.
#[derive(Default)]
pub(super) struct Directory {
    /// The sum of the versions of all ranges.
    version: i128,
    ranges: Vec<Entry>,
}

/// A range with the changes that are not folded into it.
struct Entry {
    /// Where it begins.
    first: (String, String),
    number: i64,
    version: i128,
    records: i64,
}

impl Directory {
    async fn read(db: &Connection, table: Table) -> Result<Self> {
        let table = table.name();
        let sql = format!(
            "SELECT first_key, first_id, records, version::text, number FROM {table}_range
            UNION ALL SELECT name_key, id, records, version::text, NULL FROM {table}_range_change"
        );
        let entries = all(db, &sql, &[], |row| {
            Ok(Entry {
                first: (row.try_get(0)?, row.try_get(1)?),
                records: row.try_get(2)?,
                version: number(row, 3)?,
                number: row.try_get::<_, Option<i64>>(4)?.unwrap_or_default(),
            })
        });
        let (changes, ranges) = entries.await?.into_iter().partition(|entry| entry.number == 0);
        Ok(Self::new(ranges, changes))
    }

    /// Of ranges in any order, and of changes at names.
    fn new(mut ranges: Vec<Entry>, changes: Vec<Entry>) -> Self {
        ranges.sort_unstable_by(|one, other| one.first.cmp(&other.first));
        for change in changes {
            let after = ranges.partition_point(|range| range.first <= change.first);
            // The first range begins before every record.
            let range = &mut ranges[after.saturating_sub(1)];
            range.records += change.records;
            range.version += change.version;
        }
        Self {
            version: ranges.iter().map(|range| range.version).sum(),
            ranges,
        }
    }

    fn range(&self, index: usize) -> Range<'_> {
        let entry = &self.ranges[index];
        Range {
            number: entry.number,
            version: entry.version,
            records: u32::try_from(entry.records.max(0)).unwrap_or(u32::MAX),
            first_key: &entry.first.0,
            first_id: &entry.first.1,
        }
    }

    fn records(&self) -> u64 {
        let records = self.ranges.iter().map(|range| range.records);
        records.sum::<i64>().max(0).unsigned_abs()
    }

    fn numbers(&self) -> HashSet<i64> {
        self.ranges.iter().map(|range| range.number).collect()
    }
}

/// A number that is answered as text, because it has no bounds in the schema.
fn number(row: &Row, column: usize) -> Result<i128> {
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|_| unexpected("a version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, number: i64, version: i128, records: i64) -> Entry {
        Entry {
            first: (key.into(), String::new()),
            number,
            version,
            records,
        }
    }

    #[test]
    fn a_change_belongs_to_the_range_that_its_name_is_in() {
        let ranges = vec![entry("m", 2, 50, 7), entry("", 1, 300, 4)];
        let changes = vec![entry("a", 0, 1, 1), entry("m", 0, -2, -1), entry("zz", 0, 4, 0)];
        let directory = Directory::new(ranges, changes);
        let found = [0, 1].map(|index| directory.range(index));
        let found = found.map(|range| (range.number, range.version, range.records, range.first_key));
        assert_eq!(found, [(1, 301, 5, ""), (2, 52, 6, "m")]);
        assert_eq!((directory.version, directory.records()), (353, 11));
    }
}
