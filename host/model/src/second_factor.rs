//! The second factor of a sign-in: its kinds, and what is missing after the right password.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a second factor.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum FactorKind {
    /// Codes of an app (RFC 6238).
    Totp,
    /// A passkey (WebAuthn).
    Passkey,
}

impl FactorKind {
    /// All names, in JSON and in storage.
    pub const NAMES: [&str; 2] = ["totp", "passkey"];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Totp => Self::NAMES[0],
            Self::Passkey => Self::NAMES[1],
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Totp, Self::Passkey]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// The second factor that is missing after the right password.
#[derive(Clone, PartialEq, Eq)]
pub struct MissingFactor {
    /// The kinds that the user has, each once; none if the user has to set one up now.
    pub kinds: Vec<FactorKind>,
    /// Whether one was sent, which is wrong.
    pub is_wrong: bool,
    /// A secret with which the sign-in goes on.
    pub ticket: String,
}

/// Leaves the ticket out.
impl fmt::Debug for MissingFactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kinds.fmt(formatter)
    }
}
