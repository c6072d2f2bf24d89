//! Limits how often a client may attempt to sign in, to call `user.register` and to call `user.initUser`.
//!
//! Invariants:
//! - An attempt counts from its beginning, so that parallel attempts count as well. A successful one costs
//!   nothing; one whose client leaves before its end counts as failed.
//! - Failures are counted for each name, even if no account has it, and attempts for each address; an IPv6
//!   network (/64) is one address. Every limit is lifted again by itself.
//! - An account has a count of its own at each address from which it signed in before: strangers who guess at
//!   the name, or share the address, do not lock its owner out.
//! - Memory is bounded, and a restart forgets all counts.
//!
//! [`Rules`] is a pure state machine; [`Throttle`] adds the clock and a lock.

mod bounded;
mod count;
mod rules;
mod subject;
#[cfg(test)]
mod tests;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portico_model::{
    error::{Code, Error},
    time::Clock,
};

pub use self::{
    rules::{Outcome, Rules},
    subject::{Source, ThrottledAccount},
};

/// Admits attempts and counts them. Clones share the counts.
#[derive(Clone)]
pub struct Throttle(Option<Arc<State>>);

struct State {
    clock: Arc<dyn Clock>,
    rules: Mutex<Rules>,
}

impl Throttle {
    /// Counts by this clock, which must not go back.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Some(Arc::new(State {
            clock,
            rules: Mutex::default(),
        })))
    }

    /// Admits every attempt.
    pub fn off() -> Self {
        Self(None)
    }

    /// Begins an attempt from this address, if it is known, at this account, unless the attempt names none.
    pub fn begin(
        &self,
        account: Option<ThrottledAccount>,
        address: Option<IpAddr>,
    ) -> Result<LoginAttempt, Error> {
        let Some(state) = self.0.clone() else {
            return Ok(LoginAttempt(None));
        };
        let now = state.clock.now();
        let begun = state.rules().begin(account, address.map(Source::from), now);
        match begun {
            Ok(attempt) => Ok(LoginAttempt(Some((state, attempt)))),
            Err(wait) => {
                let seconds = wait.div_ceil(1000).max(1);
                let plural = if seconds == 1 { "" } else { "s" };
                let message = format!("Too many tries; try again in {seconds} second{plural}");
                Err(Error::new(Code::TooManyRequests, message).retry_after(seconds))
            }
        }
    }
}

impl State {
    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt that has begun. If it is dropped, it counts as failed.
#[must_use]
pub struct LoginAttempt(Option<(Arc<State>, rules::Attempt)>);

impl LoginAttempt {
    /// Ends the attempt, and counts it by its result.
    pub fn settle<T>(mut self, result: &Result<T, Error>) {
        match result {
            Ok(_) => self.end(Outcome::Succeeded),
            Err(error) => self.refuse(error),
        }
    }

    /// Ends the attempt with this error.
    pub(crate) fn refuse(mut self, error: &Error) {
        // Nothing was tested: the input was malformed, or it could not be checked.
        let was_untested = matches!(error.code, Code::BadRequest | Code::ServiceUnavailable);
        self.end(if was_untested {
            Outcome::Void
        } else {
            Outcome::Failed
        });
    }

    fn end(&mut self, outcome: Outcome) {
        if let Some((state, attempt)) = self.0.take() {
            let now = state.clock.now();
            state.rules().end(attempt, outcome, now);
        }
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        self.end(Outcome::Failed);
    }
}
