//! What the checks count, for the whole process.

use portico_metrics::{Counter, Family};
use portico_service::reachability::{REASONS, Status};

/// Checks that ended: `up`, the reason why an app is down or may not be checked, or `no-thread`.
pub static CHECKS: Family<&str, Counter> = Family::new(REASONS.len() + 2, Counter::new);

/// Counts a check that ended; `None`: no thread was free to look its name up.
pub(crate) fn count(outcome: Option<Status>) {
    let result = match outcome {
        Some(Status::Up { .. }) => "up",
        Some(Status::Down(down)) => down.name(),
        Some(Status::NotAllowed(refused)) => refused.name(),
        Some(Status::Unknown) | None => "no-thread",
    };
    CHECKS.record(&result, Counter::increment);
}
