//! Ceremonies that have begun: challenges that wait for a browser to send them back.
//!
//! Invariants:
//! - A challenge is good once, for the purpose and the holder with whom it began, within five minutes, at any host that
//!   shares the records. The time is that of the store. To another holder it is unknown, and stays good for its own.
//! - Each holder has one record, with the last ceremonies that they have begun. So users who begin without end displace only
//!   their own.
//! - The number of records is limited: at the limit those are forgotten that began first, and those of people who have signed
//!   in or know a password last of all.
//! - What is stored is of no use to a reader: hashes of challenges and of holders.

use std::sync::Arc;

use portico_storage::{
    RecordKey, RecordKind, Result, SharedRecord, SharedRecords, hash_secret, secrets::Secrets,
};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

/// How long a ceremony may take, in milliseconds.
pub const TIME_LIMIT: u64 = 5 * 60 * 1000;

/// The most ceremonies of one holder for one purpose; of more, the first are forgotten.
pub(crate) const MOST_OF_HOLDER: usize = 8;

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
        let (hash, head_start) = (hash_of(&challenge), ceremony.head_start());
        let keys = key(ceremony);
        let begin = self.0.change(&keys, move |records, now| {
            let mut begun = read(&records[0], now);
            if begun.len() >= MOST_OF_HOLDER {
                begun.remove(0);
            }
            begun.push(Begun { hash, at: now });
            records[0] = record(&begun, head_start);
        });
        begin.await?;
        Ok(challenge)
    }

    /// Ends this ceremony with this challenge. Returns whether it had begun with it.
    pub async fn end(&self, challenge: &[u8], ceremony: Ceremony<'_>) -> Result<bool> {
        let (hash, head_start) = (hash_of(challenge), ceremony.head_start());
        let keys = key(ceremony);
        let end = self.0.change(&keys, move |records, now| {
            let mut begun = read(&records[0], now);
            let Some(index) = begun.iter().position(|begun| begun.hash == hash) else {
                return false;
            };
            begun.remove(index);
            records[0] = record(&begun, head_start);
            true
        });
        end.await
    }
}

type Hash = [u8; SHA256_OUTPUT_LEN];

/// A ceremony as it is stored: the hash of its challenge, and when it began.
struct Begun {
    hash: Hash,
    at: u64,
}

fn hash_of(challenge: &[u8]) -> Hash {
    let mut hash = Hash::default();
    hash.copy_from_slice(digest(&SHA256, challenge).as_ref());
    hash
}

fn key(ceremony: Ceremony<'_>) -> [RecordKey; 1] {
    [RecordKey::new(RecordKind::PasskeyCeremonies, ceremony.hash())]
}

/// The ceremonies in a record that have not expired, the first one first.
fn read(record: &Option<SharedRecord>, now: u64) -> Vec<Begun> {
    let bytes = record.as_ref().map_or(&[][..], |record| &record.value[..]);
    let (entries, _) = bytes.as_chunks::<{ SHA256_OUTPUT_LEN + 8 }>();
    let begun = entries.iter().filter_map(|entry| {
        let (hash, at) = entry.split_first_chunk()?;
        let at = u64::from_be_bytes(at.try_into().ok()?);
        Some(Begun { hash: *hash, at })
    });
    begun
        .filter(|begun| now < begun.at.saturating_add(TIME_LIMIT))
        .collect()
}

/// A record with these ceremonies, or `None` without any.
fn record(begun: &[Begun], head_start: u64) -> Option<SharedRecord> {
    let last = begun.last()?.at;
    let entries = begun
        .iter()
        .flat_map(|begun| [&begun.hash[..], &begun.at.to_be_bytes()].concat());
    Some(SharedRecord {
        value: entries.collect(),
        rank: i64::try_from(last.saturating_add(head_start)).unwrap_or(i64::MAX),
        ends_at: last.saturating_add(TIME_LIMIT),
    })
}
