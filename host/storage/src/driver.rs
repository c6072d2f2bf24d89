//! What drivers of the dashboard side share: its rules, and the errors of a transaction.
//!
//! Invariants of a transaction that sets a password:
//! - The user's sessions end, except the one that the call came with.
//! - If another caller sets the password, the user's API keys end too: the caller cannot know what else the
//!   old password was used for.
//! - If the session that stays came in a cookie, it has a new token when the transaction is committed, and the old
//!   token is invalid.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use crate::audit::{AuditEntry, AuditedCall};
use crate::context::CallContext;
use crate::dashboard_records::SecretHash;
use crate::new_password::NewToken;
use crate::records::Error;
pub use crate::text_size::{AnswerSize, TextSize, TooLarge};
pub use crate::view::View;

/// The permissions that let their holder view every board.
pub const VIEW_ALL_BOARDS: [&str; 4] = ["admin", "board-view-all", "board-modify-all", "board-full-all"];

/// The group (its name is its name-key) that `grant_admin` makes users members of.
pub const ADMIN_GROUP: &str = "admins";

/// The most bytes of text in the records of one answer; `wit/storage.wit` says so.
pub const LARGEST_ANSWER: usize = 100_000_000;

/// Of how many groups of a user the home boards count.
pub const MOST_DEFAULT_HOMES: u32 = 20;

/// The most expired sessions that one call removes.
pub const MOST_EXPIRED: u32 = 1_000;

/// How long a transaction waits until it can begin.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The error of a transaction that waited longer than [`WAIT_TIMEOUT`].
pub fn waited_too_long() -> Error {
    Error::Unavailable(format!(
        "timed out after {} seconds waiting to begin a transaction",
        WAIT_TIMEOUT.as_secs()
    ))
}

/// The error of a write in a read transaction.
pub fn only_reads() -> Error {
    Error::Unavailable("a write in a read transaction".into())
}

/// The error of a write or a commit after a call of the transaction has failed.
pub fn failed_before() -> Error {
    Error::Unavailable("an earlier call in this transaction failed".into())
}

/// The error of a database whose tables have an older version than the first that this binary knows.
pub fn made_earlier(version: impl Display) -> String {
    format!(
        "this database was made by an earlier build (version {version}): export it with that build (`portico export`), \
         and apply the document to a new database (`portico apply`); an export has no passwords and keys"
    )
}

/// Who sets a password, which decides what ends with the old one.
#[derive(Clone, Default)]
pub struct PasswordSetter {
    user_id: Option<String>,
    /// The id of the session that the call came with.
    pub session_id: Option<String>,
    new_token: Option<Arc<NewToken>>,
    renewed: bool,
}

impl PasswordSetter {
    /// The caller.
    pub fn of(context: &CallContext) -> Self {
        Self {
            user_id: context.user_id.clone(),
            session_id: context.session_id(),
            new_token: context.new_token.clone(),
            renewed: false,
        }
    }

    /// Whether it is this user.
    pub fn is(&self, user_id: &str) -> bool {
        self.user_id.as_deref() == Some(user_id)
    }

    /// The id of the session that gets a new token if this user's password is set, and the token's hash.
    pub fn renewal(&self, user_id: &str) -> Option<(&str, SecretHash)> {
        let token = self.new_token.as_ref().filter(|_| self.is(user_id))?;
        Some((self.session_id.as_deref()?, token.hash()))
    }

    /// The transaction has given the session its new token.
    pub fn renewed(&mut self) {
        self.renewed = true;
    }

    /// The transaction is committed.
    pub fn committed(&self) {
        if let Some(token) = self.new_token.as_ref().filter(|_| self.renewed) {
            token.committed();
        }
    }
}

/// What a write transaction notes for its row in the audit log.
#[derive(Default)]
pub struct Trail {
    call: Option<Arc<AuditedCall>>,
    first_created: Option<String>,
    created: u64,
    changed: Option<String>,
}

impl Trail {
    /// For a transaction of this call.
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
            self.first_created = Some(id.to_owned());
        }
    }

    /// A record was changed that the input may not have named.
    pub fn changed(&mut self, id: &str) {
        if self.call.is_some() && self.changed.is_none() {
            self.changed = Some(id.to_owned());
        }
    }

    /// A user whom the transaction created joins these groups.
    pub fn joined(&self, group_ids: &[String]) {
        if let Some(call) = &self.call {
            call.changed_groups(group_ids, &[]);
        }
    }

    /// The row to write before the commit; `None` if the call is not recorded.
    pub fn row(&self) -> Option<AuditEntry> {
        let call = self.call.as_ref()?;
        Some(call.committing(
            self.created,
            self.first_created.as_deref(),
            self.changed.as_deref(),
        ))
    }

    /// The row is committed.
    pub fn committed(&self) {
        if let Some(call) = &self.call {
            call.committed();
        }
    }
}
