//! What is counted: failures, tries, and where somebody is known.

use portico_model::Timestamp;

use super::bounded::Entry;

const SECOND: Timestamp = 1000;
const DAY: Timestamp = 24 * 60 * 60 * SECOND;

/// Failures that one count takes: none of its days has more.
pub(super) const MOST_FAILURES: u32 = 100;

/// How long nobody may try after so many failures.
fn delay(failures: u32) -> Timestamp {
    match failures {
        0 => 0,
        1..=3 => SECOND,
        4..=9 => 3 * SECOND,
        10..=25 => 5 * SECOND,
        26..MOST_FAILURES => 10 * SECOND,
        MOST_FAILURES.. => DAY,
    }
}

/// The failures at one account, until there is none for a day.
#[derive(Clone, Default)]
pub(super) struct Failures {
    failures: u32,
    running: u32,
    /// When the last try failed, or began.
    last: Timestamp,
    open_at: Timestamp,
}

impl Failures {
    /// How long the next try has to wait, of which so many may run at once.
    pub fn wait(&self, at_once: u32, now: Timestamp) -> Timestamp {
        if self.is_over(now) {
            0
        } else if now < self.open_at {
            self.open_at - now
        } else if self.running >= at_once || self.failures + self.running >= MOST_FAILURES {
            SECOND
        } else {
            0
        }
    }

    pub fn begin(&mut self, now: Timestamp) {
        if self.is_over(now) {
            *self = Self::default();
        }
        self.running += 1;
        self.last = now;
    }

    pub fn fail(&mut self, now: Timestamp) {
        self.stop();
        self.failures += 1;
        self.last = now;
        self.open_at = now + delay(self.failures);
    }

    /// A try ended without a failure.
    pub fn stop(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Forgets the failures, for whoever proved to be the owner.
    pub fn forgive(&mut self) {
        self.failures = 0;
        self.open_at = 0;
    }
}

impl Entry for Failures {
    /// Few failures are forgotten before many, and old ones before new ones: whoever wants a count
    /// forgotten has to collect as many elsewhere, as often as there is room.
    type Rank = (u32, Timestamp);

    fn rank(&self) -> Self::Rank {
        (self.failures, self.last)
    }

    fn is_over(&self, now: Timestamp) -> bool {
        (self.failures == 0 && self.running == 0) || now >= self.last.saturating_add(DAY)
    }
}

/// An account at an address that it signed in from.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// When it last signed in there.
    since: Timestamp,
    pub failures: Failures,
}

impl Known {
    /// How long an address stays known.
    const LIFE: Timestamp = 30 * DAY;

    pub fn renew(&mut self, now: Timestamp) {
        self.since = now + 1;
    }
}

impl Entry for Known {
    type Rank = Timestamp;

    fn rank(&self) -> Self::Rank {
        self.since
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.since == 0 || now >= self.since.saturating_add(Self::LIFE)
    }
}

/// The tries from one address: so many at once, and one more as often as the interval says.
#[derive(Clone, Default)]
pub(super) struct Tries {
    /// When all of them may be made at once again.
    full_at: Timestamp,
}

impl Tries {
    pub const BURST: u64 = 10;
    pub const INTERVAL: Timestamp = 5 * SECOND;

    pub fn wait(&self, now: Timestamp) -> Timestamp {
        let open_at = self.full_at.saturating_sub((Self::BURST - 1) * Self::INTERVAL);
        open_at.saturating_sub(now)
    }

    pub fn begin(&mut self, now: Timestamp) {
        self.full_at = self.full_at.max(now) + Self::INTERVAL;
    }

    pub fn give_back(&mut self) {
        self.full_at = self.full_at.saturating_sub(Self::INTERVAL);
    }
}

impl Entry for Tries {
    type Rank = Timestamp;

    fn rank(&self) -> Self::Rank {
        self.full_at
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.full_at <= now
    }
}
