//! Records that hosts share, in memory: for tests, in which several hosts run in one process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use portico_model::Timestamp;
use portico_model::time::Clock;

use crate::records::{Error, Result};
use crate::shared::{Change, RecordKey, SharedRecord, SharedRecords};

/// Records in memory. Clones share them.
#[derive(Clone)]
pub struct MemoryRecords(Arc<Kept>);

struct Kept {
    records: Mutex<BTreeMap<RecordKey, SharedRecord>>,
    clock: Arc<dyn Clock>,
    fails: AtomicBool,
}

impl MemoryRecords {
    /// None yet; they end by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Kept {
            records: Mutex::default(),
            clock,
            fails: AtomicBool::new(false),
        }))
    }

    /// From now on every use of it fails, or none does.
    pub fn fail(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::Relaxed);
    }

    fn records(&self) -> Result<MutexGuard<'_, BTreeMap<RecordKey, SharedRecord>>> {
        if self.0.fails.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("the records fail".into()));
        }
        Ok(self.0.records.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl SharedRecords for MemoryRecords {
    async fn read(&self, keys: &[RecordKey]) -> Result<(Vec<Option<SharedRecord>>, Timestamp)> {
        let mut found = (Vec::new(), 0);
        self.step(keys, &mut |records, now| found = (records.to_vec(), now))
            .await?;
        Ok(found)
    }

    async fn step(&self, keys: &[RecordKey], change: &mut Change<'_>) -> Result<()> {
        let mut kept = self.records()?;
        let now = self.0.clock.now();
        let found = keys.iter().map(|key| kept.get(key).cloned());
        let mut records: Vec<_> = found
            .map(|record| record.filter(|record| now < record.ends_at))
            .collect();
        change(&mut records, now);
        for (key, record) in keys.iter().zip(records) {
            match record {
                Some(record) => drop(kept.insert(key.clone(), record)),
                None => drop(kept.remove(key)),
            }
        }
        for kind in keys.iter().map(|key| key.kind) {
            let of_kind = kept.iter().filter(|(key, _)| key.kind == kind);
            let mut by_rank: Vec<_> = of_kind.map(|(key, record)| (record.rank, key.clone())).collect();
            by_rank.sort_unstable();
            let excess = by_rank.len().saturating_sub(kind.most() as usize);
            for (_, key) in by_rank.into_iter().take(excess) {
                kept.remove(&key);
            }
        }
        Ok(())
    }
}
