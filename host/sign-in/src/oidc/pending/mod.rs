//! Pending sign-ins: browsers that are at the issuer.
//!
//! Invariants:
//! - A sign-in is found by its state, only from the browser that began it, within ten minutes, and once.
//! - Where hosts share a storage, they share the sign-ins (`shared.rs`): one may end at another host than it
//!   began. Else they are in memory (`memory.rs`).
//! - Their number is limited: when there is no more room, the oldest sign-in is forgotten.
//! - What is kept is worth nothing to a reader: hashes of states and browsers. Nonce and PKCE verifier are
//!   derived from the browser's secret, which only its cookie has, and from the state.

mod memory;
mod shared;

use std::sync::Arc;

use portico_model::{Timestamp, error::Error};
use portico_service::external::PATIENCE_SECONDS;
use portico_service::throttle::Source;
use portico_storage::{SecretHash, SharedRecords, hash_secret};

use self::{memory::MemoryPending, shared::SharedPending};

/// How long a sign-in may take.
const TIME_LIMIT: Timestamp = PATIENCE_SECONDS * 1000;

/// A pending sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The path to which the browser is sent at the end.
    pub return_to: String,
    /// Where its attempt counts, which fails unless it is resumed.
    pub source: Option<Source>,
}

/// Why a sign-in is not taken.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// There is none, for this reason.
    Unknown(&'static str),
    /// The store does not answer.
    Failed(Error),
}

pub(super) enum Pending {
    Memory(MemoryPending),
    Shared(SharedPending),
}

impl Pending {
    /// In what hosts share, or else in memory.
    pub fn new(records: Option<Arc<dyn SharedRecords>>) -> Self {
        match records {
            Some(records) => Self::Shared(SharedPending::new(records)),
            None => Self::Memory(MemoryPending::default()),
        }
    }

    /// Keeps a sign-in that begins now.
    pub async fn keep(
        &self,
        state: SecretHash,
        browser: SecretHash,
        entry: Entry,
        now: Timestamp,
    ) -> Result<(), Error> {
        match self {
            Self::Memory(pending) => pending.keep(state, browser, entry, now),
            Self::Shared(pending) => pending.keep(&state, &browser, entry).await?,
        }
        Ok(())
    }

    /// Removes and returns a sign-in.
    pub async fn take(
        &self,
        state: &SecretHash,
        browser: &SecretHash,
        now: Timestamp,
    ) -> Result<Entry, NotTaken> {
        match self {
            Self::Memory(pending) => pending.take(state, browser, now).map_err(NotTaken::Unknown),
            Self::Shared(pending) => pending.take(state, browser).await,
        }
    }

    /// Whether there is a sign-in of this browser.
    pub async fn knows(&self, browser: &SecretHash, now: Timestamp) -> Result<bool, Error> {
        Ok(match self {
            Self::Memory(pending) => pending.knows(browser, now),
            Self::Shared(pending) => pending.knows(browser).await?,
        })
    }
}

/// The nonce that the ID token of a sign-in must contain.
pub(super) fn nonce(browser: &str, state: &str) -> String {
    derived("nonce", browser, state)
}

/// The PKCE verifier of a sign-in (RFC 7636): 64 characters, of 256 bits.
pub(super) fn verifier(browser: &str, state: &str) -> String {
    derived("verifier", browser, state)
}

/// A value that only a holder of the browser's secret can compute.
fn derived(purpose: &str, browser: &str, state: &str) -> String {
    hex(&hash_secret(&format!(
        "portico oidc {purpose}\n{browser}\n{state}"
    )))
}

fn hex(hash: &SecretHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_and_verifier_are_of_one_sign_in_and_have_the_form_of_their_standards() {
        let derive = [nonce, verifier];
        let mut all: Vec<_> = [("one", "a"), ("one", "b"), ("two", "a"), ("tw", "oa")]
            .into_iter()
            .flat_map(|(browser, state)| derive.map(|derive| derive(browser, state)))
            .collect();
        assert!(all.iter().all(|text| (43..=128).contains(&text.len())));
        assert!(
            all.iter()
                .flat_map(|text| text.bytes())
                .all(|byte| byte.is_ascii_alphanumeric())
        );
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
