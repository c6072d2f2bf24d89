//! What this driver counts, for the whole process.

use portico_metrics::{Counter, Histogram, Waits};

/// How long each COMMIT took that succeeded, with what was sent along with it.
pub static COMMITS: Histogram = Histogram::of_waits();
/// Those that failed, or whose outcome is not known.
pub static FAILED_COMMITS: Counter = Counter::new();
/// Waits for a connection of the pool, also for one that has to be opened.
pub static POOL: Waits = Waits::new();
