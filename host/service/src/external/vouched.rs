//! The user for whom a provider vouches.

use portico_model::error::{Code, Error};
pub use portico_sandbox::{ExternalIdentity as Vouched, Linking};

/// The refusal of a provider's account that cannot become a user. It leaves the reason out, which the log has.
pub fn unusable_account() -> Error {
    let message =
        "The provider's account cannot be used here; ask your administrator (the log has the reason)";
    Error::new(Code::Forbidden, message)
}

/// A user, as an external provider describes them.
#[derive(Clone, Debug)]
pub struct External {
    /// Who it is.
    pub identity: Vouched,
    /// The names of their groups, as the provider writes them. The groups that exist, compared by name-key, replace all
    /// memberships; `None` if the provider does not manage groups.
    pub groups: Option<Vec<String>>,
    /// Whether they may be linked to an existing user of `credentials`.
    pub linking: Linking,
}
