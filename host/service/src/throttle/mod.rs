//! Limits how often a client may attempt to sign in, to call `user.register` and to call `user.initUser`.
//!
//! Invariants:
//! - An attempt counts from its beginning, so that parallel attempts count as well. A successful one costs
//!   nothing; one whose client leaves before its end counts as failed.
//! - Failures are counted for each name, even if no account has it, and attempts for each address; an IPv6
//!   network (/64) is one address. Every limit is lifted again by itself.
//! - An account has a count of its own at each address from which it signed in before: strangers who guess at
//!   the name, or share the address, do not lock its owner out.
//! - What is kept is bounded.
//! - An attempt that has not ended after two minutes, because its host was killed, counts as failed.
//! - Where hosts share a storage, they share the counts (`shared.rs`). Else the counts are in memory
//!   (`memory.rs`), and a restart forgets them.
//!
//! `rules.rs` is a pure state machine over the few counts (`count.rs`) of one attempt.

mod bounded;
mod count;
mod memory;
mod rules;
mod shared;
mod subject;
#[cfg(test)]
mod tests;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time::Clock,
};
use portico_storage::SharedRecords;
use tokio::runtime::Handle;
use tracing::warn;

pub use self::subject::{Source, ThrottledAccount};
use self::{
    memory::MemoryCounts,
    rules::{Attempt, Outcome},
    shared::SharedCounts,
    subject::Subject,
};

/// Admits attempts and counts them. Clones share the counts.
#[derive(Clone)]
pub struct Throttle(Option<Arc<Place>>);

/// Where the counts are.
enum Place {
    Memory {
        clock: Arc<dyn Clock>,
        counts: Mutex<MemoryCounts>,
    },
    Shared(SharedCounts),
}

impl Throttle {
    /// Counts in memory, by this clock, which must not go back.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Some(Arc::new(Place::Memory {
            clock,
            counts: Mutex::default(),
        })))
    }

    /// Counts with other hosts.
    pub fn shared(records: Arc<dyn SharedRecords>) -> Self {
        Self(Some(Arc::new(Place::Shared(SharedCounts::new(records)))))
    }

    /// Admits every attempt.
    pub fn off() -> Self {
        Self(None)
    }

    /// Begins an attempt from this address, if it is known, at this account, unless the attempt names none.
    /// `SERVICE_UNAVAILABLE` if it cannot be counted.
    pub async fn begin(
        &self,
        account: Option<ThrottledAccount>,
        address: Option<IpAddr>,
    ) -> Result<LoginAttempt, Error> {
        let Some(place) = self.0.clone() else {
            return Ok(LoginAttempt(None));
        };
        let source = address.map(Source::from);
        let subject = Subject { account, source };
        if let Place::Memory { clock, counts } = &*place {
            let attempt = lock(counts).begin(subject, clock.now()).map_err(too_many)?;
            return Ok(LoginAttempt(Some((place, attempt))));
        }
        // Goes on if the caller leaves: the attempt then ends as failed.
        let beginning = tokio::spawn(async move {
            let begun = match &*place {
                Place::Shared(shared) => shared.begin(subject).await?,
                Place::Memory { clock, counts } => lock(counts).begin(subject, clock.now()),
            };
            let attempt = begun.map_err(too_many)?;
            Ok(LoginAttempt(Some((place, attempt))))
        });
        beginning.await.map_err(Error::internal)?
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
        LoginAttempt(self.0.clone().map(|place| (place, attempt)))
    }
}

impl Place {
    async fn end(&self, attempt: Attempt, outcome: Outcome) {
        match self {
            Self::Memory { clock, counts } => lock(counts).end(attempt, outcome, clock.now()),
            Self::Shared(shared) => {
                if let Err(error) = shared.end(attempt, outcome).await {
                    warn!(
                        ?error,
                        "the end of an attempt to sign in was not counted: it counts as failed"
                    );
                }
            }
        }
    }
}

fn lock(counts: &Mutex<MemoryCounts>) -> MutexGuard<'_, MemoryCounts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The refusal of an attempt that has to wait for these milliseconds.
fn too_many(wait: Timestamp) -> Error {
    let seconds = wait.div_ceil(1000).max(1);
    let plural = if seconds == 1 { "" } else { "s" };
    let message = format!("Too many tries; try again in {seconds} second{plural}");
    Error::new(Code::TooManyRequests, message).retry_after(seconds)
}

/// An attempt that has begun. If it is dropped, it counts as failed.
#[must_use]
pub struct LoginAttempt(Option<(Arc<Place>, Attempt)>);

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

    /// Leaves an attempt that names no account to be [resumed](Throttle::resume), by this host or another one.
    /// If that does not happen, it has failed.
    pub fn leave(mut self) -> Option<Source> {
        let (place, attempt) = self.0.take()?;
        if attempt.subject.account.is_some() {
            // It ends here.
            drop(Self(Some((place, attempt))));
        }
        attempt.subject.source
    }

    async fn end(mut self, outcome: Outcome) {
        let Some((place, attempt)) = self.0.take() else {
            return;
        };
        if matches!(*place, Place::Memory { .. }) {
            return place.end(attempt, outcome).await;
        }
        // Goes on if the caller leaves.
        let ending = tokio::spawn(async move { place.end(attempt, outcome).await });
        if let Err(error) = ending.await {
            warn!(%error, "the end of an attempt to sign in was not counted: it counts as failed");
        }
    }
}

fn outcome_of(error: &Error) -> Outcome {
    match error.code {
        // Nothing was tested: the input was malformed, or it could not be checked.
        Code::BadRequest | Code::ServiceUnavailable => Outcome::Void,
        _ => Outcome::Failed,
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        let Some((place, attempt)) = self.0.take() else {
            return;
        };
        match &*place {
            Place::Memory { clock, counts } => lock(counts).end(attempt, Outcome::Failed, clock.now()),
            // Without a runtime the process ends, and the attempt counts as failed after a while.
            Place::Shared(_) => {
                if let Ok(runtime) = Handle::try_current() {
                    drop(runtime.spawn(async move { place.end(attempt, Outcome::Failed).await }));
                }
            }
        }
    }
}
