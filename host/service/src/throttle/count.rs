//! The counts: failures of an account, attempts from an address, and the addresses that an account is known at.

use portico_model::Timestamp;

use super::bounded::Entry;

const SECOND: Timestamp = 1000;
const DAY: Timestamp = 24 * 60 * 60 * SECOND;

/// The most failures of one count within a day.
pub(super) const MOST_FAILURES: u32 = 100;

/// How long the account is locked after this many failures.
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

/// The failures at one account, until a day passes without one.
#[derive(Clone, Default)]
pub(super) struct Failures {
    failures: u32,
    running: u32,
    /// When the last attempt failed, or began.
    last: Timestamp,
    open_at: Timestamp,
}

impl Failures {
    /// How long the next attempt has to wait, if this many may run at once.
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

    /// An attempt ended without a failure.
    pub fn stop(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Forgets the failures: the client has proved to be the owner.
    pub fn forgive(&mut self) {
        self.failures = 0;
        self.open_at = 0;
    }
}

impl Entry for Failures {
    /// Few failures are forgotten before many, and old ones before new ones: to have a count forgotten, an
    /// attacker has to cause as many failures at each of all the other entries.
    type Rank = (u32, Timestamp);

    fn rank(&self) -> Self::Rank {
        (self.failures, self.last)
    }

    fn is_over(&self, now: Timestamp) -> bool {
        (self.failures == 0 && self.running == 0) || now >= self.last.saturating_add(DAY)
    }
}

/// An address from which an account signed in.
#[derive(Clone, Default)]
pub(super) struct KnownSource {
    /// When it last signed in there, and one millisecond; 0: never.
    since: Timestamp,
    pub failures: Failures,
}

impl KnownSource {
    /// How long an address stays known.
    const LIFE: Timestamp = 30 * DAY;

    pub fn renew(&mut self, now: Timestamp) {
        self.since = now + 1;
    }
}

impl Entry for KnownSource {
    type Rank = Timestamp;

    fn rank(&self) -> Self::Rank {
        self.since
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.since == 0 || now >= self.since.saturating_add(Self::LIFE)
    }
}

/// The attempts from one address: a burst of [`BURST`](Self::BURST), and one more in each
/// [`INTERVAL`](Self::INTERVAL).
#[derive(Clone, Default)]
pub(super) struct Attempts {
    /// When a full burst may be made again.
    full_at: Timestamp,
}

impl Attempts {
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

impl Entry for Attempts {
    type Rank = Timestamp;

    fn rank(&self) -> Self::Rank {
        self.full_at
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.full_at <= now
    }
}
