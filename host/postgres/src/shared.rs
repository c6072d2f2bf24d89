//! The records that hosts share, in the table `shared_record`.
//!
//! A step takes two round trips: BEGIN, the locks of its records and the reads are sent together, and so are the writes
//! and COMMIT. The locks are advisory locks on the records' keys, taken in one order. So a record need not exist to be
//! locked, and steps cannot deadlock. They are independent of the lock of write transactions (`locks.rs`).
//!
//! Once a minute, or after many changes, a host removes expired and excess records, unless another host is doing so.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use portico_model::Timestamp;
use portico_storage::driver::{WAIT_TIMEOUT, waited_too_long};
use portico_storage::{Change, RecordKey, RecordKind, Result, SharedRecord, SharedRecords, hash_secret};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

use super::connection::Connection;
use super::pool::{For, Pool};
use super::query::{self, Failure};
use super::session::Session;

/// A removal happens at this interval, or after this many changes, if there are changes.
const TIME_BETWEEN_REMOVALS: Duration = Duration::from_secs(60);
const CHANGES_BETWEEN_REMOVALS: u32 = 10_000;
/// The most records that one statement removes.
const REMOVED_AT_ONCE: i64 = 10_000;

/// The first half of the lock for removals ("Prtd"); the second is the installation.
const REMOVAL_LOCK: i32 = 0x5072_7464;

const READ: &str = "
    SELECT (extract(epoch FROM moment) * 1000)::bigint, value, rank, ends_at
    FROM (SELECT clock_timestamp() AS moment) AS clock
        CROSS JOIN unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS wanted (kind, key, number)
        LEFT JOIN shared_record ON shared_record.kind = wanted.kind AND shared_record.key = wanted.key
    ORDER BY number";

const WRITE: &str = "
    INSERT INTO shared_record (kind, key, value, rank, ends_at)
    SELECT * FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[])
    ON CONFLICT (kind, key) DO UPDATE
        SET value = excluded.value, rank = excluded.rank, ends_at = excluded.ends_at";

/// Leaves rows that a step is writing to the next removal.
const REMOVE_ENDED: &str = "
    DELETE FROM shared_record
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM shared_record
        WHERE ends_at <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        ORDER BY ends_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ))";

const REMOVE_BEYOND: &str = "
    DELETE FROM shared_record
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM shared_record
        WHERE kind = $1
            AND rank <= (SELECT rank FROM shared_record WHERE kind = $1 ORDER BY rank DESC OFFSET $2 LIMIT 1)
        ORDER BY rank LIMIT $3 FOR UPDATE SKIP LOCKED
    ))";

/// The records that the hosts on a database share.
#[derive(Clone)]
pub(super) struct PostgresShared(Arc<State>);

struct State {
    pool: Arc<Pool>,
    installation: i32,
    removal: Mutex<NextRemoval>,
}

/// What decides when records are removed next.
struct NextRemoval {
    last: Instant,
    changes: u32,
}

impl PostgresShared {
    pub fn new(pool: Arc<Pool>, installation: i32) -> Self {
        Self(Arc::new(State {
            pool,
            installation,
            removal: Mutex::new(NextRemoval {
                last: Instant::now(),
                changes: 0,
            }),
        }))
    }
}

#[async_trait]
impl SharedRecords for PostgresShared {
    async fn read(&self, keys: &[RecordKey]) -> Result<(Vec<Option<SharedRecord>>, Timestamp)> {
        let mut session = Session::take(&self.0.pool, For::Reading).await?;
        self.0.read(&mut session, keys).await
    }

    async fn step(&self, keys: &[RecordKey], change: &mut Change<'_>) -> Result<()> {
        let step = timeout(WAIT_TIMEOUT, self.step_without_limit(keys, change)).await;
        step.map_err(|_| waited_too_long())?
    }
}

impl PostgresShared {
    async fn step_without_limit(&self, keys: &[RecordKey], change: &mut Change<'_>) -> Result<()> {
        let mut session = Session::take(&self.0.pool, For::Step).await?;
        session.begin(self.0.begin(keys));
        let (mut records, now) = self.0.read(&mut session, keys).await?;
        let before = records.clone();
        change(&mut records, now);
        let changed = keys.iter().zip(records).zip(before);
        let changed: Vec<_> = changed
            .filter(|((_, record), before)| record != before)
            .map(|((key, record), _)| (key, record))
            .collect();
        // If nothing has changed, the session rolls back.
        if !changed.is_empty() {
            self.0.commit(session, &changed).await?;
            self.0.remove_if_due();
        }
        Ok(())
    }
}

impl State {
    /// The statements that begin a step: each record has a lock of its own, or shares one by chance.
    fn begin(&self, keys: &[RecordKey]) -> String {
        let locks: BTreeSet<i64> = keys.iter().map(|key| lock(self.installation, key)).collect();
        let locks: String = locks
            .iter()
            .map(|lock| format!("SELECT pg_advisory_xact_lock({lock}); "))
            .collect();
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {locks}SET LOCAL statement_timeout = {}",
            self.pool.target.limits.write.as_millis()
        )
    }

    /// The records that have not expired, and the time.
    async fn read(
        &self,
        session: &mut Session,
        keys: &[RecordKey],
    ) -> Result<(Vec<Option<SharedRecord>>, Timestamp)> {
        let read = read(session.connection(), keys).await;
        self.finish(session, read).await
    }

    /// Writes these records with the COMMIT. `None` marks a record as expired; it is removed later, with others.
    async fn commit(
        &self,
        mut session: Session,
        changed: &[(&RecordKey, Option<SharedRecord>)],
    ) -> Result<()> {
        let prepared = session.connection().prepared(WRITE, &[]).await;
        self.finish(&mut session, prepared.map_err(Failure::from)).await?;
        let db = session.connection_to_commit();
        session.commit(write(&db, changed)).await
    }

    /// Notes how statements of a session ended.
    async fn finish<T>(&self, session: &mut Session, result: query::Result<T>) -> Result<T> {
        let result = session.finish(result).await;
        result.map_err(|failure| self.pool.health.translate(failure))
    }

    /// Notes a change, and begins a removal if one is due.
    fn remove_if_due(self: &Arc<Self>) {
        let mut removal = self.removal.lock().unwrap_or_else(PoisonError::into_inner);
        removal.changes += 1;
        if removal.last.elapsed() < TIME_BETWEEN_REMOVALS && removal.changes < CHANGES_BETWEEN_REMOVALS {
            return;
        }
        *removal = NextRemoval {
            last: Instant::now(),
            changes: 0,
        };
        drop(removal);
        let this = self.clone();
        tokio::spawn(async move {
            if let Err(error) = this.remove().await {
                tracing::warn!(?error, "ended records that hosts share could not be removed");
            }
        });
    }

    /// Removes expired and excess records, unless another host is doing so.
    async fn remove(&self) -> Result<()> {
        let mut session = Session::take(&self.pool, For::Step).await?;
        session.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
        let removed = remove(session.connection(), self.installation).await;
        self.finish(&mut session, removed).await?;
        session.closed();
        Ok(())
    }
}

/// The number of a record's lock. Installations in one database have different ones.
fn lock(installation: i32, key: &RecordKey) -> i64 {
    let bytes: String = key.key.iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = hash_secret(&format!("{installation} {} {bytes}", key.kind.name()));
    hash.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

async fn read(db: &Connection, keys: &[RecordKey]) -> query::Result<(Vec<Option<SharedRecord>>, Timestamp)> {
    let kinds: Vec<&str> = keys.iter().map(|key| key.kind.name()).collect();
    let bytes: Vec<&[u8]> = keys.iter().map(|key| &key.key[..]).collect();
    let statement = db.prepared(READ, &[]).await?;
    let rows = db
        .wait_for(db.client().query(&statement, &[&kinds, &bytes]))
        .await?;
    let (mut records, mut now) = (Vec::new(), 0);
    for row in rows {
        let number = |column| Ok::<_, tokio_postgres::Error>(row.try_get::<_, i64>(column)?.unsigned_abs());
        now = number(0)?;
        let record = match row.try_get(1)? {
            Some(value) => Some(SharedRecord {
                value,
                rank: row.try_get(2)?,
                ends_at: number(3)?,
            }),
            None => None,
        };
        records.push(record.filter(|record| now < record.ends_at));
    }
    Ok((records, now))
}

async fn write(db: &Connection, changed: &[(&RecordKey, Option<SharedRecord>)]) -> query::Result<()> {
    let (mut kinds, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ranks, mut ends) = (Vec::new(), Vec::new());
    for (key, record) in changed {
        kinds.push(key.kind.name());
        keys.push(&key.key[..]);
        values.push(record.as_ref().map_or(&[][..], |record| &record.value));
        ranks.push(record.as_ref().map_or(i64::MIN, |record| record.rank));
        let ends_at = record.as_ref().map_or(0, |record| record.ends_at);
        ends.push(i64::try_from(ends_at).unwrap_or(i64::MAX));
    }
    let statement = db.prepared(WRITE, &[]).await?;
    let values: [&(dyn ToSql + Sync); 5] = [&kinds, &keys, &values, &ranks, &ends];
    db.wait_for(db.client().execute(&statement, &values)).await?;
    Ok(())
}

/// Removes, and commits; does nothing if another host has the lock.
async fn remove(db: &Connection, installation: i32) -> query::Result<()> {
    let sql = "SELECT pg_try_advisory_xact_lock($1, $2)";
    let statement = db.prepared(sql, &[]).await?;
    let values: [&(dyn ToSql + Sync); 2] = [&REMOVAL_LOCK, &installation];
    let row = db.wait_for(db.client().query_one(&statement, &values)).await?;
    if row.try_get(0)? {
        let statement = db.prepared(REMOVE_ENDED, &[]).await?;
        db.wait_for(db.client().execute(&statement, &[&REMOVED_AT_ONCE]))
            .await?;
        let statement = db.prepared(REMOVE_BEYOND, &[]).await?;
        for kind in RecordKind::ALL {
            let (name, most) = (kind.name(), i64::from(kind.most()));
            let values: [&(dyn ToSql + Sync); 3] = [&name, &most, &REMOVED_AT_ONCE];
            db.wait_for(db.client().execute(&statement, &values)).await?;
        }
    }
    Ok(db.wait_for(db.send("COMMIT")).await?)
}
