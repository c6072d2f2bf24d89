//! Tickets: sign-ins whose password was right, and whose second factor is still missing.
//!
//! Invariants:
//! - A ticket is found by its text alone, of which the hash is stored, at every host that shares the records.
//! - It ends after ten minutes, after ten wrong codes, and when a session begins with it: one, even of many requests at once.
//!   It is not a credential, and the user as they are then decides what it is good for.
//! - A session never begins with a ticket alone: if no second factor is left, people sign in once more.

use std::sync::Arc;

use portico_model::{Provider, Timestamp, error::Error};
use portico_rules::refusal::Refusal;
use portico_storage::{RecordKey, RecordKind, SharedRecord, SharedRecords, hash_secret, secrets::Secrets};
use serde::{Deserialize, Serialize};

use crate::throttle::ThrottledAccount;

/// How long a sign-in may take after its password.
const TIME_LIMIT: Timestamp = 10 * 60 * 1000;
/// The wrong codes after which a sign-in begins again.
const MOST_WRONG: u32 = 10;

/// A sign-in whose password was right.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub user_id: String,
    /// Who has checked the password.
    pub provider: Provider,
    /// The version of the password that was right.
    pub password_version: u64,
    /// For which the throttle counts it.
    pub account: ThrottledAccount,
    /// How many codes were wrong.
    #[serde(default)]
    pub wrong: u32,
}

/// The tickets that are good now.
pub struct Tickets(Arc<dyn SharedRecords>);

impl Tickets {
    /// Those in these records.
    pub(crate) fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self(records)
    }

    /// Keeps a ticket, and returns its text.
    pub(crate) async fn issue(&self, secrets: &Secrets, ticket: &Ticket) -> Result<String, Error> {
        let text = secrets.one_time();
        let value = serde_json::to_vec(ticket).map_err(Error::internal)?;
        let keys = key(&text);
        let keep = self.0.change(&keys, |records, now| {
            records[0] = Some(SharedRecord {
                value,
                rank: i64::try_from(now).unwrap_or(i64::MAX),
                ends_at: now.saturating_add(TIME_LIMIT),
            });
        });
        keep.await?;
        Ok(text)
    }

    /// The ticket with this text.
    pub(crate) async fn read(&self, text: &str) -> Result<Ticket, Error> {
        let (records, _) = self.0.read(&key(text)).await?;
        let ticket = records.into_iter().flatten().next();
        ticket
            .and_then(|record| serde_json::from_slice(&record.value).ok())
            .ok_or_else(|| Refusal::DeadTicket.into())
    }

    /// Counts a wrong code, after which the ticket may end.
    pub(crate) async fn count_wrong(&self, text: &str) -> Result<(), Error> {
        let keys = key(text);
        let count = self.0.change(&keys, |records, _| {
            let Some(record) = &mut records[0] else { return };
            let ticket: Option<Ticket> = serde_json::from_slice(&record.value).ok();
            let ticket = ticket.map(|ticket| Ticket {
                wrong: ticket.wrong + 1,
                ..ticket
            });
            match ticket.filter(|ticket| ticket.wrong < MOST_WRONG) {
                // Texts and numbers always become JSON.
                Some(ticket) => record.value = serde_json::to_vec(&ticket).unwrap_or_default(),
                None => records[0] = None,
            }
        });
        Ok(count.await?)
    }

    /// Uses a ticket up. Of many that do so at once, at any host, one succeeds.
    pub(crate) async fn take(&self, text: &str) -> Result<(), Error> {
        let keys = key(text);
        let take = self.0.change(&keys, |records, _| records[0].take());
        take.await?.map(drop).ok_or_else(|| Refusal::DeadTicket.into())
    }
}

fn key(text: &str) -> [RecordKey; 1] {
    [RecordKey::new(RecordKind::Tickets, hash_secret(text))]
}
