//! What a new password ends, and what takes its place.
//!
//! Invariants, of the transaction that sets a password:
//! - The user's sessions end, except the one that the call came in on.
//! - If another caller sets the password, the user's API keys end too: the caller cannot know what else the
//!   old password was used for.
//! - If the session that stays came by a cookie, it has another token when the transaction is committed,
//!   and the old token opens nothing any more.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{CallContext, SecretHash};
use crate::secrets::{Issued, Secrets};

/// A token for a session that exists, in the place of the one that the request showed.
pub struct NewToken {
    secrets: Secrets,
    /// Made when a transaction needs it: most calls set no password.
    issued: OnceLock<Issued>,
    is_kept: AtomicBool,
}

impl NewToken {
    /// One that is made from these.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            issued: OnceLock::new(),
            is_kept: AtomicBool::new(false),
        }
    }

    /// The token, once a committed transaction has kept it.
    pub fn kept(&self) -> Option<&str> {
        let issued = self.issued.get()?;
        let is_kept = self.is_kept.load(Ordering::Acquire);
        is_kept.then_some(&issued.text)
    }

    /// Its hash, if a transaction has asked for it: kept or not.
    pub fn issued(&self) -> Option<SecretHash> {
        self.issued.get().map(|issued| issued.hash)
    }

    fn hash(&self) -> SecretHash {
        // The session keeps its id.
        let issued = self.issued.get_or_init(|| self.secrets.session(String::new()));
        issued.hash
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NewToken")
    }
}

/// Who sets a password, as far as it matters for what ends with the old one.
#[derive(Clone, Default)]
pub struct Setter {
    user_id: Option<String>,
    /// The session that the call came in on.
    pub session_id: Option<String>,
    new_token: Option<Arc<NewToken>>,
    renewed: bool,
}

impl Setter {
    /// The one who makes this call.
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

    /// The session that gets another token where this user's password is set, and that token's hash.
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
            token.is_kept.store(true, Ordering::Release);
        }
    }
}
