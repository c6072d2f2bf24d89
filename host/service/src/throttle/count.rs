//! The counts: failures of an account, attempts from an address, and the addresses that an account is known at.

use portico_model::Timestamp;
use serde::{Deserialize, Serialize};

/// One count, which may be forgotten.
pub(super) trait Expiring: Default {
    /// If there are too many entries, those of the lowest rank are forgotten first.
    fn rank(&self) -> i64;

    /// From this moment on it means the same as no entry.
    fn ends_at(&self) -> Timestamp;

    /// Whether it means the same as no entry.
    fn is_over(&self, now: Timestamp) -> bool {
        now >= self.ends_at()
    }
}

const SECOND: Timestamp = 1000;
const DAY: Timestamp = 24 * 60 * 60 * SECOND;

/// The most failures of one count within a day.
pub(super) const MOST_FAILURES: u32 = 100;

/// An attempt that has not ended after this time counts as failed, because its host was killed.
pub(super) const LONGEST_ATTEMPT: Timestamp = 120 * SECOND;

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Failures {
    failures: u32,
    /// When each attempt began that has not ended.
    running: Vec<Timestamp>,
    /// When the last attempt failed, or began.
    last: Timestamp,
    open_at: Timestamp,
}

impl Failures {
    /// Counts what time alone has changed until now. Must come before everything else.
    pub fn catch_up(&mut self, now: Timestamp) {
        if self.is_over(now) {
            *self = Self::default();
        }
        let has_ended = |began: &Timestamp| began.saturating_add(LONGEST_ATTEMPT) <= now;
        let (ended, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition::<Vec<_>, _>(has_ended);
        self.running = running;
        for began in ended {
            self.count_failure(began.saturating_add(LONGEST_ATTEMPT));
        }
    }

    /// How long the next attempt has to wait, if this many may run at the same time.
    pub fn wait(&self, at_once: usize, now: Timestamp) -> Timestamp {
        let running = self.running.len();
        if now < self.open_at {
            self.open_at - now
        } else if running >= at_once || self.failures as usize + running >= MOST_FAILURES as usize {
            SECOND
        } else {
            0
        }
    }

    pub fn begin(&mut self, now: Timestamp) {
        self.running.push(now);
        self.last = self.last.max(now);
    }

    /// The attempt that began then has failed.
    pub fn fail(&mut self, began: Timestamp, now: Timestamp) {
        self.stop(began);
        self.count_failure(now);
    }

    /// The second factor of the attempt that began then is missing. It counts as a failure, after which nothing waits.
    pub fn leave_incomplete(&mut self, began: Timestamp, now: Timestamp) {
        self.stop(began);
        self.failures += 1;
        self.last = self.last.max(now);
    }

    /// Ends the attempt that began then, without counting a failure.
    pub fn stop(&mut self, began: Timestamp) {
        if let Some(index) = self.running.iter().position(|running| *running == began) {
            self.running.swap_remove(index);
        }
    }

    /// Forgets the failures: the client has proved to be the owner.
    pub fn forgive(&mut self) {
        self.failures = 0;
        self.open_at = 0;
    }

    fn count_failure(&mut self, at: Timestamp) {
        self.failures += 1;
        self.last = self.last.max(at);
        self.open_at = self.open_at.max(at.saturating_add(delay(self.failures)));
    }
}

impl Expiring for Failures {
    /// Few failures are forgotten before many, and old ones before new ones: to have a count forgotten, an
    /// attacker has to cause as many failures at each of all the other entries.
    fn rank(&self) -> i64 {
        // Milliseconds since 1970 need 41 bits, and 45 beyond the year 3000.
        (i64::from(self.failures.min(1 << 16)) << 45) + integer(self.last).min((1 << 45) - 1)
    }

    fn ends_at(&self) -> Timestamp {
        if self.failures == 0 && self.running.is_empty() {
            return 0;
        }
        self.last.saturating_add(DAY)
    }
}

/// An address from which an account signed in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KnownSource {
    /// When it last signed in there, plus one millisecond; 0 means never.
    since: Timestamp,
    pub failures: Failures,
}

impl KnownSource {
    /// How long an address stays known.
    const LIFE: Timestamp = 30 * DAY;

    pub fn renew(&mut self, now: Timestamp) {
        self.since = now.saturating_add(1);
    }
}

impl Expiring for KnownSource {
    fn rank(&self) -> i64 {
        integer(self.since)
    }

    fn ends_at(&self) -> Timestamp {
        if self.since == 0 {
            return 0;
        }
        self.since.saturating_add(Self::LIFE)
    }
}

/// The attempts from one address: a burst of [`BURST`](Self::BURST), and one more in each
/// [`INTERVAL`](Self::INTERVAL).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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

impl Expiring for Attempts {
    fn rank(&self) -> i64 {
        integer(self.full_at)
    }

    fn ends_at(&self) -> Timestamp {
        self.full_at
    }
}

fn integer(moment: Timestamp) -> i64 {
    i64::try_from(moment).unwrap_or(i64::MAX)
}
