//! The audit log: who did what, and who was refused.
//!
//! What a call changes and the row that says so are one commit: storage writes it
//! ([`AuditedCall`]). This is the rest: what was refused is noted here and written in the background,
//! and old rows are removed.
//!
//! Invariants:
//! - A refusal costs whoever is refused no look into storage, and others no turn to write: what is
//!   noted is bounded (`pending.rs`) and written in short transactions, every few seconds.
//! - What was noted before [`Audit::flush`] was called is written when it returns, or counted as not
//!   recorded.
//! - The log is bounded, by age and by number; refusals go before what was done.

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
use portico_sandbox::Kind;
use portico_storage::{
    self as storage, Access, AuditEntry, AuditFilter, AuditPrune, AuditedCall, DONE, DashboardStorage,
    secrets,
};
use serde_json::Value;
use tokio::{
    select,
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};
use tracing::warn;

use self::pending::Pending;
use crate::{identity::Identity, procedures::Procedure};

/// What signing in is called, and what signing out.
pub const SIGN_IN: &str = "sign-in";
#[expect(missing_docs, reason = "the line above")]
pub const SIGN_OUT: &str = "sign-out";

/// How much is recorded, and for how long.
#[derive(Clone, Debug)]
pub struct AuditSettings {
    /// Rows that are older go. None: nothing is recorded, and what is there stays.
    pub retention: Option<Duration>,
    /// So many rows stay, more or less: refusals go first, then the oldest.
    pub most_rows: u64,
    /// Refusals are written after so long; identical ones that come meanwhile share a row.
    pub window: Duration,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            retention: Some(Duration::from_secs(90 * 24 * 60 * 60)),
            most_rows: 1_000_000,
            window: Duration::from_secs(5),
        }
    }
}

impl AuditSettings {
    /// Nothing is recorded.
    pub fn off() -> Self {
        Self {
            retention: None,
            ..Self::default()
        }
    }
}

/// Rows that one transaction writes or removes: few enough that nobody waits for it.
const STEP: usize = 200;

/// Old rows are looked for after so many new ones, and now and then anyway.
const ROWS_BETWEEN_LOOKS: u64 = 1000;
const TIME_BETWEEN_LOOKS: Duration = Duration::from_secs(60 * 60);
const TIME_BEFORE_FIRST_LOOK: Duration = Duration::from_secs(60);

/// Keys of an input that name the record which a call is about; the first that is there counts.
const TARGETS: [&str; 6] = ["id", "groupId", "boardId", "apiKeyId", "inviteId", "userId"];

/// Records what is refused, and keeps the log within its bounds.
pub struct Audit {
    storage: Arc<dyn DashboardStorage>,
    clock: Arc<dyn Clock>,
    settings: AuditSettings,
    pending: Mutex<Pending>,
    /// Held by whoever writes what was noted.
    writing: tokio::sync::Mutex<()>,
    written: AtomicU64,
    wake: Arc<Notify>,
}

impl Audit {
    /// A log in this storage, looked after in the background from now on.
    pub fn new(
        storage: Arc<dyn DashboardStorage>,
        clock: Arc<dyn Clock>,
        settings: AuditSettings,
    ) -> Arc<Self> {
        let audit = Arc::new(Self {
            storage,
            clock,
            settings,
            pending: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            written: AtomicU64::new(0),
            wake: Arc::default(),
        });
        if audit.settings.retention.is_some() {
            tokio::spawn(look_after(Arc::downgrade(&audit), audit.wake.clone()));
        }
        audit
    }

    /// What is to be recorded of a call if it succeeds; none of a query.
    pub(crate) fn call(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        input: &Result<Option<Value>, Error>,
    ) -> Option<Arc<AuditedCall>> {
        (procedure.kind == Kind::Mutation)
            .then(|| {
                let entry = entry(&procedure.name, identity, request_id);
                self.audited(AuditEntry {
                    target: target(input),
                    ..entry
                })
            })
            .flatten()
    }

    /// Records what became of a call, as far as its transaction did not do so. Of a query, that it
    /// was refused.
    pub(crate) fn end<T>(
        &self,
        procedure: &Procedure,
        identity: &Identity,
        request_id: &str,
        call: Option<&AuditedCall>,
        answer: &Result<T, Error>,
    ) {
        match (answer, call) {
            (Ok(_), Some(call)) if call.is_written() => {}
            (Ok(_), Some(call)) => self.note(call.ended(DONE)),
            (Ok(_), None) => {}
            (Err(error), Some(call)) => self.note(call.ended(error.code.name())),
            (Err(error), None) => self.refuse(procedure, identity, request_id, error),
        }
    }

    /// Records that a call was refused before it began.
    pub fn refuse(&self, procedure: &Procedure, identity: &Identity, request_id: &str, error: &Error) {
        let is_refusal = matches!(
            error.code,
            Code::Unauthorized | Code::Forbidden | Code::TooManyRequests
        );
        if is_refusal || procedure.kind == Kind::Mutation {
            self.note_refusal(entry(&procedure.name, identity, request_id), error);
        }
    }

    /// What is to be recorded where somebody signs in whom this provider vouches for. Whoever begins the
    /// session says of it by [`CallContext::signed_in`](storage::CallContext::signed_in).
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

    /// Records that somebody could not sign in. The user is named by an id, if there is one: what
    /// was typed as a name may be a password.
    pub fn refuse_sign_in(
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

    /// What is to be recorded where somebody signs out.
    pub fn sign_out(&self, identity: &Identity, request_id: &str) -> Option<Arc<AuditedCall>> {
        self.audited(entry(SIGN_OUT, identity, request_id))
    }

    /// Records that somebody could not sign out.
    pub fn refuse_sign_out(&self, identity: &Identity, request_id: &str, error: &Error) {
        self.note_refusal(entry(SIGN_OUT, identity, request_id), error);
    }

    /// Writes what was noted.
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
        // They are said of with the next ones that can be written.
        self.pending().lose(lost);
    }

    /// Removes what is too old or too much, step by step.
    pub async fn prune(&self) -> storage::Result<()> {
        let Some(retention) = self.settings.retention else {
            return Ok(());
        };
        self.written.store(0, Ordering::Relaxed);
        let retention = retention.as_millis() as Timestamp;
        let before = self.clock.now().saturating_sub(retention);
        while self.remove(AuditPrune::Before(before), STEP as u64).await? == STEP as u64 {}

        let context = Identity::operator().context("audit");
        let mut transaction = self.storage.begin_dashboard(Access::Read, &context).await?;
        let rows = transaction.count_audit(&AuditFilter::default()).await?;
        drop(transaction);
        let mut excess = rows.saturating_sub(self.settings.most_rows);
        for which in [AuditPrune::Refusals, AuditPrune::Any] {
            while excess > 0 {
                let removed = self.remove(which, excess.min(STEP as u64)).await?;
                excess -= removed.min(excess);
                if removed == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    fn audited(&self, entry: AuditEntry) -> Option<Arc<AuditedCall>> {
        self.settings.retention?;
        self.count(1);
        Some(Arc::new(AuditedCall::new(entry, self.clock.clone())))
    }

    fn note_refusal(&self, entry: AuditEntry, error: &Error) {
        self.note(AuditEntry {
            time: self.clock.now(),
            outcome: error.code.name().into(),
            ..entry
        });
    }

    fn note(&self, entry: AuditEntry) {
        if self.settings.retention.is_some() && self.pending().add(entry) {
            self.wake.notify_one();
        }
    }

    fn count(&self, rows: u64) {
        let before = self.written.fetch_add(rows, Ordering::Relaxed);
        if before < ROWS_BETWEEN_LOOKS && before + rows >= ROWS_BETWEEN_LOOKS {
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

/// Wakes who looks after it, so that they see that it is gone.
impl Drop for Audit {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// Writes what is noted a while after it was, and looks for old rows now and then.
async fn look_after(audit: Weak<Audit>, wake: Arc<Notify>) {
    let mut next_look = Instant::now() + TIME_BEFORE_FIRST_LOOK;
    loop {
        select! {
            () = wake.notified() => {
                let Some(window) = audit.upgrade().map(|audit| audit.settings.window) else {
                    return;
                };
                sleep(window).await;
            }
            () = sleep_until(next_look) => {}
        }
        let Some(audit) = audit.upgrade() else {
            return;
        };
        audit.flush().await;
        let many = audit.written.load(Ordering::Relaxed) >= ROWS_BETWEEN_LOOKS;
        if many || Instant::now() >= next_look {
            next_look = Instant::now() + TIME_BETWEEN_LOOKS;
            if let Err(error) = audit.prune().await {
                warn!(?error, "old rows of the audit log could not be removed");
            }
        }
    }
}

fn entry(procedure: &str, identity: &Identity, request_id: &str) -> AuditEntry {
    AuditEntry {
        address: identity.address,
        ..AuditEntry::new(procedure, request_id).by(identity.user_id(), &identity.authentication)
    }
}

/// The record that an input names. Whatever is no id of ours is not repeated: no record has it, and
/// it may be a secret in the wrong place.
fn target(input: &Result<Option<Value>, Error>) -> Option<String> {
    let input = input.as_ref().ok()?.as_ref()?.as_object()?;
    let id = TARGETS.iter().find_map(|key| input.get(*key))?.as_str()?;
    secrets::is_id(id).then(|| id.to_owned())
}
