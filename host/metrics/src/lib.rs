//! Counters, gauges and histograms: what the crates of the host count, for a server to publish.
//!
//! Each crate has its metrics in statics of its own (`metrics.rs`), which count for the whole process. This crate knows no
//! format: `portico-server` reads the values and writes them as text.
//!
//! Invariants:
//! - Recording takes a few additions without a lock that others wait for. Only the first value of a label allocates.
//! - Labels are names from the code: templates of routes, procedures, codes. Never what a client sent, and no names or
//!   addresses. A family also has a bound of its own; beyond it, nothing is recorded.
#![warn(missing_docs)]

mod family;
mod histogram;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

pub use self::{
    family::Family,
    histogram::{Histogram, Snapshot},
};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Zero.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds this many.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that grows and shrinks.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// Zero.
    pub const fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Replaces the number.
    pub fn set(&self, number: i64) {
        self.0.store(number, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one more until the guard is dropped.
    pub fn hold(&'static self) -> Held {
        self.0.fetch_add(1, Ordering::Relaxed);
        Held(self)
    }
}

/// One that a gauge counts.
#[derive(Debug)]
pub struct Held(&'static Gauge);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for one kind of place, of which there is a bounded number.
#[derive(Debug)]
pub struct Waits {
    /// How long those waited that had to wait and got a place.
    pub time: Histogram,
    /// Those that waited too long, and were refused.
    pub refused: Counter,
}

impl Waits {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            time: Histogram::new(histogram::WAITS),
            refused: Counter::new(),
        }
    }
}

impl Default for Waits {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_counts_what_is_held() {
        static OPEN: Gauge = Gauge::new();
        let (one, other) = (OPEN.hold(), OPEN.hold());
        assert_eq!(OPEN.get(), 2);
        drop(one);
        assert_eq!(OPEN.get(), 1);
        drop(other);
        assert_eq!(OPEN.get(), 0);
    }
}
