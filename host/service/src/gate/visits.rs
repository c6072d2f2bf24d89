//! Who came to which app, once an hour.
//!
//! Invariant: what is remembered is bounded. Beyond the bound a visit may be noted more than once in an hour.

use std::collections::HashMap;

use portico_model::{Id, Timestamp};

/// A visit is noted again after this time, in milliseconds.
const HOUR: Timestamp = 60 * 60 * 1000;

/// The most visits that are remembered.
const MOST: usize = 10_000;

/// A person at an app, and whether they passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visit {
    pub user_id: Id,
    pub app_id: Id,
    pub has_passed: bool,
}

/// The visits of the last hour.
#[derive(Default)]
pub(super) struct Visits(HashMap<Visit, Timestamp>);

impl Visits {
    /// Whether this visit is the first in an hour.
    pub fn is_first(&mut self, visit: &Visit, now: Timestamp) -> bool {
        let is_recent = |at: Timestamp| at <= now && now - at < HOUR;
        if self.0.get(visit).is_some_and(|at| is_recent(*at)) {
            return false;
        }
        if self.0.len() >= MOST {
            self.0.retain(|_, at| is_recent(*at));
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(visit.clone(), now);
        true
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
    fn a_visit_is_the_first_once_an_hour_and_what_is_remembered_is_bounded() {
        let mut visits = Visits::default();
        assert!(visits.is_first(&visit(1), 1));
        assert!(!visits.is_first(&visit(1), HOUR));
        assert!(visits.is_first(&visit(2), HOUR));
        let refused = Visit {
            has_passed: false,
            ..visit(1)
        };
        assert!(visits.is_first(&refused, HOUR));
        assert!(visits.is_first(&visit(1), HOUR + 1));
        for user in 0..3 * MOST {
            visits.is_first(&visit(user), HOUR + 2);
            assert!(visits.0.len() <= MOST);
        }
    }
}
