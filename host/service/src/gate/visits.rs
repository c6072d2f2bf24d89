//! Which people came to which apps, and which sessions were used, each noted once in a while.
//!
//! Invariant: what is remembered is bounded. Beyond the bound something may be noted more often.

use std::{collections::HashMap, hash::Hash};

use portico_model::{Id, Timestamp};

/// A visit is noted again after this time, in milliseconds.
pub(super) const HOUR: Timestamp = 60 * 60 * 1000;

/// An address of no app is noted again after this time, in milliseconds.
pub(super) const MINUTE: Timestamp = 60 * 1000;

/// The most that is remembered.
const MOST: usize = 10_000;

/// A person at an app, and whether they passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visit {
    pub user_id: Id,
    pub app_id: Id,
    pub has_passed: bool,
}

/// What was noted of late.
pub(super) struct Noted<K> {
    /// How long it counts, in milliseconds.
    period: Timestamp,
    last: HashMap<K, Timestamp>,
}

impl<K: Clone + Eq + Hash> Noted<K> {
    /// What is noted once in this time, in milliseconds.
    pub fn every(period: Timestamp) -> Self {
        Self {
            period,
            last: HashMap::new(),
        }
    }

    /// Whether this is to be noted now, which counts as done.
    pub fn is_due(&mut self, key: &K, now: Timestamp) -> bool {
        let is_recent = |at: Timestamp| at <= now && now - at < self.period;
        if self.last.get(key).is_some_and(|at| is_recent(*at)) {
            return false;
        }
        if self.last.len() >= MOST {
            self.last.retain(|_, at| is_recent(*at));
        }
        if self.last.len() >= MOST {
            self.last.clear();
        }
        self.last.insert(key.clone(), now);
        true
    }

    /// Lets this be due again, because it could not be noted.
    pub fn forget(&mut self, key: &K) {
        self.last.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(user: usize) -> Visit {
        Visit {
            user_id: user.to_string(),
            app_id: "app".into(),
            has_passed: true,
        }
    }

    #[test]
    fn a_visit_is_due_once_an_hour_and_what_is_remembered_is_bounded() {
        let mut visits = Noted::every(HOUR);
        assert!(visits.is_due(&visit(1), 1));
        assert!(!visits.is_due(&visit(1), HOUR));
        assert!(visits.is_due(&visit(2), HOUR));
        let refused = Visit {
            has_passed: false,
            ..visit(1)
        };
        assert!(visits.is_due(&refused, HOUR));
        assert!(visits.is_due(&visit(1), HOUR + 1));
        let mut uses = Noted::every(500);
        assert!(uses.is_due(&"session", 1) && uses.is_due(&"another", 1));
        assert!(!uses.is_due(&"session", 500) && uses.is_due(&"session", 501));
        uses.forget(&"session");
        assert!(uses.is_due(&"session", 502) && !uses.is_due(&"session", 503));
        for user in 0..3 * MOST {
            visits.is_due(&visit(user), HOUR + 2);
            assert!(visits.last.len() <= MOST);
        }
    }
}
