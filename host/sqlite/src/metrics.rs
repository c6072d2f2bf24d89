//! What this driver counts, for the whole process.

use portico_metrics::{Counter, Histogram, Waits};

/// How long each COMMIT took that succeeded.
pub static COMMITS: Histogram = Histogram::of_waits();
/// Those that failed.
pub static FAILED_COMMITS: Counter = Counter::new();
/// How many transactions each COMMIT made durable.
pub static BATCHES: Histogram = Histogram::of_counts();
/// Waits for the permit to write.
pub static WRITING: Waits = Waits::new();
/// Waits for a connection to read with.
pub static READING: Waits = Waits::new();
