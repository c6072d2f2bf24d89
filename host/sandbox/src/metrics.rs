//! What the sandbox counts, for the whole process.

use portico_metrics::{Counter, Family, Gauge, Waits};

/// Instances that were made for a call.
pub static FRESH: Counter = Counter::new();
/// Instances that were made to hash a password.
pub static TO_HASH: Counter = Counter::new();
/// Calls that got the instance that waited for their user.
pub static WARM: Counter = Counter::new();

/// Instances that work on a call.
pub static RUNNING: Gauge = Gauge::new();

/// Calls that the host ended, by the limit that they exceeded; `trap` for what the component did itself.
pub static ENDED: Family<&str, Counter> = Family::new(32, Counter::new);

/// Waits for an instance.
pub static WAITS: Waits = Waits::new();
