//! The driver in memory, for a host that is alone on its storage. A restart forgets everything.
//!
//! Invariant: the time of a step grows with the logarithm of the number of records, however many of them expire at one
//! moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use portico_model::Timestamp;
use portico_model::time::Clock;

use super::{Change, RecordKey, RecordKind, SharedRecord, SharedRecords};
use crate::records::{Error, Result};

/// The most expired records that one change of a record removes.
const REMOVED_AT_ONCE: usize = 16;

/// Records in memory. Clones share them.
#[derive(Clone)]
pub struct MemoryRecords(Arc<State>);

struct State {
    kinds: Mutex<Kinds>,
    clock: Arc<dyn Clock>,
    fails: AtomicBool,
}

type Kinds = BTreeMap<RecordKind, Records>;

/// A key, which the indexes share.
type Key = Arc<[u8]>;

/// The records of one kind.
#[derive(Default)]
struct Records {
    by_key: BTreeMap<Key, SharedRecord>,
    by_rank: BTreeSet<(i64, Key)>,
    by_end: BTreeSet<(Timestamp, Key)>,
}

impl Records {
    fn get(&self, key: &[u8], now: Timestamp) -> Option<SharedRecord> {
        let record = self.by_key.get(key)?;
        (now < record.ends_at).then(|| record.clone())
    }

    /// Replaces or removes a record. If there are more than `most`, removes others of the lowest rank. The record that
    /// is written stays; otherwise, whoever fills the table could prevent low-ranking records from being counted.
    fn set(&mut self, key: &[u8], record: Option<SharedRecord>, most: usize, now: Timestamp) {
        self.remove(key);
        for _ in 0..REMOVED_AT_ONCE {
            match self.by_end.first() {
                Some((ends_at, key)) if *ends_at <= now => self.remove(&key.clone()),
                _ => break,
            }
        }
        let Some(record) = record else {
            return;
        };
        while self.by_key.len() >= most
            && let Some((_, lowest)) = self.by_rank.first()
        {
            self.remove(&lowest.clone());
        }
        let key: Key = key.into();
        self.by_rank.insert((record.rank, key.clone()));
        self.by_end.insert((record.ends_at, key.clone()));
        self.by_key.insert(key, record);
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some((key, record)) = self.by_key.remove_entry(key) {
            self.by_end.remove(&(record.ends_at, key.clone()));
            self.by_rank.remove(&(record.rank, key));
        }
    }
}

impl MemoryRecords {
    /// No records yet; they expire by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(State {
            kinds: Mutex::default(),
            clock,
            fails: AtomicBool::new(false),
        }))
    }

    /// Makes every use from now on fail, or lets every use succeed.
    pub fn fail(&self, fails: bool) {
        self.0.fails.store(fails, Ordering::Relaxed);
    }

    fn kinds(&self) -> Result<MutexGuard<'_, Kinds>> {
        if self.0.fails.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("the records fail".into()));
        }
        Ok(self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, kinds: &Kinds, keys: &[RecordKey]) -> (Vec<Option<SharedRecord>>, Timestamp) {
        let now = self.0.clock.now();
        let find = |key: &RecordKey| kinds.get(&key.kind)?.get(&key.key, now);
        (keys.iter().map(find).collect(), now)
    }
}

#[async_trait]
impl SharedRecords for MemoryRecords {
    async fn read(&self, keys: &[RecordKey]) -> Result<(Vec<Option<SharedRecord>>, Timestamp)> {
        Ok(self.find(&*self.kinds()?, keys))
    }

    async fn step(&self, keys: &[RecordKey], change: &mut Change<'_>) -> Result<()> {
        let mut kinds = self.kinds()?;
        let (before, now) = self.find(&kinds, keys);
        let mut records = before.clone();
        change(&mut records, now);
        let changed = keys.iter().zip(before).zip(records);
        for ((key, _), record) in changed.filter(|((_, before), record)| before != record) {
            let most = key.kind.most() as usize;
            let records = kinds.entry(key.kind).or_default();
            records.set(&key.key, record, most, now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    const MOST: u32 = 32_768;

    struct Set(AtomicU64);

    impl Clock for Set {
        fn now(&self) -> Timestamp {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn records() -> (MemoryRecords, Arc<Set>) {
        assert_eq!(RecordKind::AccountFailures.most(), MOST);
        let clock = Arc::new(Set(AtomicU64::new(1)));
        (MemoryRecords::new(clock.clone()), clock)
    }

    fn key(number: u32) -> [RecordKey; 1] {
        [RecordKey::new(RecordKind::AccountFailures, number.to_be_bytes())]
    }

    async fn put(records: &MemoryRecords, number: u32, rank: i64, ends_at: Timestamp) {
        let mut put = |records: &mut [Option<SharedRecord>], _| {
            records[0] = Some(SharedRecord {
                value: number.to_be_bytes().into(),
                rank,
                ends_at,
            });
        };
        records.step(&key(number), &mut put).await.unwrap();
    }

    async fn has(records: &MemoryRecords, number: u32) -> bool {
        records.read(&key(number)).await.unwrap().0[0].is_some()
    }

    /// Asserts that the indexes hold the same records, and returns how many.
    fn count(records: &MemoryRecords) -> usize {
        let kinds = records.kinds().unwrap();
        let records = &kinds[&RecordKind::AccountFailures];
        let counts = [records.by_key.len(), records.by_rank.len(), records.by_end.len()];
        assert_eq!(counts, [counts[0]; 3]);
        counts[0]
    }

    #[tokio::test]
    async fn of_hundreds_of_thousands_those_of_the_lowest_rank_are_forgotten() {
        let (records, _) = records();
        put(&records, 0, i64::MAX, 10).await;
        // The records rise in rank, and then fall.
        for number in 1..8 * MOST {
            put(&records, number, i64::from(number), 10).await;
        }
        for number in 8 * MOST..10 * MOST {
            put(&records, number, -i64::from(number), 10).await;
        }
        assert_eq!(count(&records), MOST as usize);
        assert!(has(&records, 0).await && has(&records, 8 * MOST - 1).await);
        assert!(has(&records, 7 * MOST + 2).await && !has(&records, 7 * MOST + 1).await);
        assert!(
            has(&records, 10 * MOST - 1).await && !has(&records, 10 * MOST - 2).await,
            "what was written last is there, however low it ranks"
        );
        // A record that is stored again has its new rank.
        put(&records, 0, i64::MIN, 10).await;
        put(&records, 10 * MOST, 0, 10).await;
        assert!(!has(&records, 0).await && has(&records, 10 * MOST).await);
    }

    #[tokio::test]
    async fn what_has_ended_counts_as_none_and_makes_room_for_lower_ranks() {
        let (records, clock) = records();
        for number in 0..MOST {
            put(&records, number, 100, if number % 2 == 0 { 10 } else { 20 }).await;
        }
        clock.0.store(10, Ordering::Relaxed);
        assert!(!has(&records, 0).await && has(&records, 1).await);
        for number in MOST..MOST + MOST / 2 {
            put(&records, number, 1, 20).await;
        }
        assert!(has(&records, 1).await && has(&records, MOST - 1).await);
        assert!(has(&records, MOST).await && has(&records, MOST + MOST / 2 - 1).await);
        assert_eq!(count(&records), MOST as usize);
        clock.0.store(20, Ordering::Relaxed);
        for number in 0..MOST / 16 + 1 {
            put(&records, number, 0, 30).await;
        }
        assert_eq!(count(&records), (MOST / 16 + 1) as usize);
    }
}
