//! The counts in a store that several hosts share.
//!
//! Invariants:
//! - A beginning and an end are one step of the store each, so that hosts count like one host, by the clock of
//!   the store.
//! - Of a host's connections to the store at most [`AT_ONCE`] serve beginnings, and addresses take turns: a
//!   flood of guesses leaves the others to other calls.
//! - If the store does not answer, the attempt is refused.

use std::{sync::Arc, time::Duration};

use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_storage::{RecordKey, RecordKind, Result as StorageResult, SharedRecord, SharedRecords};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;

use super::{
    count::Entry,
    rules::{self, Attempt, Counts, Outcome},
    subject::{Source, Subject},
};
use crate::fair_semaphore::FairSemaphore;

/// How many attempts of a host may begin at once.
const AT_ONCE: usize = 4;
/// How long an attempt waits until it can begin.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

pub(super) struct SharedCounts {
    records: Arc<dyn SharedRecords>,
    turns: Arc<FairSemaphore<Option<Source>>>,
}

impl SharedCounts {
    pub fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self {
            records,
            turns: FairSemaphore::new(AT_ONCE),
        }
    }

    /// Begins an attempt, or gives the milliseconds until one may begin. A refused attempt is not counted.
    pub async fn begin(&self, subject: Subject) -> Result<Result<Attempt, Timestamp>, Error> {
        let turn = timeout(LONGEST_WAIT, self.turns.acquire(subject.source));
        let _turn = turn.await.map_err(|_| {
            let too_many = "Too many sign-ins at once; try again in a moment";
            Error::new(Code::ServiceUnavailable, too_many).retry_after(LONGEST_WAIT.as_secs())
        })?;
        let entries = Entries::of(subject);
        let begun = self.records.change(&entries.keys, |records, now| {
            let mut counts = entries.read(records);
            let begun = rules::begin(subject, &mut counts, now)?;
            entries.write(records, &counts, now);
            Ok(begun)
        });
        Ok(begun.await?)
    }

    /// Ends an attempt, and counts its outcome.
    pub async fn end(&self, attempt: Attempt, outcome: Outcome) -> StorageResult<()> {
        let entries = Entries::of(attempt.subject);
        // What failed without an account has been counted at its beginning.
        if attempt.subject.account.is_none() && outcome == Outcome::Failed {
            return Ok(());
        }
        let end = self.records.change(&entries.keys, |records, now| {
            let mut counts = entries.read(records);
            rules::end(attempt, &mut counts, outcome, now);
            entries.write(records, &counts, now);
        });
        end.await
    }
}

/// The records of an attempt's counts.
struct Entries {
    keys: Vec<RecordKey>,
}

impl Entries {
    fn of(subject: Subject) -> Self {
        let account = subject.account.map(|account| account.bytes().to_vec());
        let source = subject.source.map(Source::bytes);
        let pair = account.clone().zip(source.clone());
        let keys = [
            (RecordKind::AccountFailures, account),
            (
                RecordKind::KnownSource,
                pair.map(|(account, source)| [account, source].concat()),
            ),
            (RecordKind::SourceAttempts, source),
        ];
        let keys = keys.into_iter();
        Self {
            keys: keys
                .filter_map(|(kind, key)| Some(RecordKey::new(kind, key?)))
                .collect(),
        }
    }

    fn read(&self, records: &[Option<SharedRecord>]) -> Counts {
        let mut counts = Counts::default();
        for (key, record) in self.keys.iter().zip(records) {
            match key.kind {
                RecordKind::AccountFailures => counts.account = entry_of(record),
                RecordKind::KnownSource => counts.known = entry_of(record),
                _ => counts.source = entry_of(record),
            }
        }
        counts
    }

    fn write(&self, records: &mut [Option<SharedRecord>], counts: &Counts, now: Timestamp) {
        for (key, record) in self.keys.iter().zip(records) {
            match key.kind {
                RecordKind::AccountFailures => put(record, &counts.account, now),
                RecordKind::KnownSource => put(record, &counts.known, now),
                _ => put(record, &counts.source, now),
            }
        }
    }
}

/// The entry in a record. One that cannot be read is that of a version that counts otherwise: it begins anew.
fn entry_of<E: Entry + DeserializeOwned>(record: &Option<SharedRecord>) -> E {
    let entry = record
        .as_ref()
        .and_then(|record| serde_json::from_slice(&record.value).ok());
    entry.unwrap_or_default()
}

/// Puts an entry into a record, unless the record has it.
fn put<E: Entry + Serialize + DeserializeOwned + PartialEq>(
    record: &mut Option<SharedRecord>,
    entry: &E,
    now: Timestamp,
) {
    if entry_of::<E>(record) == *entry {
        return;
    }
    *record = (!entry.is_over(now)).then(|| SharedRecord {
        // Numbers become JSON without fail.
        value: serde_json::to_vec(entry).unwrap_or_default(),
        rank: entry.rank(),
        ends_at: entry.ends_at(),
    });
}
