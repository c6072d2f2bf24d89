//! Turns: work that only one of the hosts on a storage does at a time.

use std::sync::Arc;
use std::time::Duration;

use portico_model::Timestamp;

use super::{RecordKey, RecordKind, SharedRecord, SharedRecords};
use crate::records::Result;
use crate::secrets::{Random, SystemRandom};

/// The right to do work that only one host does at a time. It expires if its host does not end it.
pub struct Turn {
    records: Arc<dyn SharedRecords>,
    key: RecordKey,
    owner: Vec<u8>,
}

impl Turn {
    /// Takes the turn at this work, for `longest` at most, unless another host has it.
    pub async fn take(
        records: &Arc<dyn SharedRecords>,
        work: &str,
        longest: Duration,
    ) -> Result<Option<Self>> {
        let mut owner = vec![0; 16];
        SystemRandom.fill(&mut owner);
        let turn = Self {
            records: records.clone(),
            key: RecordKey::new(RecordKind::Turn, work),
            owner,
        };
        let longest = Timestamp::try_from(longest.as_millis()).unwrap_or(Timestamp::MAX);
        let keys = [turn.key.clone()];
        let taken = records.change(&keys, |records, now| {
            let is_free = records[0].is_none();
            if is_free {
                let ends_at = now.saturating_add(longest);
                records[0] = Some(SharedRecord {
                    value: turn.owner.clone(),
                    rank: i64::try_from(ends_at).unwrap_or(i64::MAX),
                    ends_at,
                });
            }
            is_free
        });
        Ok(taken.await?.then_some(turn))
    }

    /// Ends the turn, if it has not expired.
    pub async fn end(self) -> Result<()> {
        let keys = [self.key];
        let end = self.records.change(&keys, |records, _| {
            if let Some(record) = &records[0]
                && record.value == self.owner
            {
                records[0] = None;
            }
        });
        end.await
    }
}
