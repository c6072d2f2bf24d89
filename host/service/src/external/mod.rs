//! External identity providers: who else than Portico vouches for users.
//!
//! Invariants:
//! - A provider only says who somebody is ([`External`]). That they become a user, the member of groups and
//!   the owner of a session happens in one place ([`sign_in`]) and in one transaction: all of it or
//!   nothing.
//! - While no user exists nobody signs in by a provider: the first one is an administrator, made by
//!   `user.initUser`.
//! - No provider takes `admin` from the last administrator.
//! - A provider that does not answer costs those who sign in with it the time that its settings
//!   say, and nobody else anything.

mod directory;
mod groups;
mod issuer;
mod sign_in;

use std::sync::Arc;

pub use portico_sandbox::{ExternalIdentity as Vouched, Linking};

pub use self::{
    directory::{Directory, Login},
    issuer::{Issuer, PATIENCE_SECONDS, Resumed, Returned, Started},
    sign_in::{SignIn, sign_in},
};

/// What a provider vouches for.
#[derive(Clone, Debug)]
pub struct External {
    /// Who it is.
    pub identity: Vouched,
    /// The names of the groups that they are in, as the provider writes them. Those that are there, by
    /// name-key, replace all memberships; none: groups are not the provider's business.
    pub groups: Option<Vec<String>>,
    /// Whether they may become a user of `credentials` who is there.
    pub linking: Linking,
}

/// The providers that are on, beside `credentials`, which always is.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    /// A directory.
    pub ldap: Option<Arc<dyn Directory>>,
    /// OpenID Connect.
    pub oidc: Option<Arc<dyn Issuer>>,
}
