//! The ranges into which the order of apps and of users is divided (`migrations/0003_name_ranges.sql`).
//!
//! They say how many records there are and where a page begins; without them both would take a pass over all
//! names. Each is one statement, so that the ranges and the changes that are not folded into them are of one
//! state.

use super::connection::Connection;
use super::query::{Result, all};
use super::values::count;

/// How many records of a table there are.
pub(super) async fn total(db: &Connection, table: &str) -> Result<u32> {
    let sql = format!(
        "SELECT ((SELECT coalesce(sum(records), 0) FROM {table}_range)
            + (SELECT coalesce(sum(records), 0) FROM {table}_range_change))::bigint"
    );
    let counts = all(db, &sql, &[], |row| count(row, 0)).await?;
    Ok(counts.into_iter().sum::<u64>().try_into().unwrap_or(u32::MAX))
}

/// A statement that reads these columns of a table in the order of the names: at most as many records as the
/// parameter `limit` says, after as many others as the parameter `offset` says.
pub(super) fn page(table: &str, columns: &str, limit: &str, offset: &str) -> String {
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
