//! Pending sign-ins in the memory of one host. A restart forgets them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use portico_model::Timestamp;
use portico_storage::{SecretHash, secrets};

use super::entry::{Entry, TIME_LIMIT};

/// The most pending sign-ins: some megabytes.
const MAX_PENDING: usize = 8192;

#[derive(Default)]
pub(in crate::oidc) struct MemoryPending(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// With the browser that began it.
    by_state: HashMap<SecretHash, (SecretHash, Entry)>,
    /// In the order in which they began. Some may already be removed from `by_state`.
    order: VecDeque<(Timestamp, SecretHash)>,
}

impl MemoryPending {
    pub fn keep(&self, state: SecretHash, browser: SecretHash, entry: Entry, now: Timestamp) {
        let mut entries = self.entries(now);
        if entries.order.len() >= MAX_PENDING {
            entries.forget_oldest();
        }
        entries.order.push_back((now, state));
        entries.by_state.insert(state, (browser, entry));
    }

    /// Removes and returns a sign-in. Fails with the reason, for the log.
    pub fn take(
        &self,
        state: &SecretHash,
        browser: &SecretHash,
        now: Timestamp,
    ) -> Result<Entry, &'static str> {
        const UNKNOWN: &str = "the state is unknown: made up, used before, or older than ten minutes";
        let mut entries = self.entries(now);
        let (owner, _) = entries.by_state.get(state).ok_or(UNKNOWN)?;
        if !secrets::same(owner, browser) {
            return Err("the state belongs to another browser, or this one sends no cookie");
        }
        let (_, entry) = entries.by_state.remove(state).ok_or(UNKNOWN)?;
        Ok(entry)
    }

    pub fn knows(&self, browser: &SecretHash, now: Timestamp) -> bool {
        let entries = self.entries(now);
        let mut pending = entries.by_state.values();
        pending.any(|(owner, _)| secrets::same(owner, browser))
    }

    /// Locks the entries and removes expired ones.
    fn entries(&self, now: Timestamp) -> MutexGuard<'_, Entries> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((began, _)) = entries.order.front()
            && now.saturating_sub(*began) >= TIME_LIMIT
        {
            entries.forget_oldest();
        }
        entries
    }
}

impl Entries {
    fn forget_oldest(&mut self) {
        if let Some((_, state)) = self.order.pop_front() {
            self.by_state.remove(&state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: SecretHash = [1; 32];
    const EVE: SecretHash = [2; 32];

    fn hash(number: u64) -> SecretHash {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        hash
    }

    fn keep(pending: &MemoryPending, state: u64, browser: SecretHash, began: Timestamp) {
        let entry = Entry {
            return_to: state.to_string(),
            source: None,
        };
        pending.keep(hash(state), browser, entry, began);
    }

    fn take(pending: &MemoryPending, state: u64, browser: SecretHash, now: Timestamp) -> Option<String> {
        pending
            .take(&hash(state), &browser, now)
            .ok()
            .map(|entry| entry.return_to)
    }

    #[test]
    fn a_sign_in_is_taken_once_by_the_browser_that_began_it() {
        let pending = MemoryPending::default();
        keep(&pending, 1, ADA, 0);
        keep(&pending, 2, ADA, 0);
        assert_eq!(take(&pending, 3, ADA, 1), None);
        assert_eq!(take(&pending, 1, EVE, 1), None);
        assert_eq!(take(&pending, 1, ADA, 1).as_deref(), Some("1"));
        assert_eq!(take(&pending, 1, ADA, 1), None);
        assert!(pending.knows(&ADA, 1) && !pending.knows(&EVE, 1));
        assert_eq!(take(&pending, 2, ADA, 1).as_deref(), Some("2"));
        assert!(!pending.knows(&ADA, 1));
    }

    #[test]
    fn a_sign_in_expires_after_ten_minutes() {
        let pending = MemoryPending::default();
        keep(&pending, 1, ADA, 0);
        keep(&pending, 2, ADA, 1);
        assert_eq!(take(&pending, 1, ADA, 600_000), None);
        assert_eq!(take(&pending, 2, ADA, 600_000).as_deref(), Some("2"));
        keep(&pending, 3, ADA, 700_000);
        assert!(!pending.knows(&ADA, 1_300_000));
        assert_eq!(pending.0.lock().unwrap().order.len(), 0);
    }

    #[test]
    fn a_flood_is_limited_and_the_oldest_is_forgotten_first() {
        let pending = MemoryPending::default();
        for state in 0..3 * MAX_PENDING as u64 {
            keep(&pending, state, EVE, state);
        }
        let entries = pending.0.lock().unwrap();
        assert_eq!(
            (entries.by_state.len(), entries.order.len()),
            (MAX_PENDING, MAX_PENDING)
        );
        drop(entries);
        let now = 3 * MAX_PENDING as u64;
        assert_eq!(take(&pending, now - 1 - MAX_PENDING as u64, EVE, now), None);
        assert!(take(&pending, now - MAX_PENDING as u64, EVE, now).is_some());
    }
}
