//! The rules of the throttle, as a state machine: its caller gives the time.

use portico_model::Timestamp;

use super::{
    bounded::Bounded,
    count::{Attempts, Failures, KnownSource},
    subject::{Source, ThrottledAccount},
};

/// The most entries of each kind: some megabytes in all.
const MOST_ENTRIES: usize = 32_768;

/// Parallel attempts at one account from unknown addresses. With more than one, several guesses would be made
/// before the first failure counts.
const STRANGERS_AT_ONCE: u32 = 1;

/// The same from a known address: a program that signs in for many clients at once is no attack.
const KNOWN_AT_ONCE: u32 = 8;

/// The state machine. Times are in milliseconds, and must not go back.
#[derive(Clone)]
pub struct Rules {
    pub(super) accounts: Bounded<ThrottledAccount, Failures>,
    pub(super) known: Bounded<(ThrottledAccount, Source), KnownSource>,
    pub(super) sources: Bounded<Source, Attempts>,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    account: Option<ThrottledAccount>,
    source: Option<Source>,
    /// Whether it only counts for the account at this address.
    is_known: bool,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded, so its client knew the password.
    Succeeded,
    /// It failed.
    Failed,
    /// Nothing was checked.
    Void,
}

impl Default for Rules {
    fn default() -> Self {
        Self::with_room_for(MOST_ENTRIES)
    }
}

impl Rules {
    pub(super) fn with_room_for(entries: usize) -> Self {
        Self {
            accounts: Bounded::new(entries),
            known: Bounded::new(entries),
            sources: Bounded::new(entries),
        }
    }

    /// Begins an attempt, or gives the milliseconds until one may begin. A refused attempt is not counted.
    pub fn begin(
        &mut self,
        account: Option<ThrottledAccount>,
        source: Option<Source>,
        now: Timestamp,
    ) -> Result<Attempt, Timestamp> {
        if let Some(pair) = account.zip(source)
            && let Some(known) = self.known.get(pair, now)
        {
            at_once(known.failures.wait(KNOWN_AT_ONCE, now))?;
            self.known.change(pair, now, |known| known.failures.begin(now));
            return Ok(Attempt {
                account,
                source,
                is_known: true,
            });
        }
        let failures = account.and_then(|account| self.accounts.get(account, now));
        let attempts = source.and_then(|source| self.sources.get(source, now));
        let account_wait = failures.map_or(0, |failures| failures.wait(STRANGERS_AT_ONCE, now));
        let source_wait = attempts.map_or(0, |attempts| attempts.wait(now));
        at_once(account_wait.max(source_wait))?;
        if let Some(account) = account {
            self.accounts.change(account, now, |failures| failures.begin(now));
        }
        if let Some(source) = source {
            self.sources.change(source, now, |attempts| attempts.begin(now));
        }
        Ok(Attempt {
            account,
            source,
            is_known: false,
        })
    }

    /// Ends an attempt, and counts its outcome.
    pub fn end(&mut self, attempt: Attempt, outcome: Outcome, now: Timestamp) {
        let Attempt {
            account,
            source,
            is_known,
        } = attempt;
        let pair = account.zip(source);
        if let Some(pair) = pair.filter(|_| is_known) {
            self.known.change(pair, now, |known| match outcome {
                Outcome::Failed => known.failures.fail(now),
                Outcome::Succeeded | Outcome::Void => known.failures.stop(),
            });
        } else {
            if let Some(account) = account {
                self.accounts.change(account, now, |failures| match outcome {
                    Outcome::Failed => failures.fail(now),
                    Outcome::Succeeded | Outcome::Void => failures.stop(),
                });
            }
            if let Some(source) = source.filter(|_| outcome != Outcome::Failed) {
                self.sources.change(source, now, Attempts::give_back);
            }
        }
        if let Some(pair) = pair.filter(|_| outcome == Outcome::Succeeded) {
            self.known.change(pair, now, |known| {
                known.failures.forgive();
                known.renew(now);
            });
        }
    }
}

fn at_once(wait: Timestamp) -> Result<(), Timestamp> {
    if wait == 0 { Ok(()) } else { Err(wait) }
}
