//! Refusals that are not written yet.
//!
//! Invariant: the list is bounded. Identical refusals share a row with a count. Anonymous callers, sign-ins and
//! signed-in callers each have a limit of their own, so a flood of one kind does not displace the others. Refusals
//! beyond that are only counted.

use std::{collections::HashMap, mem};

use portico_model::Timestamp;
use portico_storage::{AuditEntry, Authentication};

use crate::metrics;

/// The most rows of each kind.
const ROOM: usize = 100;

/// The outcome in the row that counts refusals without a row.
const NOT_RECORDED: &str = "NOT_RECORDED";

#[derive(Default)]
pub(super) struct Pending {
    entries: Vec<AuditEntry>,
    /// The index of each entry, by what identical refusals have in common.
    indices: HashMap<AuditEntry, usize>,
    taken: HashMap<Kind, usize>,
    lost: u64,
}

#[derive(PartialEq, Eq, Hash)]
enum Kind {
    SignIn,
    Anonymous,
    SignedIn,
}

impl Pending {
    /// Adds a refusal. Returns whether the list was empty, so that its writer has to be woken.
    pub fn add(&mut self, entry: AuditEntry) -> bool {
        let was_empty = self.entries.is_empty();
        let key = AuditEntry {
            time: 0,
            request_id: String::new(),
            ..entry.clone()
        };
        if let Some(index) = self.indices.get(&key) {
            self.entries[*index].times += 1;
            return false;
        }
        let taken = self.taken.entry(Kind::of(&entry)).or_default();
        if *taken == ROOM {
            self.lost += 1;
            metrics::AUDIT_LOST.increment();
            return was_empty;
        }
        *taken += 1;
        self.indices.insert(key, self.entries.len());
        self.entries.push(entry);
        was_empty
    }

    /// Counts refusals that could not be written.
    pub fn lose(&mut self, count: u64) {
        self.lost += count;
    }

    /// Takes all entries, in order, with a row that counts the refusals without one.
    pub fn take(&mut self, now: Timestamp) -> Vec<AuditEntry> {
        let Self {
            mut entries, lost, ..
        } = mem::take(self);
        if lost > 0 {
            entries.push(AuditEntry {
                time: now,
                outcome: NOT_RECORDED.into(),
                times: lost,
                ..AuditEntry::new("audit", "-")
            });
        }
        entries
    }
}

impl Kind {
    fn of(entry: &AuditEntry) -> Self {
        // A malformed request is not a login attempt, and the throttle does not count it.
        let is_attempt = !matches!(
            entry.outcome.as_str(),
            "BAD_REQUEST" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE"
        );
        if entry.provider.is_some() && is_attempt {
            Self::SignIn
        } else if entry.authentication == Authentication::None.name() {
            Self::Anonymous
        } else {
            Self::SignedIn
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_model::Provider;

    fn refusal(procedure: &str, request_id: &str, time: Timestamp) -> AuditEntry {
        AuditEntry {
            time,
            outcome: "UNAUTHORIZED".into(),
            ..AuditEntry::new(procedure, request_id)
        }
    }

    #[test]
    fn identical_refusals_share_a_row_with_the_first_ones_time_and_request() {
        let mut pending = Pending::default();
        assert!(pending.add(refusal("app.all", "first", 1)));
        assert!(!pending.add(refusal("app.all", "second", 2)));
        assert!(!pending.add(refusal("user.getAll", "third", 3)));
        let rows = pending.take(9);
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].times, rows[0].time, &rows[0].request_id[..]),
            (2, 1, "first")
        );
        assert_eq!(rows[1], refusal("user.getAll", "third", 3));
        assert_eq!(pending.take(9), []);
        // The next refusal has a row of its own again.
        assert!(pending.add(refusal("app.all", "fourth", 4)));
    }

    #[test]
    fn a_flood_is_counted_and_hides_nothing_of_another_kind() {
        let mut pending = Pending::default();
        for number in 0..10_000_u32 {
            pending.add(AuditEntry {
                address: Some(number.to_be_bytes().into()),
                ..refusal("app.all", "flood", 1)
            });
        }
        let sign_in = AuditEntry {
            provider: Some(Provider::Credentials),
            ..refusal("sign-in", "guess", 2)
        };
        let known = refusal("user.getAll", "known", 3).by(Some("ann"), &Authentication::Key("key".into()));
        pending.add(sign_in.clone());
        pending.add(known.clone());
        let rows = pending.take(9);
        assert_eq!(rows.len(), ROOM + 3);
        assert!(rows.contains(&sign_in) && rows.contains(&known));
        let counted = rows.last().unwrap();
        assert_eq!(
            (&counted.outcome[..], counted.times),
            (NOT_RECORDED, 10_000 - ROOM as u64)
        );
        assert_eq!(counted.time, 9);
    }

    #[test]
    fn refusals_that_could_not_be_written_are_counted_with_the_next() {
        let mut pending = Pending::default();
        pending.lose(0);
        assert_eq!(pending.take(9), []);
        pending.lose(3);
        let is_first = pending.add(refusal("app.all", "next", 1));
        assert!(is_first, "the writer is woken");
        pending.take(9);
        pending.lose(3);
        let rows = pending.take(9);
        assert_eq!((rows.len(), rows[0].times), (1, 3));
    }
}
