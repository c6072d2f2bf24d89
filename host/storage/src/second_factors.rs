//! The second factors of users.

use portico_model::{FactorKind, Id, Timestamp};

/// A second factor.
#[derive(Clone, PartialEq)]
pub struct SecondFactor {
    /// Its id.
    pub id: Id,
    /// The id of its user.
    pub user_id: Id,
    /// Its kind. A user has at most one of codes.
    pub kind: FactorKind,
    /// The name that its user gave it.
    pub name: Option<String>,
    /// The id of a passkey's credential, by which it is found; `None` for codes.
    pub handle: Option<String>,
    /// What a proof is checked with: the secret of codes in Base32, or the public key of a passkey. The service knows the
    /// form. That of codes is a secret.
    pub data: String,
    /// When it was set up.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
    /// The time step of the last code, or the number of signatures of a passkey.
    pub counter: Option<u64>,
}

impl SecondFactor {
    /// Whether it is a passkey.
    pub fn is_passkey(&self) -> bool {
        self.kind == FactorKind::Passkey
    }
}

/// The most second factors of a user.
pub const MOST_SECOND_FACTORS: usize = 10;
