//! Statements on the audit log.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Result, Row, params};

use super::matching::Matching;
use super::query::{all, first, run};
use super::values::{EnumText, TimestampMillis};
use portico_storage::{AuditEntry, AuditFilter, AuditPrune, AuditRow, Authentication, DONE};

pub(super) fn insert(db: &Connection, entry: &AuditEntry) -> Result<()> {
    let sql = "
        INSERT INTO audit (time, actor_id, authentication, credential_id, address, request_id, procedure,
            provider, target, created, outcome, times)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let values = params![
        TimestampMillis(entry.time),
        entry.actor_id,
        entry.authentication,
        entry.credential_id,
        entry.address.map(|address| address.to_string()),
        entry.request_id,
        entry.procedure,
        entry.provider.map(EnumText),
        entry.target,
        integer(entry.created),
        entry.outcome,
        integer(entry.times),
    ];
    run(db, sql, values).map(drop)
}

pub(super) fn list(db: &Connection, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>> {
    let (index, mut matching) = matching(filter);
    let (condition, limit) = (matching.condition(), matching.parameter(limit));
    let offset = matching.parameter(integer(offset));
    let sql = format!(
        "SELECT number, time, actor_id, authentication, credential_id, address, request_id, procedure,
            provider, target, created, outcome, times
        FROM audit INDEXED BY {index} {condition} ORDER BY time DESC, number DESC LIMIT {limit} OFFSET {offset}"
    );
    all(db, &sql, matching.values(), row)
}

pub(super) fn count(db: &Connection, filter: &AuditFilter) -> Result<u64> {
    let (index, matching) = matching(filter);
    let sql = match &*matching.condition() {
        // Counts by pages, which is quicker than by rows.
        "" => "SELECT count(*) FROM audit".into(),
        condition => format!("SELECT count(*) FROM audit INDEXED BY {index} {condition}"),
    };
    let count: Option<i64> = first(db, &sql, matching.values(), |row| row.get(0))?;
    Ok(count.map_or(0, i64::unsigned_abs))
}

pub(super) fn prune(db: &Connection, which: AuditPrune, most: u32) -> Result<u64> {
    let (rows, before) = match which {
        AuditPrune::Before(moment) => ("INDEXED BY audit_by_time WHERE time < ?1", moment),
        AuditPrune::Refusals => (
            "INDEXED BY audit_refusals WHERE outcome <> 'OK' AND time < ?1",
            FOREVER,
        ),
        AuditPrune::Any => ("INDEXED BY audit_by_time WHERE time < ?1", FOREVER),
    };
    let sql = format!(
        "DELETE FROM audit WHERE number IN (SELECT number FROM audit {rows} ORDER BY time, number LIMIT ?2)"
    );
    Ok(run(db, &sql, params![TimestampMillis(before), most])? as u64)
}

/// Later than every moment.
const FOREVER: u64 = i64::MAX as u64;

/// An index that orders by time, and the conditions.
fn matching(filter: &AuditFilter) -> (&'static str, Matching) {
    let (mut index, mut matching) = ("audit_by_time", Matching::default());
    if let Some(outcome) = &filter.outcome {
        matching.compare("outcome =", outcome.clone());
        if outcome != DONE {
            index = "audit_refusals";
            // The condition of the partial index, without which SQLite does not use it.
            matching.require("outcome <> 'OK'");
        }
    }
    if let Some(procedure) = &filter.procedure {
        index = "audit_by_procedure";
        matching.compare("procedure =", procedure.clone());
    }
    if let Some(actor_id) = &filter.actor_id {
        index = "audit_by_actor";
        matching.compare("actor_id =", actor_id.clone());
    }
    if let Some(from) = filter.from {
        matching.compare("time >=", integer(from));
    }
    if let Some(until) = filter.until {
        matching.compare("time <", integer(until));
    }
    (index, matching)
}

fn row(row: &Row<'_>) -> Result<AuditRow> {
    let number = |index| row.get::<_, i64>(index).map(i64::unsigned_abs);
    let authentication: String = row.get(3)?;
    let address: Option<String> = row.get(5)?;
    Ok(AuditRow {
        number: number(0)?,
        entry: AuditEntry {
            time: row.get::<_, TimestampMillis>(1)?.0,
            actor_id: row.get(2)?,
            authentication: Authentication::named(&authentication).ok_or(FromSqlError::InvalidType)?,
            credential_id: row.get(4)?,
            address: address.and_then(|address| address.parse().ok()),
            request_id: row.get(6)?,
            procedure: row.get(7)?,
            provider: row.get::<_, Option<EnumText<_>>>(8)?.map(|word| word.0),
            target: row.get(9)?,
            created: number(10)?,
            outcome: row.get(11)?,
            times: number(12)?,
        },
    })
}

/// The number, or SQLite's largest integer if it is larger.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
