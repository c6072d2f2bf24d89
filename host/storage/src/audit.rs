//! The audit log: what a row says, and the call that a write transaction records.
//!
//! Invariants:
//! - The transaction that changes something writes its call's row as its last statement before the
//!   commit: both are durable, or neither is.
//! - A row never changes. Only `DashboardTransaction::prune_audit` removes rows.
//! - A row holds ids and words of our own, and no other text from an input but the bounded name that a program gave itself, of
//!   a session that is gone. Ids are bounded and contain no control characters.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::authentication::Authentication;
use crate::dashboard_records::Session;
use portico_model::time::{self, Clock};
use portico_model::{Provider, Timestamp};

/// The outcome of a call that succeeded.
pub const DONE: &str = "OK";

/// The most characters of a text in a row. Our own ids have at most 36.
const LONGEST: usize = 128;

/// The most groups that a row names; it counts the others.
const MOST_GROUPS: usize = 100;

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When it was done or refused.
    #[serde(serialize_with = "time::serialize")]
    pub time: Timestamp,
    /// The id of the user who called; `None` for an anonymous caller, and for the operator, who is not a user.
    pub actor_id: Option<String>,
    /// How they proved it: a name from [`Authentication::name`].
    pub authentication: &'static str,
    /// The id of the key or the session that they used.
    pub credential_id: Option<String>,
    /// The address that the call came from.
    pub address: Option<IpAddr>,
    /// The id of the request, which the log and error messages show.
    pub request_id: String,
    /// The procedure that was called.
    pub procedure: String,
    /// The identity provider of a sign-in.
    pub provider: Option<Provider>,
    /// The id of the record that the call is about: the first one that it created, or the one that its
    /// input names. For `state.apply` a summary of the changes.
    pub target: Option<String>,
    /// How many records were created.
    pub created: u64,
    /// The groups that a sign-in by a provider added (`+`) and removed (`-`), or that an invite gave, by id.
    pub groups: Option<String>,
    /// [`DONE`], or the code of the error.
    pub outcome: String,
    /// How often this happened: identical refusals may share a row.
    pub times: u64,
}

/// A row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// The number of the row; later rows have larger numbers.
    pub number: u64,
    /// What it says.
    #[serde(flatten)]
    pub entry: AuditEntry,
}

/// Which rows to list: those that match every condition that is set.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// By this user.
    pub actor_id: Option<String>,
    /// Of this procedure.
    pub procedure: Option<String>,
    /// With this outcome.
    pub outcome: Option<String>,
    /// At this moment or later.
    pub from: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

/// Which rows to remove, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditPrune {
    /// Rows older than this moment.
    Before(Timestamp),
    /// Rows of refusals.
    Refusals,
    /// Any rows.
    Any,
}

impl AuditEntry {
    /// The entry of a successful call, still without a caller and an address.
    pub fn new(procedure: &str, request_id: &str) -> Self {
        Self {
            time: 0,
            actor_id: None,
            authentication: Authentication::None.name(),
            credential_id: None,
            address: None,
            request_id: plain(request_id),
            procedure: plain(procedure),
            provider: None,
            target: None,
            created: 0,
            groups: None,
            outcome: DONE.into(),
            times: 1,
        }
    }

    /// About the record with this id.
    pub fn about(self, target: &str) -> Self {
        Self {
            target: Some(plain(target)),
            ..self
        }
    }

    /// With this caller.
    pub fn by(self, actor_id: Option<&str>, authentication: &Authentication) -> Self {
        let credential_id = match authentication {
            Authentication::Key(id) | Authentication::Session(id) => Some(plain(id)),
            Authentication::None
            | Authentication::Operator
            | Authentication::Host
            | Authentication::Proxy => None,
        };
        Self {
            actor_id: actor_id.map(plain),
            authentication: authentication.name(),
            credential_id,
            ..self
        }
    }
}

/// A call whose success is recorded by the transaction that commits it.
pub struct AuditedCall {
    context: Mutex<AuditContext>,
    clock: Arc<dyn Clock>,
    written: AtomicBool,
}

/// What is known about a call before it ends.
struct AuditContext {
    entry: AuditEntry,
    /// Whether the target is the first record that the transaction creates or changes.
    is_open: bool,
    /// What the row says if a transaction is committed.
    outcome: &'static str,
}

impl AuditedCall {
    /// A call that is recorded with this entry, and with the clock's time at its end.
    pub fn new(entry: AuditEntry, clock: Arc<dyn Clock>) -> Self {
        Self {
            context: Mutex::new(AuditContext {
                entry,
                is_open: true,
                outcome: DONE,
            }),
            clock,
            written: AtomicBool::new(false),
        }
    }

    /// Sets the target to a summary, whatever records the transaction creates.
    pub fn summarise(&self, what: String) {
        let mut context = self.context();
        context.entry.target = Some(what);
        context.is_open = false;
    }

    /// Notes that this session begins, and so who the caller is.
    pub fn signed_in(&self, session: &Session) {
        let mut context = self.context();
        let authentication = Authentication::Session(session.id.clone());
        context.entry = AuditEntry {
            target: Some(plain(&session.user_id)),
            ..context.entry.clone().by(Some(&session.user_id), &authentication)
        };
        context.is_open = false;
    }

    /// Notes that a proxy in front vouches for this user, and so who the caller is.
    pub fn vouched(&self, user_id: &str) {
        let mut context = self.context();
        context.entry = AuditEntry {
            target: Some(plain(user_id)),
            ..context.entry.clone().by(Some(user_id), &Authentication::Proxy)
        };
        context.is_open = false;
    }

    /// Notes that the sign-in of this user is refused with this code, although its transaction changes something.
    pub fn refused(&self, user_id: &str, code: &'static str) {
        let mut context = self.context();
        context.entry.target = Some(plain(user_id));
        context.is_open = false;
        context.outcome = code;
    }

    /// Notes the groups, by id, that the sign-in or the registration adds and removes.
    pub fn changed_groups(&self, added: &[String], removed: &[String]) {
        let added = added.iter().map(|id| format!("+{}", plain(id)));
        let removed = removed.iter().map(|id| format!("-{}", plain(id)));
        let mut changes: Vec<_> = added.chain(removed).collect();
        if changes.is_empty() {
            return;
        }
        if changes.len() > MOST_GROUPS {
            let others = changes.len() - MOST_GROUPS;
            changes.truncate(MOST_GROUPS);
            changes.push(format!("and {others} more"));
        }
        self.context().entry.groups = Some(changes.join(" "));
    }

    /// Whether a transaction has written the row.
    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::Acquire)
    }

    /// The entry of the call if it ends now with this outcome.
    pub fn with_outcome(&self, outcome: &str) -> AuditEntry {
        AuditEntry {
            time: self.clock.now(),
            outcome: outcome.into(),
            ..self.context().entry.clone()
        }
    }

    /// The entry of the call if a transaction commits it now, after it has created or changed these records.
    pub(crate) fn committing(
        &self,
        created: u64,
        first_created: Option<&str>,
        changed: Option<&str>,
    ) -> AuditEntry {
        let (is_open, outcome) = {
            let context = self.context();
            (context.is_open, context.outcome)
        };
        let mut entry = AuditEntry {
            created,
            ..self.with_outcome(outcome)
        };
        if is_open {
            let target = first_created.map(plain).or(entry.target);
            entry.target = target.or_else(|| changed.map(plain));
        }
        entry
    }

    /// A transaction has committed the row.
    pub(crate) fn committed(&self) {
        self.written.store(true, Ordering::Release);
    }

    fn context(&self) -> MutexGuard<'_, AuditContext> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text as a row holds it: at most [`LONGEST`] characters, with control and layout characters escaped,
/// which a terminal or a log reader would interpret.
fn plain(text: &str) -> String {
    let is_plain = |character: char| !character.is_control() && !is_layout(character);
    if text.len() <= LONGEST && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let escaped = text.chars().take(LONGEST).flat_map(|character| {
        let escaped = (!is_plain(character)).then(|| character.escape_unicode());
        let itself = escaped.is_none().then_some(character);
        escaped.into_iter().flatten().chain(itself)
    });
    escaped.take(LONGEST).collect()
}

/// Line and paragraph separators, and characters that change the direction of text.
fn is_layout(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use portico_model::time::SystemClock;

    use super::*;

    #[test]
    fn a_row_names_a_hundred_groups_and_counts_the_others() {
        let groups = |count: usize, added: usize| {
            let ids: Vec<_> = (0..count).map(|number| format!("g{number}")).collect();
            let call = AuditedCall::new(AuditEntry::new("sign-in", "r"), Arc::new(SystemClock));
            call.changed_groups(&ids[..added], &ids[added..]);
            call.with_outcome(DONE).groups
        };
        assert_eq!(groups(0, 0), None);
        assert_eq!(groups(3, 2).as_deref(), Some("+g0 +g1 -g2"));
        let many = groups(10_000, 60).unwrap();
        assert!(many.ends_with("-g98 -g99 and 9900 more"), "{many}");
    }

    #[test]
    fn a_text_is_cut_at_a_character_and_holds_no_control_characters() {
        assert_eq!(plain("0189-ab"), "0189-ab");
        assert_eq!(
            plain("a\r\nOK\u{1b}[2J\u{202e}"),
            "a\\u{d}\\u{a}OK\\u{1b}[2J\\u{202e}"
        );
        for text in ["é".repeat(500), "\n".repeat(500), "x".repeat(500)] {
            let plain = plain(&text);
            assert_eq!(plain.chars().count(), LONGEST);
            assert!(!plain.contains('\n'));
        }
        assert_eq!(plain(&"é".repeat(128)), "é".repeat(128));
    }
}
