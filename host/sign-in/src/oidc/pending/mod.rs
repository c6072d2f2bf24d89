//! Pending sign-ins: browsers that are at the issuer.
//!
//! Invariants:
//! - A sign-in is found by its state, only from the browser that began it, within ten minutes, and once.
//! - Where hosts share a storage, they share the sign-ins (`shared.rs`): one may end at another host than it
//!   began. Else they are in memory (`memory.rs`).
//! - Their number is limited: when there is no more room, the oldest sign-in is forgotten.
//! - What is kept is worth nothing to a reader: hashes of states and browsers. Nonce and PKCE verifier are
//!   derived from the browser's secret, which only its cookie has, and from the state.

mod entry;
mod memory;
mod shared;

use std::sync::Arc;

use portico_model::{Timestamp, error::Error};
use portico_storage::{SecretHash, SharedRecords};

pub(super) use self::entry::{Entry, NotTaken, nonce, verifier};
use self::{memory::MemoryPending, shared::SharedPending};

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
