//! Pending sign-ins: browsers that are at the issuer.
//!
//! Invariants:
//! - A sign-in is found by its state, only from the browser that began it, within ten minutes, and once, at any host
//!   that shares the records. Each browser has one record, with the sign-ins that it began. The time is that of the
//!   store.
//! - Their number is limited: at the limit, the oldest sign-in is forgotten.
//! - What is stored is useless to a reader: hashes of states, browsers and secrets of invites. Nonce and PKCE verifier are derived from the
//!   browser's secret, which only its cookie has, and from the state.

mod entry;

use std::net::IpAddr;
use std::sync::Arc;

use portico_model::Timestamp;
use portico_service::external::Invitation;
use portico_service::throttle::Source;
use portico_storage::{RecordKey, RecordKind, Result, SecretHash, SharedRecord, SharedRecords};
use serde::{Deserialize, Serialize};

pub(super) use self::entry::{Entry, NotTaken, nonce, verifier};
use self::entry::{TIME_LIMIT, hex};

/// The most pending sign-ins of one browser.
const MOST_OF_BROWSER: usize = 8;

pub(super) struct Pending(Arc<dyn SharedRecords>);

/// A sign-in as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    /// The hash of its state.
    state: String,
    return_to: String,
    source: Option<IpAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invitation: Option<Invitation>,
    began: Timestamp,
}

impl Pending {
    pub fn new(records: Arc<dyn SharedRecords>) -> Self {
        Self(records)
    }

    pub async fn insert(&self, state: &SecretHash, browser: &SecretHash, entry: Entry) -> Result<()> {
        let keys = key(browser);
        let keep = self.0.change(&keys, |records, now| {
            let mut all = read(&records[0], now);
            if all.len() >= MOST_OF_BROWSER {
                all.remove(0);
            }
            all.push(Kept {
                state: hex(state),
                return_to: entry.return_to,
                source: entry.source.map(Source::address),
                invitation: entry.invitation,
                began: now,
            });
            records[0] = record(&all);
        });
        keep.await
    }

    /// Removes and returns a sign-in.
    pub async fn take(
        &self,
        state: &SecretHash,
        browser: &SecretHash,
    ) -> std::result::Result<Entry, NotTaken> {
        let state = hex(state);
        let keys = key(browser);
        let take = self.0.change(&keys, |records, now| {
            let mut all = read(&records[0], now);
            let index = all.iter().position(|kept| kept.state == state)?;
            let kept = all.remove(index);
            records[0] = record(&all);
            Some(kept)
        });
        let kept = take.await.map_err(|error| NotTaken::Failed(error.into()))?;
        let kept = kept.ok_or(NotTaken::Unknown(
            "the state is unknown: made up, used before, older than ten minutes, or of another browser than the \
             one whose cookie this one sends",
        ))?;
        Ok(Entry {
            return_to: kept.return_to,
            source: kept.source.map(Source::from),
            invitation: kept.invitation,
        })
    }

    pub async fn knows(&self, browser: &SecretHash) -> Result<bool> {
        let keys = key(browser);
        let knows = self.0.change(&keys, |records, _| records[0].is_some());
        knows.await
    }
}

fn key(browser: &SecretHash) -> [RecordKey; 1] {
    [RecordKey::new(RecordKind::SignIns, *browser)]
}

/// The sign-ins in a record that have not expired, the oldest first.
fn read(record: &Option<SharedRecord>, now: Timestamp) -> Vec<Kept> {
    let all = record
        .as_ref()
        .and_then(|record| serde_json::from_slice(&record.value).ok());
    let mut all: Vec<Kept> = all.unwrap_or_default();
    all.retain(|kept| now < kept.began.saturating_add(TIME_LIMIT));
    all
}

/// A record with these sign-ins, or `None` without any.
fn record(all: &[Kept]) -> Option<SharedRecord> {
    let began = all.last()?.began;
    Some(SharedRecord {
        // Texts and numbers always become JSON.
        value: serde_json::to_vec(all).unwrap_or_default(),
        rank: i64::try_from(began).unwrap_or(i64::MAX),
        ends_at: began.saturating_add(TIME_LIMIT),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use portico_model::time::Clock;
    use portico_storage::MemoryRecords;

    use super::*;

    const ADA: SecretHash = [1; 32];
    const EVE: SecretHash = [2; 32];

    struct Set(Arc<AtomicU64>);

    impl Clock for Set {
        fn now(&self) -> Timestamp {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Two hosts, and their clock.
    fn hosts() -> ([Pending; 2], Arc<AtomicU64>) {
        let now = Arc::new(AtomicU64::new(0));
        let records = MemoryRecords::new(Arc::new(Set(now.clone())));
        let host = || Pending::new(Arc::new(records.clone()));
        ([host(), host()], now)
    }

    fn entry(return_to: &str) -> Entry {
        Entry {
            return_to: return_to.into(),
            source: Some(IpAddr::from([192, 0, 2, 1]).into()),
            invitation: Some(Invitation {
                id: "an invite".into(),
                token: [9; 32],
            }),
        }
    }

    #[tokio::test]
    async fn a_sign_in_is_taken_once_at_any_host_by_the_browser_that_began_it() {
        let ([one, two], _) = hosts();
        one.insert(&[7; 32], &ADA, entry("/seven")).await.unwrap();
        two.insert(&[8; 32], &ADA, entry("/eight")).await.unwrap();
        assert!(two.take(&[7; 32], &EVE).await.is_err());
        assert!(two.take(&[9; 32], &ADA).await.is_err());
        assert_eq!(two.take(&[7; 32], &ADA).await.unwrap(), entry("/seven"));
        assert!(one.take(&[7; 32], &ADA).await.is_err());
        assert!(one.knows(&ADA).await.unwrap() && !one.knows(&EVE).await.unwrap());
        assert_eq!(one.take(&[8; 32], &ADA).await.unwrap(), entry("/eight"));
        assert!(!two.knows(&ADA).await.unwrap());
    }

    #[tokio::test]
    async fn a_sign_in_expires_after_ten_minutes() {
        let ([one, two], now) = hosts();
        one.insert(&[7; 32], &ADA, entry("/seven")).await.unwrap();
        now.store(1, Ordering::Relaxed);
        one.insert(&[8; 32], &ADA, entry("/eight")).await.unwrap();
        now.store(600_000, Ordering::Relaxed);
        assert!(two.take(&[7; 32], &ADA).await.is_err());
        assert!(two.knows(&ADA).await.unwrap());
        now.store(600_001, Ordering::Relaxed);
        assert!(two.take(&[8; 32], &ADA).await.is_err());
        assert!(!two.knows(&ADA).await.unwrap());
    }

    #[tokio::test]
    async fn what_is_kept_is_limited_and_the_oldest_is_forgotten_first() {
        let ([one, _], now) = hosts();
        for number in 0..20 {
            now.store(u64::from(number), Ordering::Relaxed);
            one.insert(&[number; 32], &ADA, entry("/")).await.unwrap();
        }
        assert!(one.take(&[11; 32], &ADA).await.is_err());
        assert!(one.take(&[12; 32], &ADA).await.is_ok());
        for number in 0..8193_u32 {
            let mut browser = [3; 32];
            browser[..4].copy_from_slice(&number.to_be_bytes());
            now.store(u64::from(100 + number), Ordering::Relaxed);
            one.insert(&[1; 32], &browser, entry("/")).await.unwrap();
        }
        assert!(!one.knows(&ADA).await.unwrap());
    }
}
