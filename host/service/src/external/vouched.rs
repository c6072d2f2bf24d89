//! The user for whom a provider vouches.

use std::sync::Arc;

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
pub use portico_sandbox::{ExternalIdentity as Vouched, Linking};

use super::group_rules::GroupRules;

/// The refusal of a provider's account that cannot become a user. It leaves the reason out, which the log has.
pub fn unusable_account() -> Error {
    Refusal::ProviderAccount.into()
}

/// A user, as an external provider describes them.
#[derive(Clone, Debug)]
pub struct External {
    /// Who it is.
    pub identity: Vouched,
    /// Their groups.
    pub groups: Groups,
    /// Which groups here these are.
    pub group_rules: Arc<GroupRules>,
    /// Whether they may be linked to an existing user of `credentials`.
    pub linking: Linking,
    /// Whether the provider could not be asked for everything: then an email or a picture that it does not state stays
    /// as it is.
    pub is_partial: bool,
    /// Whether the provider says whether the email is verified. If it does not, a known user's email stays as verified as it
    /// is.
    pub states_verification: bool,
    /// Whether the provider's account is one that may sign in.
    pub admission: Admission,
    /// Whether a person who has no user yet becomes a new one.
    pub sign_up: SignUp,
}

/// Whether a person who has no user yet becomes a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignUp {
    /// Everyone for whom the provider vouches.
    #[default]
    On,
    /// People with the link of an invite.
    ByInvite,
    /// No new people.
    Off,
}

impl SignUp {
    /// As settings and the API write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::ByInvite => "invite",
            Self::Off => "off",
        }
    }
}

/// Whether an account of a provider has what the settings require of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// It has, or nothing is required.
    #[default]
    Granted,
    /// It lacks it, and why. The user's sessions end.
    Denied(String),
    /// The provider does not say so, and why. The sign-in is refused, and nothing else changes.
    Unknown(String),
}

/// What a provider says of a user's groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Nothing: they are managed in Portico.
    Own,
    /// Their names, as the provider writes them. The groups that exist, compared by name-key, replace all memberships.
    Stated(Vec<String>),
    /// It manages them, but did not state them in a form that is understood, and why. Memberships stay.
    Unknown(String),
}
