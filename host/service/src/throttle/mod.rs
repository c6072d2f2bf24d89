//! How often somebody may try: sign-in, `user.register` and `user.initUser`.
//!
//! Invariants:
//! - A try counts from its beginning, so that many at once are many. One that succeeds costs
//!   nothing; one whose caller goes away before its end counts as failed.
//! - Failures are counted for each name, whether it has an account or not, and tries for each
//!   address; a network of IPv6 (/64) is one address. What closes opens again by itself.
//! - Whoever signed in from an address before is counted there on their own: strangers who guess
//!   at a name, or share the address, do not keep its owner out.
//! - Memory is bounded, and nothing of it is kept over a restart.
//!
//! [`Rules`] is a pure state machine; [`Throttle`] gives it the time and a lock.

mod bounded;
mod count;
mod rules;
#[cfg(test)]
mod tests;

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portico_model::{
    Provider,
    error::{Code, Error},
    time::Clock,
};
use portico_storage::hash_secret;

pub use self::rules::{Outcome, Rules};

/// A name, as the throttle knows it: of one size, and not the name itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThrottledAccount([u8; 16]);

impl ThrottledAccount {
    /// The account of this name-key at this provider.
    pub fn new(provider: Provider, name_key: &str) -> Self {
        // The first space ends the provider's name, whatever the name-key holds.
        let hash = hash_secret(&format!("{provider:?} {name_key}"));
        let mut account = [0; 16];
        account.copy_from_slice(&hash[..16]);
        Self(account)
    }
}

/// Where a request comes from, as far as one client can be told from another: an address of IPv4,
/// or a network of IPv6, which one client has to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(IpAddr);

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            address => Self(address),
        }
    }
}

/// Says who may try now.
#[derive(Clone)]
pub struct Throttle(Option<Arc<Watch>>);

struct Watch {
    clock: Arc<dyn Clock>,
    rules: Mutex<Rules>,
}

impl Throttle {
    /// By this clock, which must not go back.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Some(Arc::new(Watch {
            clock,
            rules: Mutex::default(),
        })))
    }

    /// Lets everyone try.
    pub fn off() -> Self {
        Self(None)
    }

    /// Begins a try at this account, if it is about one, from this address, if it is known.
    pub fn begin(
        &self,
        account: Option<ThrottledAccount>,
        address: Option<IpAddr>,
    ) -> Result<LoginAttempt, Error> {
        let Some(watch) = self.0.clone() else {
            return Ok(LoginAttempt(None));
        };
        let now = watch.clock.now();
        let begun = watch.rules().begin(account, address.map(Source::from), now);
        match begun {
            Ok(begun) => Ok(LoginAttempt(Some((watch, begun)))),
            Err(wait) => {
                let seconds = wait.div_ceil(1000).max(1);
                let plural = if seconds == 1 { "" } else { "s" };
                let message = format!("Too many tries; try again in {seconds} second{plural}");
                Err(Error::new(Code::TooManyRequests, message).retry_after(seconds))
            }
        }
    }
}

impl Watch {
    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A try that has begun. Dropped, it has failed.
#[must_use]
pub struct LoginAttempt(Option<(Arc<Watch>, rules::LoginAttempt)>);

impl LoginAttempt {
    /// Counts the try by what became of it.
    pub fn settle<T>(mut self, result: &Result<T, Error>) {
        self.end(match result {
            Ok(_) => Outcome::Succeeded,
            // Nothing was tried: the input had no form, or nobody got to look at it.
            Err(error) if matches!(error.code, Code::BadRequest | Code::ServiceUnavailable) => Outcome::Void,
            Err(_) => Outcome::Failed,
        });
    }

    fn end(&mut self, outcome: Outcome) {
        if let Some((watch, begun)) = self.0.take() {
            let now = watch.clock.now();
            watch.rules().end(begun, outcome, now);
        }
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        self.end(Outcome::Failed);
    }
}
