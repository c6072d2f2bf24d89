//! Who may try, by the time that one tells it.

use portico_model::Timestamp;

use super::{
    Source, ThrottledAccount,
    bounded::Bounded,
    count::{Failures, Known, Tries},
};

/// Entries of each kind that are kept: some megabytes in all.
const MOST_ENTRIES: usize = 32_768;

/// Tries at one account that run at once from addresses that are not known: one, or a handful
/// would be over before the first of them counts.
const STRANGERS_AT_ONCE: u32 = 1;

/// The same for an address that is known: a program that signs in for many at once is no attack.
const KNOWN_AT_ONCE: u32 = 8;

/// The state machine. Times are milliseconds, and must not go back.
#[derive(Clone)]
pub struct Rules {
    pub(super) accounts: Bounded<ThrottledAccount, Failures>,
    pub(super) known: Bounded<(ThrottledAccount, Source), Known>,
    pub(super) sources: Bounded<Source, Tries>,
}

/// A try that has begun.
#[derive(Clone, Copy, Debug)]
pub struct LoginAttempt {
    account: Option<ThrottledAccount>,
    source: Option<Source>,
    /// Whether it counts for the account at its address alone.
    is_known: bool,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was right.
    Succeeded,
    /// It was wrong.
    Failed,
    /// It came to nothing that says whether it was right.
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

    /// Begins a try, or says how many milliseconds it has to wait. Waiting costs nothing.
    pub fn begin(
        &mut self,
        account: Option<ThrottledAccount>,
        source: Option<Source>,
        now: Timestamp,
    ) -> Result<LoginAttempt, Timestamp> {
        if let Some(pair) = account.zip(source)
            && let Some(known) = self.known.get(pair, now)
        {
            at_once(known.failures.wait(KNOWN_AT_ONCE, now))?;
            self.known.change(pair, now, |known| known.failures.begin(now));
            return Ok(LoginAttempt {
                account,
                source,
                is_known: true,
            });
        }
        let failures = account.and_then(|account| self.accounts.get(account, now));
        let tries = source.and_then(|source| self.sources.get(source, now));
        let account_wait = failures.map_or(0, |failures| failures.wait(STRANGERS_AT_ONCE, now));
        let source_wait = tries.map_or(0, |tries| tries.wait(now));
        at_once(account_wait.max(source_wait))?;
        if let Some(account) = account {
            self.accounts.change(account, now, |failures| failures.begin(now));
        }
        if let Some(source) = source {
            self.sources.change(source, now, |tries| tries.begin(now));
        }
        Ok(LoginAttempt {
            account,
            source,
            is_known: false,
        })
    }

    /// Counts a try by what became of it.
    pub fn end(&mut self, begun: LoginAttempt, outcome: Outcome, now: Timestamp) {
        let LoginAttempt {
            account,
            source,
            is_known,
        } = begun;
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
                self.sources.change(source, now, Tries::give_back);
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
