//! Whether the clock may say which rows are too old.
//!
//! Invariant: within [`AuditSettings::settling`](super::AuditSettings::settling) of a jump, no row counts as too old. A
//! clock that is far ahead would make every row old, and its operator needs time to notice. A jump is a clock that went
//! on by more than a day more than the time that has passed. The time while no host ran counts as such a jump: nobody
//! can tell a machine that was off for a week from one whose clock is wrong.

use std::time::Duration;

use portico_model::Timestamp;
use tokio::time::Instant;

/// More than this is a jump.
const MOST: Timestamp = 24 * 60 * 60 * 1000;

/// The time when it was last seen, and what followed from it.
pub(super) struct Jumps {
    seen: (Timestamp, Instant),
    settled_at: Instant,
}

impl Jumps {
    /// The clock as it was at that moment: the newest row said this time, or the clock did.
    pub fn since(seen: (Timestamp, Instant)) -> Self {
        Self {
            seen,
            settled_at: seen.1,
        }
    }

    /// Whether rows may count as too old now. If not, warns once for each jump.
    pub fn has_settled(&mut self, (now, at): (Timestamp, Instant), settling: Duration) -> bool {
        let (time, before) = self.seen;
        let passed = at.saturating_duration_since(before);
        let passed = Timestamp::try_from(passed.as_millis()).unwrap_or(Timestamp::MAX);
        if now > time.saturating_add(passed).saturating_add(MOST) {
            self.settled_at = at + settling;
            tracing::warn!(
                "the clock is more than a day after the newest row of the audit log: nothing is removed from the log \
                 for {} minutes. Set the clock if it is wrong",
                settling.as_secs() / 60
            );
        }
        self.seen = (now, at);
        at >= self.settled_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);
    const DAY: Timestamp = MOST;

    #[test]
    fn after_a_jump_nothing_is_too_old_for_an_hour() {
        let (start, began) = (1000 * DAY, Instant::now());
        let mut jumps = Jumps::since((start, began));
        assert!(jumps.has_settled((start + DAY, began), HOUR));
        let ahead = start + 102 * DAY;
        assert!(!jumps.has_settled((ahead, began), HOUR));
        assert!(!jumps.has_settled((ahead, began + HOUR / 2), HOUR));
        assert!(jumps.has_settled((ahead, began + HOUR), HOUR));
        // It is set right, and runs on.
        assert!(jumps.has_settled((start, began + HOUR), HOUR));
        assert!(jumps.has_settled((start + 2 * DAY, began + 49 * HOUR), HOUR));
    }
}
