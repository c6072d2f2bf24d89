//! The ranges into which the order of apps and of users is divided (`migrations/0009_name_ranges.sql`).
//!
//! Triggers keep them. They say how many records there are and where a page begins; without them both would
//! take a pass over all names.

use rusqlite::{Connection, Result};

use super::query::first;

/// Which records are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Apps,
    Users,
}

/// The statements on one table's ranges.
pub(super) struct Statements {
    total: &'static str,
    /// Of each range how many records it has, and where it begins.
    begins: &'static str,
    /// Of each range its number, version, and how many records it has, and where it begins.
    pub ranges: &'static str,
    /// The name-keys of a range, and of what kind each record is.
    pub names: &'static str,
}

macro_rules! statements {
    ($table:literal, $kind:literal) => {
        Statements {
            total: concat!("SELECT coalesce(sum(records), 0) FROM ", $table, "_range"),
            begins: concat!(
                "SELECT records, first_key, first_id FROM ",
                $table,
                "_range ORDER BY first_key, first_id"
            ),
            ranges: concat!(
                "SELECT number, version, records, first_key, first_id FROM ",
                $table,
                "_range ORDER BY first_key, first_id"
            ),
            names: concat!(
                "SELECT name_key, ",
                $kind,
                " FROM ",
                $table,
                " WHERE (name_key, id) >= (?1, ?2) ORDER BY name_key, id LIMIT ?3"
            ),
        }
    };
}

impl Table {
    const ALL: [Self; 2] = [Self::Apps, Self::Users];

    const fn name(self) -> &'static str {
        match self {
            Self::Apps => "app",
            Self::Users => "user",
        }
    }

    pub const fn statements(self) -> &'static Statements {
        match self {
            Self::Apps => &const { statements!("app", "0") },
            Self::Users => {
                &const {
                    statements!(
                        "user",
                        "CASE provider WHEN 'credentials' THEN 0 WHEN 'oidc' THEN 2 ELSE 4 END + disabled"
                    )
                }
            }
        }
    }
}

/// Where a page begins: so many records after the first one that is not before this key and id.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub key: String,
    pub id: String,
    pub skipped: u32,
}

/// How many records there are.
pub(super) fn total(db: &Connection, table: Table) -> Result<u32> {
    let total = first(db, table.statements().total, [], |row| row.get(0))?;
    Ok(total.unwrap_or_default())
}

/// Where the record is that has this many before it.
pub(super) fn start(db: &Connection, table: Table, offset: u32) -> Result<Start> {
    let mut start = Start {
        skipped: offset,
        ..Start::default()
    };
    if offset == 0 {
        return Ok(start);
    }
    let mut statement = db.prepare_cached(table.statements().begins)?;
    let mut ranges = statement.query([])?;
    while let Some(range) = ranges.next()? {
        let records: u32 = range.get(0)?;
        if start.skipped < records {
            (start.key, start.id) = (range.get(1)?, range.get(2)?);
            return Ok(start);
        }
        start.skipped -= records;
    }
    // There are fewer: nothing follows what is before none of them.
    Ok(Start {
        skipped: u32::MAX,
        ..start
    })
}

/// The statements that make the ranges of a database that has none.
pub(super) fn migration() -> String {
    let each = include_str!("ranges_of_table.sql");
    include_str!("migrations/0009_name_ranges.sql").to_owned() + &of_each_table(each) + &filling()
}

/// Divides all records into ranges anew.
pub(super) fn fill(db: &Connection) -> Result<()> {
    db.execute_batch(&filling())
}

fn filling() -> String {
    let state = "INSERT OR REPLACE INTO range_state (id, most, numbered) VALUES (1, 8192, 1);\n";
    state.to_owned() + &of_each_table(include_str!("fill_ranges.sql"))
}

/// Statements in which `{table}` stands for the name of a table, for each of them.
fn of_each_table(statements: &str) -> String {
    Table::ALL
        .map(|table| statements.replace("{table}", table.name()))
        .concat()
}

#[cfg(test)]
pub(super) mod tests {
    use rusqlite::params;

    use super::*;
    use crate::query::{all, run};

    /// Lets a range have so few records that tests meet many ranges.
    pub fn make_small(db: &Connection) {
        run(db, "UPDATE range_state SET most = 4", []).unwrap();
    }

    /// Asserts that each range has as many records as it says, and none more than it may have.
    pub fn check(db: &Connection, table: &str) {
        let sql = format!(
            "SELECT number, records, first_key, first_id,
                coalesce(lead(first_key) OVER next, x'ff'), coalesce(lead(first_id) OVER next, x'ff')
            FROM {table}_range WINDOW next AS (ORDER BY first_key, first_id)"
        );
        type Range = (
            i64,
            u32,
            String,
            String,
            rusqlite::types::Value,
            rusqlite::types::Value,
        );
        let ranges: Vec<Range> = all(db, &sql, [], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ))
        })
        .unwrap();
        assert_eq!((ranges[0].0, ranges[0].2.as_str()), (1, ""));
        for (number, records, key, id, next_key, next_id) in ranges {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE (name_key, id) >= (?1, ?2) AND (name_key, id) < (?3, ?4)"
            );
            let values = params![key, id, next_key, next_id];
            let found: u32 = db.query_row(&sql, values, |row| row.get(0)).unwrap();
            assert_eq!(found, records, "{table}: the range {number} from {key:?}, {id:?}");
            let sql = format!("SELECT count(*) FROM {table} WHERE name_key = ?1 AND id = ?2");
            let exists: u32 = db.query_row(&sql, [&key, &id], |row| row.get(0)).unwrap();
            assert!(
                number == 1 || exists == 1,
                "{table}: the range {number} begins with what is gone"
            );
        }
    }
}
