//! The ranges into which the order of apps and of users is divided (`migrations/0003_name_ranges.sql`).
//!
//! They say how many records there are and where a page begins; without them both would take a pass over all
//! names. Each is one statement, so that the ranges and the changes that are not folded into them are of one
//! state.

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::query::{Result, Value, all};
use super::values::count;
use portico_storage::names::Place;

/// Which records are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Apps,
    Users,
}

impl Table {
    const ALL: [Self; 2] = [Self::Apps, Self::Users];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Apps => "app",
            Self::Users => "user_account",
        }
    }
}

/// The statements that make the ranges of a database that has none.
pub(super) fn migration() -> String {
    let each = include_str!("ranges_of_table.sql");
    let tables = Table::ALL.map(|table| each.replace("{table}", table.name()));
    include_str!("migrations/0003_name_ranges.sql").to_owned() + &tables.concat()
}

/// How many records of a table there are.
pub(super) async fn total(db: &Connection, table: Table) -> Result<u32> {
    let table = table.name();
    let sql = format!(
        "SELECT ((SELECT coalesce(sum(records), 0) FROM {table}_range)
            + (SELECT coalesce(sum(records), 0) FROM {table}_range_change))::bigint"
    );
    let counts = all(db, &sql, &[], |row| count(row, 0)).await?;
    Ok(counts.into_iter().sum::<u64>().try_into().unwrap_or(u32::MAX))
}

/// A statement that reads these columns of a table in the order of the names: at most as many records as the
/// parameter `limit` says, after as many others as the parameter `offset` says.
pub(super) fn page(table: Table, columns: &str, limit: &str, offset: &str) -> String {
    let table = table.name();
    format!(
        "WITH changed AS (
            SELECT first_key, first_id, sum(change.records) AS records
            FROM {table}_range_change AS change CROSS JOIN LATERAL (
                SELECT first_key, first_id FROM {table}_range
                WHERE (first_key, first_id) <= (change.name_key, change.id)
                ORDER BY first_key DESC, first_id DESC LIMIT 1
            ) AS place
            GROUP BY first_key, first_id
        ), range AS (
            SELECT first_key, first_id, {table}_range.records + coalesce(changed.records, 0) AS records
            FROM {table}_range LEFT JOIN changed USING (first_key, first_id)
        ), place AS (
            SELECT first_key, first_id, {offset} - (up_to - records) AS skipped
            FROM (
                SELECT *, sum(records) OVER (ORDER BY first_key, first_id) AS up_to FROM range
            ) AS summed
            WHERE up_to > {offset} ORDER BY first_key, first_id LIMIT 1
        )
        SELECT {columns} FROM {table}
        WHERE (name_key, id) >= ((SELECT first_key FROM place), (SELECT first_id FROM place))
        ORDER BY name_key, id LIMIT {limit} OFFSET (SELECT skipped::bigint FROM place)"
    )
}

/// A statement that reads these columns of the records at places, in their order. Its first parameters are
/// [`Places::values`].
pub(super) fn at_places(table: Table, columns: &str) -> String {
    format!(
        "SELECT {columns}
        FROM unnest($1, $2, $3, $4) AS place (place_key, place_id, skipped, taken)
        CROSS JOIN LATERAL (
            SELECT * FROM {} WHERE name_key = place_key AND id >= place_id
            ORDER BY id LIMIT taken OFFSET skipped
        ) AS found
        ORDER BY name_key, id",
        table.name()
    )
}

/// A statement that reads these columns of records that follow each other, from the place of the first one on. Its
/// first parameters are [`Places::run`]. It takes less than half the time of the one above.
pub(super) fn from_place(table: Table, columns: &str) -> String {
    format!(
        "SELECT {columns} FROM {} WHERE (name_key, id) >= ($1, $2)
        ORDER BY name_key, id LIMIT $3 OFFSET $4",
        table.name()
    )
}

/// Places, as parameters.
pub(super) struct Places<'a> {
    keys: Vec<&'a str>,
    ids: Vec<&'a str>,
    skipped: Vec<i64>,
    records: Vec<i64>,
    total: i64,
}

impl<'a> Places<'a> {
    pub fn new(places: &'a [Place]) -> Self {
        Self {
            keys: places.iter().map(|place| &place.key[..]).collect(),
            ids: places.iter().map(|place| &place.id[..]).collect(),
            skipped: places.iter().map(|place| place.skipped.into()).collect(),
            records: places.iter().map(|place| place.records.into()).collect(),
            total: places.iter().map(|place| i64::from(place.records)).sum(),
        }
    }

    /// The parameters of [`at_places`].
    pub fn values(&self) -> Vec<(Value<'_>, Type)> {
        vec![
            (&self.keys, Type::TEXT_ARRAY),
            (&self.ids, Type::TEXT_ARRAY),
            (&self.skipped, Type::INT8_ARRAY),
            (&self.records, Type::INT8_ARRAY),
        ]
    }

    /// The parameters of [`from_place`]: the places follow each other, and there is at least one.
    pub fn run(&self) -> Vec<(Value<'_>, Type)> {
        vec![
            (&self.keys[0], Type::TEXT),
            (&self.ids[0], Type::TEXT),
            (&self.total, Type::INT8),
            (&self.skipped[0], Type::INT8),
        ]
    }
}
