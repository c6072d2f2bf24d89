//! The new token of a session whose user's password is set.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dashboard_records::SecretHash;
use crate::secrets::{Issued, Secrets};

/// Another token for an existing session, which replaces the one that the request came with.
pub struct NewToken {
    secrets: Secrets,
    /// Issued only when a transaction needs it, because most calls do not set a password.
    issued: OnceLock<Issued>,
    is_committed: AtomicBool,
}

impl NewToken {
    /// A token that is issued from these secrets.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            issued: OnceLock::new(),
            is_committed: AtomicBool::new(false),
        }
    }

    /// A token whose hash is known already.
    pub fn issued_before(secrets: Secrets, hash: SecretHash) -> Self {
        let (id, text) = Default::default();
        Self {
            secrets,
            issued: OnceLock::from(Issued { id, text, hash }),
            is_committed: AtomicBool::new(false),
        }
    }

    /// The token, once a transaction that stores it is committed.
    pub fn committed_text(&self) -> Option<&str> {
        let issued = self.issued.get()?;
        let is_committed = self.is_committed.load(Ordering::Acquire);
        is_committed.then_some(&issued.text)
    }

    /// Its hash, once a transaction has asked for it, committed or not.
    pub fn issued(&self) -> Option<SecretHash> {
        self.issued.get().map(|issued| issued.hash)
    }

    /// Its hash, for a transaction that stores it.
    pub(crate) fn hash(&self) -> SecretHash {
        // The session keeps its id.
        let issued = self.issued.get_or_init(|| self.secrets.session(String::new()));
        issued.hash
    }

    /// A transaction that stores it is committed.
    pub(crate) fn committed(&self) {
        self.is_committed.store(true, Ordering::Release);
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NewToken")
    }
}
