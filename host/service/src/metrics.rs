//! What the service counts, for the whole process.

use std::time::Duration;

use portico_metrics::{Counter, Family, Histogram, Waits};
use portico_model::{
    Provider,
    error::{Code, Error},
};

/// The outcome of a call that succeeded.
pub(crate) const OK: &str = "OK";

/// Calls, by procedure, then by outcome: `OK` or the code of the error.
pub static CALLS: Family<&str, Family<&str, Histogram>> =
    Family::new(512, || Family::new(32, Histogram::of_requests));

/// Sign-ins, by provider and outcome.
pub static SIGN_INS: Family<(&str, &str), Counter> = Family::new(128, Counter::new);

/// Attempts that the throttle let begin.
pub static ATTEMPTS_ADMITTED: Counter = Counter::new();
/// Those that it refused.
pub static ATTEMPTS_REFUSED: Counter = Counter::new();
/// Those that could not be counted.
pub static ATTEMPTS_FAILED: Counter = Counter::new();

/// Waits for a permit to hash a password.
pub static HASHING: Waits = Waits::new();
/// Waits for a permit of a call that grows with the data.
pub static LARGE: Waits = Waits::new();
/// Waits for a permit of what only computes.
pub static COMPUTING: Waits = Waits::new();

/// Requests that the gate in front of apps was asked about, by what it decided.
pub static GATE: Family<&str, Counter> = Family::new(16, Counter::new);

/// Rows of the audit log that were written for calls.
pub static AUDIT_CALLS: Counter = Counter::new();
/// Rows that were written for refusals.
pub static AUDIT_REFUSALS: Counter = Counter::new();
/// Refusals that got no row of their own: there were too many, or they could not be written.
pub static AUDIT_LOST: Counter = Counter::new();
/// Rows that were removed because they were old.
pub static AUDIT_OLD: Counter = Counter::new();
/// Rows that were removed because there were too many.
pub static AUDIT_EXCESS: Counter = Counter::new();

/// Counts a call.
pub(crate) fn called(procedure: &'static str, outcome: &'static str, time: Duration) {
    CALLS.record(&procedure, |outcomes| {
        outcomes.record(&outcome, |times| times.observe(time));
    });
}

/// Counts a sign-in that ended.
pub(crate) fn signed_in(provider: Provider, outcome: &'static str) {
    SIGN_INS.record(&(provider.name(), outcome), Counter::increment);
}

/// Shows the outcomes that alerts are about from the start, at zero: what begins at one has no increase.
pub fn expect_sign_ins(provider: Provider) {
    for outcome in [
        OK,
        Code::ServiceUnavailable.name(),
        Code::InternalServerError.name(),
    ] {
        SIGN_INS.record(&(provider.name(), outcome), |_| {});
    }
}

/// Counts whether the throttle let an attempt begin.
pub(crate) fn attempted<T>(begun: &Result<T, Error>) {
    let count = match begun {
        Ok(_) => &ATTEMPTS_ADMITTED,
        Err(error) if error.code == Code::TooManyRequests => &ATTEMPTS_REFUSED,
        Err(_) => &ATTEMPTS_FAILED,
    };
    count.increment();
}
