//! Ceremonies that have begun: challenges that wait for a browser to send them back.
//!
//! Invariants:
//! - A challenge is good once, for the purpose and the holder with whom it began, within five minutes, at any host that
//!   shares the records. The time is that of the store.
//! - Their number is limited: at the limit those are forgotten that began first, and those of people who have signed in
//!   or know a password last of all.
//! - What is stored is of no use to a reader: hashes of challenges and of holders.

use std::sync::Arc;

use portico_storage::{
    RecordKey, RecordKind, Result, SharedRecord, SharedRecords, hash_secret, secrets::Secrets,
};

/// How long a ceremony may take, in milliseconds.
pub const TIME_LIMIT: u64 = 5 * 60 * 1000;

/// By how much those with a known holder rank above others, in milliseconds.
const HEAD_START: u64 = 24 * 60 * 60 * 1000;

/// What a ceremony is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A new passkey, by the user who holds it.
    Registration,
    /// Signing in with a passkey alone, in the browser that holds it.
    SignIn,
    /// A passkey after a password, by the client with the ticket that holds it.
    SecondFactor,
    /// A passkey before a change of the second factors, by the user who holds it.
    Proof,
}

/// A ceremony.
#[derive(Clone, Copy, Debug)]
pub struct Ceremony<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// Who must end it: the user's id, or a secret of the browser or of its sign-in.
    pub holder: &'a str,
}

impl Ceremony<'_> {
    fn hash(&self) -> [u8; 32] {
        hash_secret(&format!("{:?} {}", self.purpose, self.holder))
    }

    fn head_start(&self) -> u64 {
        match self.purpose {
            Purpose::Registration | Purpose::SecondFactor | Purpose::Proof => HEAD_START,
            // Anyone can begin these.
            Purpose::SignIn => 0,
        }
    }
}

/// The ceremonies that have begun.
#[derive(Clone)]
pub struct Ceremonies(Arc<dyn SharedRecords>);

impl Ceremonies {
    /// Those in these records.
    pub fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self(records)
    }

    /// Begins a ceremony, and returns its challenge.
    pub async fn begin(&self, ceremony: Ceremony<'_>, secrets: &Secrets) -> Result<Vec<u8>> {
        let challenge = secrets.one_time().into_bytes();
        let (value, head_start) = (ceremony.hash().to_vec(), ceremony.head_start());
        let keys = key(&challenge);
        let begin = self.0.change(&keys, move |records, now| {
            records[0] = Some(SharedRecord {
                value,
                rank: i64::try_from(now.saturating_add(head_start)).unwrap_or(i64::MAX),
                ends_at: now.saturating_add(TIME_LIMIT),
            });
        });
        begin.await?;
        Ok(challenge)
    }

    /// Ends the ceremony with this challenge, whichever it is. Returns whether it is this one.
    pub async fn end(&self, challenge: &[u8], ceremony: Ceremony<'_>) -> Result<bool> {
        let keys = key(challenge);
        let take = self.0.change(&keys, |records, _| records[0].take());
        let taken = take.await?;
        Ok(taken.is_some_and(|record| record.value == ceremony.hash()))
    }
}

fn key(challenge: &[u8]) -> [RecordKey; 1] {
    let hash = ring::digest::digest(&ring::digest::SHA256, challenge);
    [RecordKey::new(RecordKind::PasskeyCeremonies, hash.as_ref())]
}
