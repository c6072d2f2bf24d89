//! Identity providers: whoever else than Portico vouches for users.
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

mod groups;
pub mod ldap;
pub mod oidc;
mod sign_in;

use std::{fmt, sync::Arc, time::Duration};

use anyhow::ensure;

pub use self::sign_in::{SignIn, sign_in};
use self::{ldap::Ldap, oidc::Oidc};
pub use crate::sandbox::{ExternalIdentity as Vouched, Linking};

/// Refuses a time limit of a provider that nobody would wait for, or that none could keep.
fn check_time_limit(setting: &str, limit: Duration) -> anyhow::Result<()> {
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(60));
    ensure!(
        (least..=most).contains(&limit),
        "{setting} must be 1 to 60 seconds"
    );
    Ok(())
}

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
    pub ldap: Option<Arc<Ldap>>,
    /// OpenID Connect.
    pub oidc: Option<Arc<Oidc>>,
}

/// What only the provider may see. It does not show in logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}
