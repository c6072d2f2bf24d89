//! The counts, in the records that hosts share.
//!
//! Invariants:
//! - The beginning and the end of an attempt are one step of the store each, by its clock.
//! - At most [`AT_ONCE`] of a host's connections to the store serve beginnings, and addresses take turns: a flood of
//!   guesses leaves the other connections to other calls.
//! - If the store does not respond, the attempt is refused.

use std::{sync::Arc, time::Duration};

use portico_model::{Timestamp, error::Error};
use portico_rules::refusal::Refusal;
use portico_storage::{RecordKey, RecordKind, Result as StorageResult, SharedRecord, SharedRecords};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;

use super::{
    count::Expiring,
    rules::{self, Attempt, Outcome},
    subject::{Source, Subject},
};
use crate::fair_semaphore::FairSemaphore;

/// How many attempts of a host may begin at the same time.
const AT_ONCE: usize = 4;
/// How long an attempt waits until it can begin.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

pub(super) struct Counts {
    records: Arc<dyn SharedRecords>,
    turns: Arc<FairSemaphore<Option<Source>>>,
}

impl Counts {
    pub fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self {
            records,
            turns: FairSemaphore::new(AT_ONCE),
        }
    }

    /// Begins an attempt, or returns the milliseconds until one may begin. A refused attempt is not counted.
    pub async fn begin(&self, subject: Subject) -> Result<Result<Attempt, Timestamp>, Error> {
        let turn = timeout(LONGEST_WAIT, self.turns.acquire(subject.source));
        let _turn = turn
            .await
            .map_err(|_| Error::from(Refusal::TooManySignIns).retry_after(LONGEST_WAIT.as_secs()))?;
        let keys = keys(subject);
        let begin = |records: &mut [Option<SharedRecord>], now| begin(subject, &keys, records, now);
        Ok(self.records.change(&keys, begin).await?)
    }

    /// Ends an attempt, and counts its outcome.
    pub async fn end(&self, attempt: Attempt, outcome: Outcome) -> StorageResult<()> {
        // A failure without an account was already counted at its beginning.
        if attempt.subject.account.is_none() && outcome == Outcome::Failed {
            return Ok(());
        }
        let keys = keys(attempt.subject);
        let end = |records: &mut [Option<SharedRecord>], now| end(attempt, outcome, &keys, records, now);
        self.records.change(&keys, end).await
    }
}

/// The keys of the records that an attempt depends on.
pub(super) fn keys(subject: Subject) -> Vec<RecordKey> {
    let account = subject.account.map(|account| account.bytes().to_vec());
    let source = subject.source.map(Source::bytes);
    let pair = account.clone().zip(source.clone());
    let pair = pair.map(|(account, source)| [account, source].concat());
    let keys = [
        (RecordKind::AccountFailures, account),
        (RecordKind::KnownSource, pair),
        (RecordKind::SourceAttempts, source),
    ];
    let keys = keys.into_iter();
    keys.filter_map(|(kind, key)| Some(RecordKey::new(kind, key?)))
        .collect()
}

/// Begins an attempt in the records of these keys.
pub(super) fn begin(
    subject: Subject,
    keys: &[RecordKey],
    records: &mut [Option<SharedRecord>],
    now: Timestamp,
) -> Result<Attempt, Timestamp> {
    let mut counts = read(keys, records);
    let begun = rules::begin(subject, &mut counts, now)?;
    write(keys, records, &counts, now);
    Ok(begun)
}

/// Ends an attempt in the records of these keys.
pub(super) fn end(
    attempt: Attempt,
    outcome: Outcome,
    keys: &[RecordKey],
    records: &mut [Option<SharedRecord>],
    now: Timestamp,
) {
    let mut counts = read(keys, records);
    rules::end(attempt, &mut counts, outcome, now);
    write(keys, records, &counts, now);
}

fn read(keys: &[RecordKey], records: &[Option<SharedRecord>]) -> rules::Counts {
    let mut counts = rules::Counts::default();
    for (key, record) in keys.iter().zip(records) {
        match key.kind {
            RecordKind::AccountFailures => counts.account = entry_of(record),
            RecordKind::KnownSource => counts.known = entry_of(record),
            _ => counts.source = entry_of(record),
        }
    }
    counts
}

fn write(keys: &[RecordKey], records: &mut [Option<SharedRecord>], counts: &rules::Counts, now: Timestamp) {
    for (key, record) in keys.iter().zip(records) {
        match key.kind {
            RecordKind::AccountFailures => put(record, &counts.account, now),
            RecordKind::KnownSource => put(record, &counts.known, now),
            _ => put(record, &counts.source, now),
        }
    }
}

/// The entry in a record. An entry that cannot be read is from a version that counts differently: it starts again.
fn entry_of<E: Expiring + DeserializeOwned>(record: &Option<SharedRecord>) -> E {
    let entry = record
        .as_ref()
        .and_then(|record| serde_json::from_slice(&record.value).ok());
    entry.unwrap_or_default()
}

/// Puts an entry into a record, unless the record has it.
fn put<E: Expiring + Serialize + DeserializeOwned + PartialEq>(
    record: &mut Option<SharedRecord>,
    entry: &E,
    now: Timestamp,
) {
    if entry_of::<E>(record) == *entry {
        return;
    }
    *record = (!entry.is_over(now)).then(|| SharedRecord {
        // Numbers always become JSON.
        value: serde_json::to_vec(entry).unwrap_or_default(),
        rank: entry.rank(),
        ends_at: entry.ends_at(),
    });
}
