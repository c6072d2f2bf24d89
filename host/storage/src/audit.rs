//! The audit log: what a row says, and how a write transaction comes to have one.
//!
//! Invariants:
//! - The row of a call that changes something is written by the transaction that changes it, as the
//!   last thing before its commit: both are there, or neither is.
//! - A row is never changed. It goes only by [`DashboardTransaction::prune_audit`].
//! - It holds ids and words of our own, and no other text of an input. Ids are bounded and hold no
//!   control characters.
//!
//! [`DashboardTransaction::prune_audit`]: super::DashboardTransaction::prune_audit

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::{Authentication, CallContext, Session};
use portico_model::time::{self, Clock};
use portico_model::{Provider, Timestamp};

/// The outcome of what was done.
pub const DONE: &str = "OK";

/// Characters of an id, or of another text in a row. Those of our own ids are 36 at most.
const LONGEST: usize = 128;

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When it was done or refused.
    #[serde(serialize_with = "time::serialize")]
    pub time: Timestamp,
    /// The user who did it; none for nobody, and for the operator, who is no user.
    pub actor_id: Option<String>,
    /// How they proved it: one of [`Authentication::name`].
    pub authentication: &'static str,
    /// The id of the key or the session.
    pub credential_id: Option<String>,
    /// From where.
    pub address: Option<IpAddr>,
    /// The request, as the log and error messages name it.
    pub request_id: String,
    /// What was called.
    pub procedure: String,
    /// Of a sign-in: who vouches for the user.
    pub provider: Option<Provider>,
    /// The id of the record that it is about: the first one that was created, or the one that was
    /// named. Of `state.apply` how much changed.
    pub target: Option<String>,
    /// How many records were created.
    pub created: u64,
    /// [`DONE`], or the code of the error.
    pub outcome: String,
    /// How often: identical refusals may share a row.
    pub times: u64,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// Later rows have larger ones.
    pub number: u64,
    /// What it says.
    #[serde(flatten)]
    pub entry: AuditEntry,
}

/// Which rows, newest first: of those that fit everything that is there.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Done by this user.
    pub actor_id: Option<String>,
    /// Of this procedure.
    pub procedure: Option<String>,
    /// With this outcome.
    pub outcome: Option<String>,
    /// From this moment on.
    pub from: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

/// Which rows go, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditPrune {
    /// Those of before this moment.
    Before(Timestamp),
    /// Refusals.
    Refusals,
    /// Any.
    Any,
}

impl AuditEntry {
    /// Something that was done, by nobody and from nowhere yet.
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
            outcome: DONE.into(),
            times: 1,
        }
    }

    /// The same, done by this user, who proved it like this.
    pub fn by(self, actor_id: Option<&str>, authentication: &Authentication) -> Self {
        let credential_id = match authentication {
            Authentication::Key(id) | Authentication::Session(id) => Some(plain(id)),
            Authentication::None | Authentication::Operator | Authentication::Host => None,
        };
        Self {
            actor_id: actor_id.map(plain),
            authentication: authentication.name(),
            credential_id,
            ..self
        }
    }
}

impl Authentication {
    const NAMES: [&str; 5] = ["none", "session", "key", "operator", "host"];

    /// What rows call it: `none`, `session`, `key`, `operator` or `host`.
    pub fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::None => 0,
            Self::Session(_) => 1,
            Self::Key(_) => 2,
            Self::Operator => 3,
            Self::Host => 4,
        }]
    }

    /// One of the names, as it was kept.
    pub fn named(text: &str) -> Option<&'static str> {
        Self::NAMES.into_iter().find(|name| *name == text)
    }
}

/// One call whose success is recorded by the transaction that commits it.
pub struct AuditedCall {
    context: Mutex<AuditContext>,
    clock: Arc<dyn Clock>,
    written: AtomicBool,
}

/// What is to be said of a call, as far as it is known.
#[derive(Clone)]
struct AuditContext {
    entry: AuditEntry,
    /// Whether it is for the transaction to say what it is about.
    is_open: bool,
}

impl AuditedCall {
    /// A call that this is to be said of; when, is for the clock to say.
    pub fn new(entry: AuditEntry, clock: Arc<dyn Clock>) -> Self {
        Self {
            context: Mutex::new(AuditContext { entry, is_open: true }),
            clock,
            written: AtomicBool::new(false),
        }
    }

    /// Says in words of our own what it does, whatever else its transaction creates.
    pub fn summarise(&self, what: String) {
        let mut context = self.context();
        context.entry.target = Some(what);
        context.is_open = false;
    }

    /// Says which session begins with it, and so who acts.
    pub fn signed_in(&self, session: &Session) {
        let mut context = self.context();
        let authentication = Authentication::Session(session.id.clone());
        context.entry = AuditEntry {
            target: Some(plain(&session.user_id)),
            ..context.entry.clone().by(Some(&session.user_id), &authentication)
        };
        context.is_open = false;
    }

    /// Whether there is a row.
    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::Acquire)
    }

    /// The row if it ended with this outcome, and no transaction wrote it.
    pub fn ended(&self, outcome: &str) -> AuditEntry {
        AuditEntry {
            time: self.clock.now(),
            outcome: outcome.into(),
            ..self.context().entry.clone()
        }
    }

    fn context(&self) -> MutexGuard<'_, AuditContext> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a write transaction notes for its row.
#[derive(Default)]
pub struct Trail {
    call: Option<Arc<AuditedCall>>,
    first_created: Option<String>,
    created: u64,
    changed: Option<String>,
}

impl Trail {
    /// Of the call that the transaction is part of.
    pub fn of(context: &CallContext) -> Self {
        Self {
            call: context.audit.clone(),
            ..Self::default()
        }
    }

    /// A record was created.
    pub fn created(&mut self, id: &str) {
        self.created += 1;
        if self.call.is_some() && self.first_created.is_none() {
            self.first_created = Some(plain(id));
        }
    }

    /// A record was changed that the input may not have named.
    pub fn changed(&mut self, id: &str) {
        if self.call.is_some() && self.changed.is_none() {
            self.changed = Some(plain(id));
        }
    }

    /// The row to write before the commit.
    pub fn row(&self) -> Option<AuditEntry> {
        let call = self.call.as_ref()?;
        let mut entry = call.ended(DONE);
        entry.created = self.created;
        if call.context().is_open {
            let target = self.first_created.clone().or(entry.target);
            entry.target = target.or_else(|| self.changed.clone());
        }
        Some(entry)
    }

    /// The row is there.
    pub fn committed(&self) {
        if let Some(call) = &self.call {
            call.written.store(true, Ordering::Release);
        }
    }
}

/// A text as a row holds it: at most [`LONGEST`] characters, and none that a terminal or a reader of
/// logs would take for something else than itself.
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

/// Line and paragraph separators, and what turns the direction of text around.
fn is_layout(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_way_to_prove_who_one_is_has_a_name_that_reads_back() {
        let id = || "id".to_owned();
        for authentication in [
            Authentication::None,
            Authentication::Session(id()),
            Authentication::Key(id()),
            Authentication::Operator,
            Authentication::Host,
        ] {
            let name = authentication.name();
            assert_eq!(
                name,
                format!("{authentication:?}")
                    .split('(')
                    .next()
                    .unwrap()
                    .to_lowercase()
            );
            assert_eq!(Authentication::named(name), Some(name));
        }
    }
}
