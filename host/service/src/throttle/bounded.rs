//! A map with a bounded number of entries.

use std::collections::{BTreeMap, BTreeSet};

use portico_model::Timestamp;

use super::count::Entry;

/// How often a full map removes the entries that are over, in milliseconds.
const SWEEP_INTERVAL: Timestamp = 60_000;

#[derive(Clone)]
pub(super) struct Bounded<K, E: Entry> {
    most: usize,
    entries: BTreeMap<K, E>,
    by_rank: BTreeSet<(i64, K)>,
    swept_at: Timestamp,
}

impl<K: Ord + Copy, E: Entry> Bounded<K, E> {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            entries: BTreeMap::new(),
            by_rank: BTreeSet::new(),
            swept_at: 0,
        }
    }

    pub fn get(&self, key: K, now: Timestamp) -> Option<&E> {
        self.entries.get(&key).filter(|entry| !entry.is_over(now))
    }

    /// Replaces the entry of a key.
    pub fn put(&mut self, key: K, entry: E, now: Timestamp) {
        self.remove(key);
        if !entry.is_over(now) {
            self.make_room(now);
            self.by_rank.insert((entry.rank(), key));
            self.entries.insert(key, entry);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        assert_eq!(self.entries.len(), self.by_rank.len());
        self.entries.len()
    }

    fn remove(&mut self, key: K) {
        if let Some(entry) = self.entries.remove(&key) {
            self.by_rank.remove(&(entry.rank(), key));
        }
    }

    fn make_room(&mut self, now: Timestamp) {
        if self.entries.len() < self.most {
            return;
        }
        if now >= self.swept_at.saturating_add(SWEEP_INTERVAL) {
            self.swept_at = now;
            let by_rank = &mut self.by_rank;
            self.entries.retain(|key, entry| {
                let stays = !entry.is_over(now);
                if !stays {
                    by_rank.remove(&(entry.rank(), *key));
                }
                stays
            });
        }
        while self.entries.len() >= self.most {
            let Some((_, key)) = self.by_rank.pop_first() else {
                return;
            };
            self.entries.remove(&key);
        }
    }
}
