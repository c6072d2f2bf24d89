//! Limits how often a client may attempt to sign in, and to call `user.register`, `invite.getByToken`,
//! `user.setPasswordByLink` and `user.initUser`.
//!
//! Invariants:
//! - An attempt counts from its beginning, so that parallel attempts count as well. A successful attempt costs nothing;
//!   one whose client disconnects before its end counts as failed.
//! - Failures are counted for each name, even if no account has it, and attempts for each address; an IPv6 network
//!   (/64) is one address. Every limit ends by itself.
//! - An account has a count of its own at each address from which it signed in before: strangers who guess passwords
//!   for the name, or share the address, do not lock its owner out.
//! - The beginning and the end of an attempt are one step of the shared records each, so that several hosts count like
//!   one. The number of records is bounded.
//! - An attempt that has not ended after two minutes, because its host was killed, counts as failed.
//!
//! `rules.rs` is a pure state machine over the few counts (`count.rs`) of one attempt, which `counts.rs` stores.

mod count;
mod counts;
mod rules;
mod subject;
#[cfg(test)]
mod tests;

use std::{net::IpAddr, sync::Arc};

use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_rules::refusal::Refusal;
use portico_rules::sentences::Seconds;
use portico_storage::SharedRecords;
use tokio::runtime::Handle;
use tracing::warn;

pub use self::subject::{Source, ThrottledAccount};
use self::{
    counts::Counts,
    rules::{Attempt, Outcome},
    subject::Subject,
};
use crate::metrics;

/// Admits attempts and counts them. Clones share the counts.
#[derive(Clone)]
pub struct Throttle(Option<Arc<Counts>>);

impl Throttle {
    /// Counts in these records, with all hosts that share them.
    pub fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self(Some(Arc::new(Counts::new(records))))
    }

    /// Admits every attempt.
    pub fn off() -> Self {
        Self(None)
    }

    /// Begins an attempt from this address, if it is known, at this account, if the attempt names one.
    /// `SERVICE_UNAVAILABLE` if it cannot be counted.
    pub async fn begin(
        &self,
        account: Option<ThrottledAccount>,
        address: Option<IpAddr>,
    ) -> Result<LoginAttempt, Error> {
        let Some(counts) = self.0.clone() else {
            return Ok(LoginAttempt(None));
        };
        let source = address.map(Source::from);
        let subject = Subject { account, source };
        // Continues if the client disconnects: the attempt then ends as failed.
        let beginning = tokio::spawn(async move {
            let attempt = counts.begin(subject).await?.map_err(too_many)?;
            Ok(LoginAttempt(Some((counts, attempt))))
        });
        let begun = beginning.await.map_err(Error::internal)?;
        metrics::attempted(&begun);
        begun
    }

    /// The attempt from this source that [`LoginAttempt::leave`] left.
    pub fn resume(&self, source: Option<Source>) -> LoginAttempt {
        let subject = Subject {
            account: None,
            source,
        };
        let attempt = Attempt {
            subject,
            began: 0,
            is_known: false,
        };
        LoginAttempt(self.0.clone().map(|counts| (counts, attempt)))
    }
}

/// The refusal of an attempt that has to wait for this many milliseconds.
fn too_many(wait: Timestamp) -> Error {
    let seconds = wait.div_ceil(1000).max(1);
    let wait = Seconds(seconds);
    Error::from(Refusal::TooManyTries { wait }).retry_after(seconds)
}

/// An attempt that has begun. If it is dropped, it counts as failed.
#[must_use]
pub struct LoginAttempt(Option<(Arc<Counts>, Attempt)>);

impl LoginAttempt {
    /// Ends the attempt, and counts it by its result.
    pub fn settle<T>(self, result: &Result<T, Error>) -> impl Future<Output = ()> + Send + use<T> {
        let outcome = result.as_ref().map_or_else(outcome_of, |_| Outcome::Succeeded);
        self.end(outcome)
    }

    /// Ends the attempt with this error.
    pub(crate) async fn refuse(self, error: &Error) {
        self.end(outcome_of(error)).await;
    }

    /// Leaves an attempt that names no account to be [resumed](Throttle::resume), by this host or another one. If it is
    /// not resumed, it has failed.
    pub fn leave(mut self) -> Option<Source> {
        let (counts, attempt) = self.0.take()?;
        if attempt.subject.account.is_some() {
            // It ends here.
            drop(Self(Some((counts, attempt))));
        }
        attempt.subject.source
    }

    async fn end(mut self, outcome: Outcome) {
        let Some((counts, attempt)) = self.0.take() else {
            return;
        };
        // Continues if the client disconnects.
        let ending = tokio::spawn(async move { end(&counts, attempt, outcome).await });
        if let Err(error) = ending.await {
            warn!(%error, "the end of an attempt to sign in was not counted: it counts as failed");
        }
    }
}

async fn end(counts: &Counts, attempt: Attempt, outcome: Outcome) {
    if let Err(error) = counts.end(attempt, outcome).await {
        warn!(
            ?error,
            "the end of an attempt to sign in was not counted: it counts as failed"
        );
    }
}

fn outcome_of(error: &Error) -> Outcome {
    match error.code {
        _ if error
            .missing_factor
            .as_ref()
            .is_some_and(|missing| !missing.is_wrong) =>
        {
            Outcome::Incomplete
        }
        // Nothing was checked: the input was malformed, or could not be checked.
        Code::BadRequest | Code::ServiceUnavailable => Outcome::Void,
        _ => Outcome::Failed,
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        let Some((counts, attempt)) = self.0.take() else {
            return;
        };
        // Without a runtime the process is ending, and the attempt counts as failed after a while.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { end(&counts, attempt, Outcome::Failed).await });
        }
    }
}
