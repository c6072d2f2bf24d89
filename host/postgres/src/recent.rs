//! Who sees which app, as it was stored a moment ago: reading it takes a round trip, and many reads need it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use portico_sql::RecentVisibility;
use portico_storage::AppVisibility;

/// For how long it counts after the transaction that read it began: then every host has what one of them has changed.
const MOMENT: Duration = Duration::from_secs(1);

pub(super) struct Recent {
    start: Instant,
    noted: Mutex<Noted>,
}

#[derive(Clone, Copy, Default)]
struct Noted {
    visibility: Option<AppVisibility>,
    /// When the transaction that read it began, or when it was forgotten.
    at: Duration,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            noted: Mutex::default(),
        }
    }
}

impl RecentVisibility for Recent {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn get(&self) -> Option<AppVisibility> {
        self.get_at(self.now())
    }

    fn note(&self, visibility: AppVisibility, began_at: Duration) {
        let visibility = Some(visibility);
        self.replace(Noted {
            visibility,
            at: began_at,
        });
    }

    fn forget(&self) {
        self.replace(Noted {
            visibility: None,
            at: self.now(),
        });
    }
}

impl Recent {
    fn get_at(&self, now: Duration) -> Option<AppVisibility> {
        let noted = *self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.visibility.filter(|_| now.saturating_sub(noted.at) < MOMENT)
    }

    fn replace(&self, new: Noted) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if new.at >= noted.at {
            *noted = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn what_was_read_counts_for_a_moment_after_the_transaction_began() {
        let recent = Recent::default();
        assert_eq!(recent.get_at(Duration::ZERO), None);
        let began_at = Duration::from_secs(60);
        recent.note(AppVisibility::Everyone, began_at);
        let last = began_at + MOMENT - MILLISECOND;
        assert_eq!(recent.get_at(last), Some(AppVisibility::Everyone));
        assert_eq!(recent.get_at(last + MILLISECOND), None);
    }

    #[test]
    fn what_a_transaction_read_that_began_before_a_change_does_not_count() {
        let recent = Recent::default();
        let before = recent.now();
        recent.forget();
        recent.note(AppVisibility::Everyone, before.saturating_sub(MILLISECOND));
        assert_eq!(recent.get(), None);
        let after = recent.now() + MILLISECOND;
        recent.note(AppVisibility::Boards, after);
        recent.note(AppVisibility::Everyone, before);
        assert_eq!(recent.get_at(after), Some(AppVisibility::Boards));
    }
}
