//! The user that a provider vouches for.

pub use portico_sandbox::{ExternalIdentity as Vouched, Linking};

/// A user, as an external provider describes them.
#[derive(Clone, Debug)]
pub struct External {
    /// Who it is.
    pub identity: Vouched,
    /// The names of their groups, as the provider writes them. The groups that exist, compared by name-key, replace
    /// all memberships; none: the provider does not manage groups.
    pub groups: Option<Vec<String>>,
    /// Whether they may be linked to an existing user of `credentials`.
    pub linking: Linking,
}
