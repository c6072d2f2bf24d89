//! Statements on the audit log.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::Connection;
use super::matching::Matching;
use super::query::{Result, Value, all_planned, run};
use super::values::{count as count_of, integer, optional_provider, provider_text, timestamp, unexpected};
use portico_storage::{AuditEntry, AuditFilter, AuditPrune, AuditRow, Authentication, DONE};

pub(super) const INSERT: &str = "
    INSERT INTO audit (time, actor_id, authentication, credential_id, address, request_id, procedure,
        provider, target, created, outcome, times)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

pub(super) async fn insert(db: &Connection, entry: &AuditEntry) -> Result<()> {
    let values: [Value<'_>; 12] = [
        &integer(entry.time),
        &entry.actor_id,
        &entry.authentication,
        &entry.credential_id,
        &entry.address.map(|address| address.to_string()),
        &entry.request_id,
        &entry.procedure,
        &entry.provider.map(provider_text),
        &entry.target,
        &integer(entry.created),
        &entry.outcome,
        &integer(entry.times),
    ];
    run(db, INSERT, &values).await.map(drop)
}

pub(super) async fn list(
    db: &Connection,
    filter: &AuditFilter,
    offset: u64,
    limit: u32,
) -> Result<Vec<AuditRow>> {
    let mut matching = matching(filter);
    let condition = matching.condition();
    let limit = matching.parameter(i64::from(limit), Type::INT8);
    let offset = matching.parameter(integer(offset), Type::INT8);
    let sql = format!(
        "SELECT number, time, actor_id, authentication, credential_id, address, request_id, procedure,
            provider, target, created, outcome, times
        FROM audit {condition} ORDER BY time DESC, number DESC LIMIT {limit} OFFSET {offset}"
    );
    all_planned(db, &sql, &matching.values(), row).await
}

pub(super) async fn count(db: &Connection, filter: &AuditFilter) -> Result<u64> {
    let matching = matching(filter);
    let sql = format!("SELECT count(*) FROM audit {}", matching.condition());
    let counts = all_planned(db, &sql, &matching.values(), |row| count_of(row, 0)).await?;
    Ok(counts.into_iter().sum())
}

pub(super) async fn prune(db: &Connection, which: AuditPrune, most: u32) -> Result<u64> {
    let (rows, before) = match which {
        AuditPrune::Before(moment) => ("time < $1", integer(moment)),
        AuditPrune::Refusals => ("outcome <> 'OK' AND time < $1", FOREVER),
        AuditPrune::Any => ("time < $1", FOREVER),
    };
    let sql = format!(
        "DELETE FROM audit
        WHERE number IN (SELECT number FROM audit WHERE {rows} ORDER BY time, number LIMIT $2)"
    );
    run(db, &sql, &[&before, &i64::from(most)]).await
}

/// Later than every moment.
const FOREVER: i64 = i64::MAX;

fn matching(filter: &AuditFilter) -> Matching {
    let mut matching = Matching::default();
    if let Some(outcome) = &filter.outcome {
        matching.compare("outcome =", outcome.clone(), Type::TEXT);
        if outcome != DONE {
            // The condition of the partial index, without which PostgreSQL does not use it.
            matching.require("outcome <> 'OK'");
        }
    }
    if let Some(procedure) = &filter.procedure {
        matching.compare("procedure =", procedure.clone(), Type::TEXT);
    }
    if let Some(actor_id) = &filter.actor_id {
        matching.compare("actor_id =", actor_id.clone(), Type::TEXT);
    }
    if let Some(from) = filter.from {
        matching.compare("time >=", integer(from), Type::INT8);
    }
    if let Some(until) = filter.until {
        matching.compare("time <", integer(until), Type::INT8);
    }
    matching
}

fn row(row: &Row) -> Result<AuditRow> {
    let authentication = Authentication::named(row.try_get(3)?);
    let address: Option<&str> = row.try_get(5)?;
    Ok(AuditRow {
        number: count_of(row, 0)?,
        entry: AuditEntry {
            time: timestamp(row, 1)?,
            actor_id: row.try_get(2)?,
            authentication: authentication.ok_or_else(|| unexpected("an authentication"))?,
            credential_id: row.try_get(4)?,
            address: address.and_then(|address| address.parse().ok()),
            request_id: row.try_get(6)?,
            procedure: row.try_get(7)?,
            provider: optional_provider(row, 8)?,
            target: row.try_get(9)?,
            created: count_of(row, 10)?,
            outcome: row.try_get(11)?,
            times: count_of(row, 12)?,
        },
    })
}
