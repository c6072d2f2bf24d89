//! What was refused and is not written yet.
//!
//! Invariant: it is bounded, whoever sends how much. Identical refusals are one row with a count. Who
//! is nobody, who tries to sign in, and who is somebody have room of their own each, so that a
//! flood of one kind hides nothing of the others. What finds no room is counted.

use std::{collections::HashMap, mem};

use portico_model::Timestamp;
use portico_storage::{AuditEntry, Authentication};

/// Rows of each kind.
const ROOM: usize = 100;

/// What the row says that counts what was not recorded.
const NOT_RECORDED: &str = "NOT_RECORDED";

#[derive(Default)]
pub(super) struct Pending {
    entries: Vec<AuditEntry>,
    /// Where an entry stands, by what must be the same to share its row.
    places: HashMap<AuditEntry, usize>,
    taken: HashMap<Kind, usize>,
    lost: u64,
}

#[derive(PartialEq, Eq, Hash)]
enum Kind {
    SignIn,
    Nobody,
    Somebody,
}

impl Pending {
    /// Notes something; says whether it is the first thing that is there to be written.
    pub fn add(&mut self, entry: AuditEntry) -> bool {
        let was_empty = self.entries.is_empty();
        let key = AuditEntry {
            time: 0,
            request_id: String::new(),
            ..entry.clone()
        };
        if let Some(place) = self.places.get(&key) {
            self.entries[*place].times += 1;
            return false;
        }
        let taken = self.taken.entry(Kind::of(&entry)).or_default();
        if *taken == ROOM {
            self.lost += 1;
            return was_empty;
        }
        *taken += 1;
        self.places.insert(key, self.entries.len());
        self.entries.push(entry);
        was_empty
    }

    /// Counts what could not be written.
    pub fn lose(&mut self, count: u64) {
        self.lost += count;
    }

    /// All of it, in order, with a row that says how much was not recorded.
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
        // What has no form is no try, and costs whoever sends it nothing.
        let is_try = !matches!(
            entry.outcome.as_str(),
            "BAD_REQUEST" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE"
        );
        if entry.provider.is_some() && is_try {
            Self::SignIn
        } else if entry.authentication == Authentication::None.name() {
            Self::Nobody
        } else {
            Self::Somebody
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
        // Afterwards there is a row again.
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
    fn what_could_not_be_written_is_counted_with_the_next() {
        let mut pending = Pending::default();
        pending.lose(0);
        assert_eq!(pending.take(9), []);
        pending.lose(3);
        let is_first = pending.add(refusal("app.all", "next", 1));
        assert!(is_first, "whoever writes is woken");
        pending.take(9);
        pending.lose(3);
        let rows = pending.take(9);
        assert_eq!((rows.len(), rows[0].times), (1, 3));
    }
}
