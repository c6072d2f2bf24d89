//! Statements on the audit log.

use portico_storage::{AuditEntry, AuditFilter, AuditPrune, AuditRow, Authentication, DONE, Result};

use crate::database::{Database, Row, invalid};
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::Runner;
use crate::values::{optional_provider, provider_text, saturated, timestamp, unsigned};

/// The rows that match a filter, by one index and its condition. Conditions that are not used are decided first, so
/// that SQLite reads no column for them.
macro_rules! matching {
    ($index:literal, $condition:literal) => {
        concat!(
            " FROM ~audit [index ",
            $index,
            "] WHERE ",
            $condition,
            " AND time >= $1 AND time < $2 AND (CAST($3 AS text) IS NULL OR outcome = $3)
                AND (CAST($4 AS text) IS NULL OR procedure = $4) AND (CAST($5 AS text) IS NULL OR actor_id = $5)"
        )
    };
}

macro_rules! list {
    ($index:literal, $condition:literal) => {
        concat!(
            "SELECT number, time, actor_id, authentication, credential_id, address, request_id, procedure,
                provider, target, created, outcome, times, groups",
            matching!($index, $condition),
            " ORDER BY time DESC, number DESC LIMIT $6 OFFSET $7"
        )
    };
}

macro_rules! count {
    ($index:literal, $condition:literal) => {
        concat!("SELECT count(*)", matching!($index, $condition))
    };
}

macro_rules! prune {
    ($index:literal, $condition:literal) => {
        concat!(
            "DELETE FROM ~audit WHERE number IN (SELECT number FROM ~audit [index ",
            $index,
            "] WHERE ",
            $condition,
            " ORDER BY time, number LIMIT $2)"
        )
    };
}

declare! {
    LIST = Sql::long(list!("audit_by_time", "1 = 1"));
    LIST_BY_ACTOR = Sql::long(list!("audit_by_actor", "actor_id = $5"));
    LIST_BY_PROCEDURE = Sql::long(list!("audit_by_procedure", "procedure = $4"));
    LIST_REFUSALS = Sql::long(list!("audit_refusals", "outcome = $3 AND outcome <> 'OK'"));
    COUNT_ALL = Sql::long("SELECT count(*) FROM ~audit");
    COUNT = Sql::long(count!("audit_by_time", "1 = 1"));
    COUNT_BY_ACTOR = Sql::long(count!("audit_by_actor", "actor_id = $5"));
    COUNT_BY_PROCEDURE = Sql::long(count!("audit_by_procedure", "procedure = $4"));
    COUNT_REFUSALS = Sql::long(count!("audit_refusals", "outcome = $3 AND outcome <> 'OK'"));
    PRUNE = Sql::unbounded(prune!("audit_by_time", "time < $1"));
    PRUNE_REFUSALS = Sql::unbounded(prune!("audit_refusals", "outcome <> 'OK' AND time < $1"));
}

/// The insertion of rows, which depend on nothing that is stored.
pub static AUDIT: Insert = Insert {
    table: "audit",
    columns: &[
        ("time", Column::Number),
        ("actor_id", Column::Text),
        ("authentication", Column::Text),
        ("credential_id", Column::Text),
        ("address", Column::Text),
        ("request_id", Column::Text),
        ("procedure", Column::Text),
        ("provider", Column::Text),
        ("target", Column::Text),
        ("created", Column::Number),
        ("outcome", Column::Text),
        ("times", Column::Number),
        ("groups", Column::Text),
    ],
    leaves_out_duplicates: false,
    lock: Lock::Alongside,
};

/// The values of a row.
pub fn audit_values(entry: &AuditEntry) -> Vec<Value> {
    let address = entry.address.map(|address| address.to_string());
    vec![
        saturated(entry.time).into(),
        (&entry.actor_id).into(),
        entry.authentication.into(),
        (&entry.credential_id).into(),
        (&address).into(),
        (&entry.request_id).into(),
        (&entry.procedure).into(),
        entry.provider.map(provider_text).into(),
        (&entry.target).into(),
        saturated(entry.created).into(),
        (&entry.outcome).into(),
        saturated(entry.times).into(),
        (&entry.groups).into(),
    ]
}

impl<D: Database> Runner<D> {
    pub(crate) async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()> {
        self.insert_deferred(&AUDIT, vec![audit_values(entry)]).await
    }

    pub(crate) async fn list_audit(
        &mut self,
        filter: &AuditFilter,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<AuditRow>> {
        let [sql, _] = statements_of(filter);
        let mut values = filter_values(filter);
        values.extend([limit.into(), saturated(offset).into()]);
        self.list(sql, values, row).await
    }

    pub(crate) async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64> {
        // Without a condition, SQLite counts by pages.
        if is_everything(filter) {
            return self.count(&COUNT_ALL, Vec::new()).await;
        }
        let [_, sql] = statements_of(filter);
        self.count(sql, filter_values(filter)).await
    }

    pub(crate) async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64> {
        let (sql, before) = match which {
            AuditPrune::Before(moment) => (&PRUNE, saturated(moment)),
            AuditPrune::Any => (&PRUNE, i64::MAX),
            AuditPrune::Refusals => (&PRUNE_REFUSALS, i64::MAX),
        };
        self.execute(sql, vec![before.into(), most.into()]).await
    }
}

/// How the rows of a filter are listed and counted: by the index that finds the fewest.
fn statements_of(filter: &AuditFilter) -> [&'static Sql; 2] {
    let is_refusal = filter.outcome.as_ref().is_some_and(|outcome| outcome != DONE);
    match filter {
        AuditFilter {
            actor_id: Some(_), ..
        } => [&LIST_BY_ACTOR, &COUNT_BY_ACTOR],
        AuditFilter {
            procedure: Some(_), ..
        } => [&LIST_BY_PROCEDURE, &COUNT_BY_PROCEDURE],
        _ if is_refusal => [&LIST_REFUSALS, &COUNT_REFUSALS],
        _ => [&LIST, &COUNT],
    }
}

fn is_everything(filter: &AuditFilter) -> bool {
    let AuditFilter {
        actor_id,
        procedure,
        outcome,
        from,
        until,
    } = filter;
    actor_id.is_none() && procedure.is_none() && outcome.is_none() && from.is_none() && until.is_none()
}

fn filter_values(filter: &AuditFilter) -> Vec<Value> {
    vec![
        filter.from.map_or(i64::MIN, saturated).into(),
        filter.until.map_or(i64::MAX, saturated).into(),
        (&filter.outcome).into(),
        (&filter.procedure).into(),
        (&filter.actor_id).into(),
    ]
}

fn row(row: &dyn Row) -> Result<AuditRow> {
    let authentication = Authentication::named(&row.text(3)?);
    let address = row.get_text(5)?;
    Ok(AuditRow {
        number: unsigned(row, 0)?,
        entry: AuditEntry {
            time: timestamp(row, 1)?,
            actor_id: row.get_text(2)?,
            authentication: authentication.ok_or_else(|| invalid("authentication"))?,
            credential_id: row.get_text(4)?,
            address: address.and_then(|address| address.parse().ok()),
            request_id: row.text(6)?,
            procedure: row.text(7)?,
            provider: optional_provider(row, 8)?,
            target: row.get_text(9)?,
            created: unsigned(row, 10)?,
            outcome: row.text(11)?,
            times: unsigned(row, 12)?,
            groups: row.get_text(13)?,
        },
    })
}
