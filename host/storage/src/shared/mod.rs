//! What several hosts on one storage must share and is not part of the dashboard: small records that expire. There are
//! two drivers: `memory.rs` for a host that is alone on its storage, and the one of PostgreSQL.
//!
//! Invariants of every driver:
//! - A step is atomic: between its reads and its writes no other host reads or changes its records.
//! - All hosts take the time from one clock, so that hosts whose own clocks differ count alike.
//! - A record that has expired counts as missing.
//! - The number of records of each kind is limited. Beyond the limit, those of the lowest rank are forgotten a little
//!   later.
//!
//! Records hold no secret that is of use to a reader of the storage.

mod memory;
mod turn;

use async_trait::async_trait;
use portico_model::Timestamp;

use crate::records::{Error, Result};
pub use memory::MemoryRecords;
pub use turn::Turn;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// Failed attempts to sign in to an account.
    AccountFailures,
    /// An address from which an account signed in, and its failures there.
    KnownSource,
    /// Attempts from an address.
    SourceAttempts,
    /// Sign-ins of a browser that is at the issuer.
    SignIns,
    /// The challenges of passkeys that a user or a browser was given and has not sent back yet.
    PasskeyCeremonies,
    /// A sign-in whose password was right, and whose second factor is still missing.
    Tickets,
    /// Which version of an index of icons there is.
    IconVersion,
    /// An index of icons.
    IconIndex,
    /// Work that only one host does at a time: see [`Turn`].
    Turn,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::AccountFailures,
        Self::KnownSource,
        Self::SourceAttempts,
        Self::SignIns,
        Self::PasskeyCeremonies,
        Self::Tickets,
        Self::IconVersion,
        Self::IconIndex,
        Self::Turn,
    ];

    /// Its name in storage. Hosts of other versions use it too.
    pub fn name(self) -> &'static str {
        match self {
            Self::AccountFailures => "account-failures",
            Self::KnownSource => "known-source",
            Self::SourceAttempts => "source-attempts",
            Self::SignIns => "sign-ins",
            Self::PasskeyCeremonies => "passkey-ceremonies",
            Self::Tickets => "tickets",
            Self::IconVersion => "icon-version",
            Self::IconIndex => "icon-index",
            Self::Turn => "turn",
        }
    }

    /// About how many records of this kind storage keeps.
    pub fn most(self) -> u32 {
        match self {
            // Anybody can cause these; in memory they take some 20 MB.
            Self::AccountFailures | Self::SourceAttempts => 32_768,
            // Only those who know a password cause these.
            Self::KnownSource => 100_000,
            Self::SignIns | Self::Tickets => 8192,
            // Anyone can cause these, too: each has some 500 bytes.
            Self::PasskeyCeremonies => 16_384,
            // Operators choose the sources, and each has some megabytes.
            Self::IconVersion | Self::IconIndex => 64,
            Self::Turn => 64,
        }
    }
}

/// How a record is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// What it is about.
    pub kind: RecordKind,
    /// Which one of its kind.
    pub key: Vec<u8>,
}

impl RecordKey {
    /// The record of this kind with this key.
    pub fn new(kind: RecordKind, key: impl Into<Vec<u8>>) -> Self {
        Self {
            kind,
            key: key.into(),
        }
    }
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRecord {
    /// The content. Its reader knows the format.
    pub value: Vec<u8>,
    /// When there are too many, those of the lowest rank are forgotten first.
    pub rank: i64,
    /// From this moment on it counts as missing.
    pub ends_at: Timestamp,
}

/// A change of records, in the order of their keys, at this moment. `None` is a missing record.
pub type Change<'a> = dyn FnMut(&mut [Option<SharedRecord>], Timestamp) + Send + 'a;

/// Keeps the records that hosts share.
#[async_trait]
pub trait SharedRecords: Send + Sync + 'static {
    /// The records of these keys, in their order, and the time.
    async fn read(&self, keys: &[RecordKey]) -> Result<(Vec<Option<SharedRecord>>, Timestamp)>;

    /// Reads the records of these keys (few, and each once), lets `change` change them, and stores the result, as one
    /// step. It calls `change` at most once, and returns without an error only if it did. It fails if that takes longer
    /// than [`WAIT_TIMEOUT`](crate::driver::WAIT_TIMEOUT).
    async fn step(&self, keys: &[RecordKey], change: &mut Change<'_>) -> Result<()>;
}

impl dyn SharedRecords {
    /// The same as [`step`](SharedRecords::step), with what the change returns.
    pub async fn change<T: Send>(
        &self,
        keys: &[RecordKey],
        change: impl FnOnce(&mut [Option<SharedRecord>], Timestamp) -> T + Send,
    ) -> Result<T> {
        let (mut change, mut answer) = (Some(change), None);
        let mut once = |records: &mut [Option<SharedRecord>], now: Timestamp| {
            answer = change.take().map(|change| change(records, now));
        };
        self.step(keys, &mut once).await?;
        answer.ok_or_else(|| Error::Unavailable("the shared records were not changed".into()))
    }
}
