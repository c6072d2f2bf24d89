//! The clock of the database's server, which all hosts on the database share.
//!
//! Invariant: between two measurements the time goes on with the monotonic clock of this machine. So it does not matter
//! whether the machine's own clock is right, or is set.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portico_model::Timestamp;
use portico_model::time::{Clock, SystemClock};

/// What a statement selects for [`ServerClock::measure`].
pub(super) const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// From this many milliseconds on, we warn of the machine's clock.
const MOST_LEAD: u64 = 60_000;

/// The server's clock, as far as it was measured; before that, the clock of the machine.
#[derive(Default)]
pub(super) struct ServerClock(Mutex<State>);

#[derive(Default)]
struct State {
    measured: Option<(Timestamp, Instant)>,
    has_warned: bool,
}

impl ServerClock {
    /// The server has just answered with this time to what was sent at that moment.
    pub fn measure(&self, time: Timestamp, sent: Instant) {
        let half = sent.elapsed() / 2;
        let half_millis = Timestamp::try_from(half.as_millis()).unwrap_or(Timestamp::MAX);
        let time = time.saturating_add(half_millis);
        let mut state = self.state();
        // A measurement that only a slow network makes different changes nothing.
        if state
            .now()
            .is_none_or(|known| known.abs_diff(time) > half_millis + 1)
        {
            state.measured = Some((time, Instant::now()));
        }
        let lead = state.lead();
        let is_far = lead.unsigned_abs() > MOST_LEAD;
        if is_far && !state.has_warned {
            tracing::warn!(
                "the clock of this machine is {} seconds {} that of the database's server, whose time is used: set it",
                lead.unsigned_abs() / 1000,
                if lead > 0 { "ahead of" } else { "behind" }
            );
        }
        state.has_warned = is_far;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn now(&self) -> Option<Timestamp> {
        let (time, at) = self.measured?;
        Some(time.saturating_add(Timestamp::try_from(at.elapsed().as_millis()).ok()?))
    }

    fn lead(&self) -> i64 {
        let here = SystemClock.now();
        let there = self.now().unwrap_or(here);
        here.cast_signed().saturating_sub(there.cast_signed())
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        self.state().now().unwrap_or_else(|| SystemClock.now())
    }

    fn lead(&self) -> i64 {
        self.state().lead()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Timestamp = 24 * 60 * 60 * 1000;

    #[test]
    fn the_time_is_that_of_the_server_however_wrong_the_clock_of_the_machine_is() {
        let clock = ServerClock::default();
        assert_eq!(clock.lead(), 0);
        let server = SystemClock.now() - 100 * DAY;
        clock.measure(server, Instant::now());
        assert!((server..server + DAY).contains(&clock.now()));
        let lead = clock.lead();
        assert!(
            lead > 0 && lead.unsigned_abs().abs_diff(100 * DAY) < DAY,
            "{lead}"
        );
    }

    #[test]
    fn an_answer_that_was_long_on_its_way_does_not_move_the_clock() {
        let clock = ServerClock::default();
        let server = SystemClock.now() - 100 * DAY;
        clock.measure(server, Instant::now());
        let (time, _) = clock.state().measured.unwrap();
        let hour = Duration::from_secs(60 * 60);
        if let Some(sent) = Instant::now().checked_sub(hour) {
            clock.measure(server - DAY / 100, sent);
            assert_eq!(clock.state().measured.unwrap().0, time);
        }
        clock.measure(server + DAY, Instant::now());
        assert!(clock.now() >= server + DAY);
    }
}
