//! A map with a bounded number of entries.

use std::collections::{BTreeMap, BTreeSet};

use portico_model::Timestamp;

/// How often a full map removes the entries that are over, in milliseconds.
const SWEEP_INTERVAL: Timestamp = 60_000;

/// An entry that may be forgotten.
pub(super) trait Entry: Default {
    /// A full map forgets the entry of the lowest rank first.
    type Rank: Ord + Copy;

    fn rank(&self) -> Self::Rank;

    /// Whether it means the same as no entry.
    fn is_over(&self, now: Timestamp) -> bool;
}

#[derive(Clone)]
pub(super) struct Bounded<K, E: Entry> {
    most: usize,
    entries: BTreeMap<K, E>,
    by_rank: BTreeSet<(E::Rank, K)>,
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

    /// Changes the entry of a key, or a new one.
    pub fn change(&mut self, key: K, now: Timestamp, change: impl FnOnce(&mut E)) {
        let mut entry = self.remove(key).filter(|entry| !entry.is_over(now));
        change(entry.get_or_insert_default());
        if let Some(entry) = entry.filter(|entry| !entry.is_over(now)) {
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

    fn remove(&mut self, key: K) -> Option<E> {
        let entry = self.entries.remove(&key)?;
        self.by_rank.remove(&(entry.rank(), key));
        Some(entry)
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
