//! The names of apps, and those of users, in memory (`portico_storage::names`), read from SQLite as they are needed.
//!
//! Ranges for which there is no room are read each time.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::{Connection, Result, Row, params};

use super::ranges::Table;
use portico_storage::names::{END, Names as Copies, Pass, Place, Range, RangeNames, Search};

/// Copies of the names of one table.
pub(super) struct Names {
    table: Table,
    copies: Copies,
}

impl Names {
    pub fn new(table: Table, most_bytes: usize) -> Self {
        Self {
            table,
            copies: Copies::new(most_bytes),
        }
    }

    /// How many records a search finds.
    pub fn count(&self, db: &Connection, search: Search) -> Result<u32> {
        let mut pass = Pass::count(search);
        let numbers = self.walk(db, &mut pass)?;
        self.copies.forget_others(&numbers);
        Ok(pass.counted())
    }

    /// Where those records are that a search finds, in order: at most `limit`, after `offset` others.
    pub fn places(&self, db: &Connection, search: Search, offset: u32, limit: u32) -> Result<Vec<Place>> {
        let mut pass = Pass::page(search, offset, limit);
        self.walk(db, &mut pass)?;
        Ok(pass.places())
    }

    /// Visits the ranges in order until nothing more is to be found. Answers the numbers of those it has visited.
    fn walk(&self, db: &Connection, pass: &mut Pass) -> Result<HashSet<i64>> {
        let mut numbers = HashSet::new();
        let mut statement = db.prepare_cached(self.table.statements().ranges)?;
        let mut rows = statement.query([])?;
        while !pass.is_full()
            && let Some(row) = rows.next()?
        {
            let range = read_range(row)?;
            numbers.insert(range.number);
            if !pass.skips(&range) {
                pass.visit(&range, &*self.copy(db, &range)?);
            }
        }
        Ok(numbers)
    }

    /// The copy of a range; made now if there is none of this version.
    fn copy(&self, db: &Connection, range: &Range<'_>) -> Result<Arc<RangeNames>> {
        if let Some(copy) = self.copies.get(range) {
            return Ok(copy);
        }
        let copy = Arc::new(read_names(db, self.table, range)?);
        self.copies.hold(range.number, copy.clone());
        Ok(copy)
    }
}

/// A row of a table of ranges.
fn read_range<'a>(row: &'a Row<'_>) -> Result<Range<'a>> {
    Ok(Range {
        number: row.get(0)?,
        version: row.get::<_, i64>(1)?.into(),
        records: row.get(2)?,
        first_key: row.get_ref(3)?.as_str()?,
        first_id: row.get_ref(4)?.as_str()?,
    })
}

fn read_names(db: &Connection, table: Table, range: &Range<'_>) -> Result<RangeNames> {
    let (mut text, mut kinds) = (Vec::new(), Vec::with_capacity(range.records as usize));
    let mut statement = db.prepare_cached(table.statements().names)?;
    let mut names = statement.query(params![range.first_key, range.first_id, range.records])?;
    while let Some(name) = names.next()? {
        text.extend_from_slice(name.get_ref(0)?.as_str()?.as_bytes());
        text.push(END);
        kinds.push(name.get(1)?);
    }
    Ok(RangeNames::new(range.version, text, kinds))
}
