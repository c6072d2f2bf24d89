//! The rules of the throttle, over the counts that one attempt depends on. The caller stores the counts and passes the
//! time.

use portico_model::Timestamp;

use super::count::Expiring as _;
use super::{
    count::{Attempts, Failures, KnownSource},
    subject::Subject,
};

/// Parallel attempts at one account from unknown addresses. With more than one, an attacker could make several guesses
/// before the first failure counts.
const STRANGERS_AT_ONCE: usize = 1;

/// The same from a known address: a program that signs in for many clients at the same time is not an attack.
const KNOWN_AT_ONCE: usize = 8;

/// What an attempt depends on. An empty count means that there is no such entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Of the account, from unknown addresses.
    pub account: Failures,
    /// Of the account at this address.
    pub known: KnownSource,
    pub source: Attempts,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub subject: Subject,
    pub began: Timestamp,
    /// Whether it only counts for the account at this address.
    pub is_known: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It succeeded, so its client knew the password.
    Succeeded,
    Failed,
    /// The password was right, and a second factor is missing: it counts, but the attempt with the factor need not wait.
    Incomplete,
    /// Nothing was checked.
    Void,
}

/// Begins an attempt, or returns the milliseconds until one may begin and leaves the counts as they were.
pub(super) fn begin(subject: Subject, counts: &mut Counts, now: Timestamp) -> Result<Attempt, Timestamp> {
    let mut new = counts.clone();
    new.catch_up(now);
    let is_known = subject.pair().is_some() && !new.known.is_over(now);
    if is_known {
        at_once(new.known.failures.wait(KNOWN_AT_ONCE, now))?;
        new.known.failures.begin(now);
    } else {
        let account_wait = subject
            .account
            .map_or(0, |_| new.account.wait(STRANGERS_AT_ONCE, now));
        let source_wait = subject.source.map_or(0, |_| new.source.wait(now));
        at_once(account_wait.max(source_wait))?;
        if subject.account.is_some() {
            new.account.begin(now);
        }
        if subject.source.is_some() {
            new.source.begin(now);
        }
    }
    *counts = new;
    Ok(Attempt {
        subject,
        began: now,
        is_known,
    })
}

/// Ends an attempt, and counts its outcome. One that ends after [`LONGEST_ATTEMPT`](super::count::LONGEST_ATTEMPT) has
/// already counted as failed; a failure counts again.
pub(super) fn end(attempt: Attempt, counts: &mut Counts, outcome: Outcome, now: Timestamp) {
    let Attempt {
        subject,
        began,
        is_known,
    } = attempt;
    counts.catch_up(now);
    if is_known {
        match outcome {
            Outcome::Failed => counts.known.failures.fail(began, now),
            Outcome::Incomplete => counts.known.failures.leave_incomplete(began, now),
            Outcome::Succeeded | Outcome::Void => counts.known.failures.stop(began),
        }
    } else {
        if subject.account.is_some() {
            match outcome {
                Outcome::Failed => counts.account.fail(began, now),
                Outcome::Incomplete => counts.account.leave_incomplete(began, now),
                Outcome::Succeeded | Outcome::Void => counts.account.stop(began),
            }
        }
        if subject.source.is_some() && matches!(outcome, Outcome::Succeeded | Outcome::Void) {
            counts.source.give_back();
        }
    }
    if subject.pair().is_some() && outcome == Outcome::Succeeded {
        counts.known.failures.forgive();
        counts.known.renew(now);
    }
}

impl Counts {
    fn catch_up(&mut self, now: Timestamp) {
        if self.known.is_over(now) {
            self.known = KnownSource::default();
        }
        self.known.failures.catch_up(now);
        self.account.catch_up(now);
    }
}

fn at_once(wait: Timestamp) -> Result<(), Timestamp> {
    if wait == 0 { Ok(()) } else { Err(wait) }
}
