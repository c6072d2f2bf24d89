//! How values are distributed.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Upper bounds of buckets: in microseconds for times, otherwise in whole numbers.
#[derive(Debug)]
pub struct Bounds {
    bounds: &'static [u64],
    /// How many of them are one in what is published: 1,000,000 microseconds are a second.
    per_unit: f64,
}

const SECOND: f64 = 1_000_000.0;

/// OpenTelemetry's advice for requests and calls, with one bucket below: most calls take less than 5 ms.
pub(crate) static REQUESTS: Bounds = Bounds {
    bounds: &[
        1000, 5000, 10_000, 25_000, 50_000, 75_000, 100_000, 250_000, 500_000, 750_000, 1_000_000, 2_500_000,
        5_000_000, 7_500_000, 10_000_000,
    ],
    per_unit: SECOND,
};

/// OpenTelemetry's advice for databases, with one bucket below.
pub(crate) static WAITS: &Bounds = &Bounds {
    bounds: &[
        100, 1000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000, 10_000_000,
    ],
    per_unit: SECOND,
};

static COUNTS: Bounds = Bounds {
    bounds: &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    per_unit: 1.0,
};

/// The most bounds of a histogram.
const MOST: usize = 15;

/// Values, counted in buckets.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static Bounds,
    /// The last one is for values above all bounds.
    buckets: [AtomicU64; MOST + 1],
    sum: AtomicU64,
}

/// The state of a histogram.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    /// All values together.
    pub sum: f64,
    /// How many there were.
    pub count: u64,
    /// The upper bound of each bucket, and how many values are in it and in no bucket before it.
    pub buckets: Vec<(f64, u64)>,
}

impl Histogram {
    pub(crate) const fn new(bounds: &'static Bounds) -> Self {
        assert!(bounds.bounds.len() <= MOST);
        Self {
            bounds,
            buckets: [const { AtomicU64::new(0) }; MOST + 1],
            sum: AtomicU64::new(0),
        }
    }

    /// Of requests and calls.
    pub const fn of_requests() -> Self {
        Self::new(&REQUESTS)
    }

    /// Of waits, and of steps of a database.
    pub const fn of_waits() -> Self {
        Self::new(WAITS)
    }

    /// Of numbers up to a few hundred.
    pub const fn of_counts() -> Self {
        Self::new(&COUNTS)
    }

    /// Adds a time.
    pub fn observe(&self, time: Duration) {
        self.add(time.as_micros() as u64);
    }

    /// Adds a number.
    pub fn add(&self, value: u64) {
        let bounds = self.bounds.bounds;
        let bucket = bounds.iter().position(|bound| value <= *bound);
        self.buckets[bucket.unwrap_or(bounds.len())].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// What it has counted so far.
    pub fn snapshot(&self) -> Snapshot {
        let Bounds { bounds, per_unit } = *self.bounds;
        let limits = bounds.iter().map(|bound| *bound as f64 / per_unit);
        let counts = self.buckets.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<_> = limits.chain([f64::INFINITY]).zip(counts).collect();
        Snapshot {
            sum: self.sum.load(Ordering::Relaxed) as f64 / per_unit,
            // Not a number of its own: values that are added meanwhile would not be in both.
            count: buckets.iter().map(|(_, count)| count).sum(),
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        let histogram = Histogram::of_requests();
        for micros in [0, 1000, 1001, 10_000_000, 10_000_001] {
            histogram.observe(Duration::from_micros(micros));
        }
        let snapshot = histogram.snapshot();
        assert_eq!(snapshot.count, 5);
        assert!((snapshot.sum - 20.002_002).abs() < 1e-9, "{}", snapshot.sum);
        let in_bucket = |bound: f64| {
            let found = snapshot.buckets.iter().find(|(limit, _)| *limit == bound);
            found.map(|(_, count)| *count)
        };
        assert_eq!(in_bucket(0.001), Some(2));
        assert_eq!(in_bucket(0.005), Some(1));
        assert_eq!(in_bucket(10.0), Some(1));
        assert_eq!(in_bucket(f64::INFINITY), Some(1));
        assert_eq!(snapshot.buckets.len(), 16);
    }

    #[test]
    fn numbers_are_published_as_they_are() {
        let histogram = Histogram::of_counts();
        histogram.add(3);
        histogram.add(1000);
        let Snapshot { sum, count, buckets } = histogram.snapshot();
        assert_eq!((sum, count), (1003.0, 2));
        assert_eq!(buckets[2], (4.0, 1));
        assert_eq!(buckets[buckets.len() - 1], (f64::INFINITY, 1));
    }
}
