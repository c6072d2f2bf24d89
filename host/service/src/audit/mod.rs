//! The audit log: changes and refusals, and who caused them.
//!
//! Storage writes the row of a change in the transaction that makes it ([`AuditedCall`]). This module does the
//! rest: it collects refusals in memory, writes them in the background, and removes old rows.
//!
//! Invariants:
//! - A refusal reads nothing from storage and takes no write transaction of its own: refusals wait in a
//!   bounded list (`pending.rs`) and are written in short transactions, every few seconds.
//! - When [`Audit::flush`] returns, every refusal collected before it was called is written, or counted as not
//!   recorded.
//! - The log is bounded by age and by number of rows; refusals are removed before changes. If several hosts share a
//!   storage, only one at a time removes rows.

mod jumps;
mod pending;

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use portico_model::{
    Provider, Timestamp,
    error::{Code, Error},
    time::Clock,
};
use portico_rules::refusal::Refusal;
use portico_sandbox::Kind;
use portico_storage::{
    self as storage, Access, AuditEntry, AuditFilter, AuditPrune, AuditedCall, DONE, DashboardStorage,
    SharedRecords, Turn, secrets,
};
use serde_json::Value;
use tokio::{
    select,
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};
use tracing::{info, warn};

use self::jumps::Jumps;
use self::pending::Pending;
use crate::{identity::Identity, metrics};

/// The name of sign-in in the log.
pub const SIGN_IN: &str = "sign-in";

/// The name of `portico relink` in the log.
const RELINK: &str = "relink";

/// A group that a sign-in makes is in the log like one that an administrator makes.
const CREATE_GROUP: &str = "group.createGroup";

/// A call, as the log names it: its procedure, its caller and its request.
#[derive(Clone, Copy)]
pub struct Action<'a> {
    pub procedure: &'a str,
    pub kind: Kind,
    pub identity: &'a Identity,
    /// The request's id, as the log has it.
    pub request_id: &'a str,
}

/// How much is recorded, and for how long.
#[derive(Clone, Debug)]
pub struct AuditSettings {
    /// Older rows are removed. With `None`, nothing is recorded, and existing rows stay.
    pub retention: Option<Duration>,
    /// About how many rows stay: beyond that, refusals are removed first, then the oldest rows.
    pub most_rows: u64,
    /// How long refusals wait to be written; identical ones within that time share a row.
    pub window: Duration,
    /// How long nothing is removed after the clock has jumped by more than a day.
    pub settling: Duration,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            retention: Some(Duration::from_secs(90 * 24 * 60 * 60)),
            most_rows: 1_000_000,
            window: Duration::from_secs(5),
            settling: Duration::from_secs(60 * 60),
        }
    }
}

impl AuditSettings {
    /// Settings with which nothing is recorded.
    pub fn off() -> Self {
        Self {
            retention: None,
            ..Self::default()
        }
    }
}

/// Rows that one transaction writes or removes: few enough that other transactions hardly wait for it.
const STEP: usize = 200;

/// Old rows are removed after this many new ones, and at this interval.
const ROWS_BETWEEN_PRUNES: u64 = 1000;
const TIME_BETWEEN_PRUNES: Duration = Duration::from_secs(60 * 60);
const TIME_BEFORE_FIRST_PRUNE: Duration = Duration::from_secs(60);

/// After this time another host may prune, in case this one was killed.
const LONGEST_PRUNE: Duration = Duration::from_secs(10 * 60);

/// Keys of an input that name the record that a call is about; the first key present counts.
const TARGETS: [&str; 6] = ["id", "groupId", "boardId", "apiKeyId", "inviteId", "userId"];

/// The refusals of a person whom a provider knows, or who comes with an invite that is not good.
const OF_PERSON: [Refusal; 3] = [
    Refusal::ProviderAccount,
    Refusal::InviteNeeded,
    Refusal::InvalidInvite,
];

/// Writes the line by which programs like fail2ban recognise a failed sign-in. It has nothing that was typed. What does not
/// count as an attempt has none, so that the throttle bounds the lines as well; nor has the first step of a sign-in in two.
fn log_failed_sign_in(
    provider: Provider,
    user_id: Option<&str>,
    address: Option<IpAddr>,
    request_id: &str,
    error: &Error,
) {
    let is_first_step = error
        .missing_factor
        .as_ref()
        .is_some_and(|missing| !missing.is_wrong);
    let is_attempt = match error.code {
        Code::Unauthorized => !is_first_step,
        Code::Forbidden => OF_PERSON
            .iter()
            .any(|refusal| refusal.to_string() == error.message),
        _ => false,
    };
    if !is_attempt {
        return;
    }
    let address = address.map_or_else(
        || "unknown".to_owned(),
        |address| address.to_canonical().to_string(),
    );
    warn!(
        event = "sign-in-failed",
        address,
        provider = provider.name(),
        user = user_id.unwrap_or("unknown"),
        reason = error.code.name(),
        request = request_id,
        "a sign-in failed"
    );
}

/// Records refusals, and keeps the log within its bounds.
pub struct Audit {
    storage: Arc<dyn DashboardStorage>,
    shared: Arc<dyn SharedRecords>,
    clock: Arc<dyn Clock>,
    settings: AuditSettings,
    pending: Mutex<Pending>,
    /// Held while collected refusals are written.
    writing: tokio::sync::Mutex<()>,
    written: AtomicU64,
    wake: Arc<Notify>,
    started: (Timestamp, Instant),
    /// `None` before the first prune.
    jumps: tokio::sync::Mutex<Option<Jumps>>,
}

impl Audit {
    /// A log in this storage, with a background task that writes and prunes it.
    pub fn new(
        storage: Arc<dyn DashboardStorage>,
        shared: Arc<dyn SharedRecords>,
        clock: Arc<dyn Clock>,
        settings: AuditSettings,
    ) -> Arc<Self> {
        let started = (clock.now(), Instant::now());
        let audit = Arc::new(Self {
            storage,
            shared,
            clock,
            settings,
            pending: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            written: AtomicU64::new(0),
            wake: Arc::default(),
            started,
            jumps: tokio::sync::Mutex::default(),
        });
        if audit.settings.retention.is_some() {
            tokio::spawn(maintain(Arc::downgrade(&audit), audit.wake.clone()));
        }
        audit
    }

    /// The row of a mutation, for its transaction to write; `None` for a query.
    pub(crate) fn call(
        &self,
        action: &Action<'_>,
        input: &Result<Option<Value>, Error>,
    ) -> Option<Arc<AuditedCall>> {
        if action.kind == Kind::Query {
            return None;
        }
        self.audited(AuditEntry {
            target: target(input),
            ..entry(action)
        })
    }

    /// Records how a call ended: a mutation whose transaction wrote no row, and any refusal.
    pub(crate) fn end<T>(&self, action: &Action<'_>, call: Option<&AuditedCall>, answer: &Result<T, Error>) {
        match (answer, call) {
            (Ok(_), Some(call)) if call.is_written() => metrics::AUDIT_CALLS.increment(),
            (Ok(_), Some(call)) => self.record(call.with_outcome(DONE)),
            (Ok(_), None) => {}
            (Err(error), Some(call)) => self.record(call.with_outcome(error.code.name())),
            (Err(error), None) => self.refuse(action, error),
        }
    }

    /// Records that a call was refused before it began.
    pub fn refuse(&self, action: &Action<'_>, error: &Error) {
        let is_refusal = matches!(
            error.code,
            Code::Unauthorized | Code::Forbidden | Code::TooManyRequests
        );
        if is_refusal || action.kind == Kind::Mutation {
            self.note_refusal(entry(action), error);
        }
    }

    /// The row of a sign-in by this provider, for its transaction to write. Say which session begins with
    /// [`CallContext::signed_in`](storage::CallContext::signed_in).
    pub fn sign_in(
        &self,
        provider: Provider,
        address: Option<IpAddr>,
        request_id: &str,
    ) -> Option<Arc<AuditedCall>> {
        self.audited(AuditEntry {
            address,
            provider: Some(provider),
            ..AuditEntry::new(SIGN_IN, request_id)
        })
    }

    /// The row of a group that a sign-in makes, for its transaction to write; `None` if nothing is recorded.
    pub(crate) fn made_group(
        &self,
        provider: Provider,
        address: Option<IpAddr>,
        request_id: &str,
        group_id: &str,
    ) -> Option<AuditEntry> {
        self.settings.retention?;
        Some(AuditEntry {
            time: self.clock.now(),
            address,
            provider: Some(provider),
            target: Some(group_id.to_owned()),
            created: 1,
            ..AuditEntry::new(CREATE_GROUP, request_id)
        })
    }

    /// The row of a user whom `portico relink` gives another subject, for its transaction to write; `None` if nothing is
    /// recorded.
    pub(crate) fn relinked(
        &self,
        provider: Provider,
        identity: &Identity,
        request_id: &str,
        user_id: &str,
    ) -> Option<AuditEntry> {
        self.settings.retention?;
        Some(AuditEntry {
            time: self.clock.now(),
            provider: Some(provider),
            target: Some(user_id.to_owned()),
            ..AuditEntry::new(RELINK, request_id).by(identity.user_id(), &identity.authentication)
        })
    }

    /// Notes a sign-in whose transaction is committed, and with it the row of [`sign_in`](Self::sign_in).
    pub fn signed_in(&self, provider: Provider) {
        metrics::signed_in(provider, metrics::OK);
        if self.settings.retention.is_some() {
            metrics::AUDIT_CALLS.increment();
        }
    }

    /// Records a refused sign-in. The row has the user's id, if the name is a user's, and never the name: people
    /// type passwords there by mistake.
    pub fn refuse_sign_in(
        &self,
        provider: Provider,
        user_id: Option<String>,
        address: Option<IpAddr>,
        request_id: &str,
        error: &Error,
    ) {
        Self::count_refused_sign_in(provider, user_id.as_deref(), address, request_id, error);
        self.note_refused_sign_in(provider, user_id, address, request_id, error);
    }

    /// The same for a person for whom a proxy vouches, without the line of a failed sign-in: a page that stays open asks again
    /// and again, although its reader types nothing.
    pub(crate) fn refuse_vouched(
        &self,
        user_id: Option<String>,
        address: Option<IpAddr>,
        request_id: &str,
        error: &Error,
    ) {
        metrics::signed_in(Provider::Oidc, error.code.name());
        self.note_refused_sign_in(Provider::Oidc, user_id, address, request_id, error);
    }

    fn note_refused_sign_in(
        &self,
        provider: Provider,
        user_id: Option<String>,
        address: Option<IpAddr>,
        request_id: &str,
        error: &Error,
    ) {
        let entry = AuditEntry {
            address,
            provider: Some(provider),
            target: user_id,
            ..AuditEntry::new(SIGN_IN, request_id)
        };
        self.note_refusal(entry, error);
    }

    /// The same without a row: a transaction has written it.
    pub(crate) fn count_refused_sign_in(
        provider: Provider,
        user_id: Option<&str>,
        address: Option<IpAddr>,
        request_id: &str,
        error: &Error,
    ) {
        log_failed_sign_in(provider, user_id, address, request_id, error);
        metrics::signed_in(provider, error.code.name());
    }

    /// Records something that no call did, in the background.
    pub(crate) fn note(&self, entry: AuditEntry) {
        self.record(entry);
    }

    /// Writes the collected refusals.
    pub async fn flush(&self) {
        let _writing = self.writing.lock().await;
        let entries = self.pending().take(self.clock.now());
        let mut lost = 0;
        for entries in entries.chunks(STEP) {
            if let Err(error) = self.write(entries).await {
                lost += entries.iter().map(|entry| entry.times).sum::<u64>();
                warn!(?error, "refusals could not be recorded in the audit log");
            }
        }
        // The next flush writes a row that counts them.
        self.pending().lose(lost);
        metrics::AUDIT_LOST.add(lost);
    }

    /// Removes the rows that are too old or too many, step by step, unless another host does so.
    pub async fn prune(&self) -> storage::Result<()> {
        let Some(retention) = self.settings.retention else {
            return Ok(());
        };
        self.written.store(0, Ordering::Relaxed);
        if !self.clock_has_settled().await? {
            return Ok(());
        }
        let Some(turn) = Turn::take(&self.shared, "audit", LONGEST_PRUNE).await? else {
            return Ok(());
        };
        let pruned = self.prune_alone(retention).await;
        turn.end().await?;
        pruned
    }

    async fn prune_alone(&self, retention: Duration) -> storage::Result<()> {
        let retention = retention.as_millis() as Timestamp;
        let before = self.clock.now().saturating_sub(retention);
        let mut old = 0;
        loop {
            let removed = self.remove(AuditPrune::Before(before), STEP as u64).await?;
            old += removed;
            if removed < STEP as u64 {
                break;
            }
        }
        metrics::AUDIT_OLD.add(old);
        if old > 0 {
            info!(rows = old, "removed from the audit log what was too old");
        }

        let context = Identity::operator().context("audit");
        let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
        let rows = transaction.count_audit(&AuditFilter::default()).await?;
        drop(transaction);
        let mut excess = rows.saturating_sub(self.settings.most_rows);
        let mut too_much = 0;
        for which in [AuditPrune::Refusals, AuditPrune::Any] {
            while excess > 0 {
                let removed = self.remove(which, excess.min(STEP as u64)).await?;
                excess -= removed.min(excess);
                too_much += removed;
                if removed == 0 {
                    break;
                }
            }
        }
        metrics::AUDIT_EXCESS.add(too_much);
        if too_much > 0 {
            info!(rows = too_much, "removed from the audit log what was too much");
        }
        Ok(())
    }

    /// See `jumps.rs`.
    async fn clock_has_settled(&self) -> storage::Result<bool> {
        let mut jumps = self.jumps.lock().await;
        if jumps.is_none() {
            let (started, at) = self.started;
            // Rows from shortly before a restart do not vouch for the clock: they may have been written by the same one.
            let settling = self.settings.settling.as_millis() as Timestamp;
            let filter = AuditFilter {
                until: Some(started.saturating_sub(settling)),
                ..AuditFilter::default()
            };
            let context = Identity::operator().context("audit");
            let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
            let newest = transaction.list_audit(&filter, 0, 1).await?;
            let newest = newest.first().map_or(started, |row| row.entry.time);
            *jumps = Some(Jumps::since((newest, at)));
        }
        let now = (self.clock.now(), Instant::now());
        Ok(jumps
            .as_mut()
            .is_none_or(|jumps| jumps.has_settled(now, self.settings.settling)))
    }

    fn audited(&self, entry: AuditEntry) -> Option<Arc<AuditedCall>> {
        self.settings.retention?;
        self.count(1);
        Some(Arc::new(AuditedCall::new(entry, self.clock.clone())))
    }

    fn note_refusal(&self, entry: AuditEntry, error: &Error) {
        self.record(AuditEntry {
            time: self.clock.now(),
            outcome: error.code.name().into(),
            ..entry
        });
    }

    fn record(&self, entry: AuditEntry) {
        if self.settings.retention.is_some() && self.pending().add(entry) {
            self.wake.notify_one();
        }
    }

    fn count(&self, rows: u64) {
        let before = self.written.fetch_add(rows, Ordering::Relaxed);
        if before < ROWS_BETWEEN_PRUNES && before + rows >= ROWS_BETWEEN_PRUNES {
            self.wake.notify_one();
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, entries: &[AuditEntry]) -> storage::Result<()> {
        let context = Identity::operator().context("audit");
        let mut transaction = self.storage.begin_dashboard(Access::Write, &context).await?;
        for entry in entries {
            transaction.insert_audit(entry).await?;
        }
        transaction.commit().await?;
        self.count(entries.len() as u64);
        metrics::AUDIT_REFUSALS.add(entries.len() as u64);
        Ok(())
    }

    async fn remove(&self, which: AuditPrune, most: u64) -> storage::Result<u64> {
        let context = Identity::operator().context("audit");
        let mut transaction = self.storage.begin_dashboard(Access::Write, &context).await?;
        let removed = transaction.prune_audit(which, most as u32).await?;
        if removed > 0 {
            transaction.commit().await?;
        }
        Ok(removed)
    }
}

/// Wakes the background task, which then ends.
impl Drop for Audit {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// Writes collected refusals after the window, and removes old rows at intervals.
async fn maintain(audit: Weak<Audit>, wake: Arc<Notify>) {
    let mut next_prune = Instant::now() + TIME_BEFORE_FIRST_PRUNE;
    loop {
        select! {
            () = wake.notified() => {
                let Some(window) = audit.upgrade().map(|audit| audit.settings.window) else {
                    return;
                };
                sleep(window).await;
            }
            () = sleep_until(next_prune) => {}
        }
        let Some(audit) = audit.upgrade() else {
            return;
        };
        audit.flush().await;
        let many = audit.written.load(Ordering::Relaxed) >= ROWS_BETWEEN_PRUNES;
        if many || Instant::now() >= next_prune {
            next_prune = Instant::now() + TIME_BETWEEN_PRUNES;
            if let Err(error) = audit.prune().await {
                warn!(?error, "old rows of the audit log could not be removed");
            }
        }
    }
}

fn entry(action: &Action<'_>) -> AuditEntry {
    let identity = action.identity;
    AuditEntry {
        address: identity.address,
        ..AuditEntry::new(action.procedure, action.request_id)
            .by(identity.user_id(), &identity.authentication)
    }
}

/// The id of the record that an input names. A text that is not one of our ids is left out: no record has it, and it
/// may be a secret in the wrong field.
fn target(input: &Result<Option<Value>, Error>) -> Option<String> {
    let input = input.as_ref().ok()?.as_ref()?.as_object()?;
    let id = TARGETS.iter().find_map(|key| input.get(*key))?.as_str()?;
    secrets::is_id(id).then(|| id.to_owned())
}
