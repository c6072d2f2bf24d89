//! External identity providers.
//!
//! Invariants:
//! - A provider only says who a user is ([`External`]). One transaction in one place ([`sign_in`]) makes them a
//!   user and a member of groups, and begins their session: all of it or nothing.
//! - While no user exists, sign-in by a provider is refused: `user.initUser` creates the first user, who is an
//!   administrator.
//! - No provider takes `admin` from the last administrator; with passwords off, from the last one who can sign in.
//! - Where sign-up is by invite, the transaction that makes a user of a new person takes the invite.
//! - A provider that does not respond delays only the sign-ins by that provider, and those only for the time in its
//!   settings.

mod directory;
mod group_rules;
mod groups;
mod invitation;
mod issuer;
mod proxy;
mod relink;
mod sign_in;
mod vouched;

pub(crate) use self::{
    proxy::is_of_proxy,
    sign_in::{Entered, sign_in_with_factor},
};
use std::sync::Arc;

pub use self::{
    directory::{Directory, DirectoryUser, Login},
    group_rules::GroupRules,
    invitation::Invitation,
    issuer::{Issuer, NotResumed, PATIENCE_SECONDS, Resumed, Returned, StartRequest, Started},
    proxy::{ProxyUser, ProxyUsers},
    relink::{Move, Relinking, Subjects, relink},
    sign_in::{SignIn, find_user, sign_in},
    vouched::{Admission, External, Groups, Linking, SignUp, Vouched, unusable_account},
};

/// The providers that are on, in addition to `credentials`, which always is.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    pub ldap: Option<Arc<dyn Directory>>,
    pub oidc: Option<Arc<dyn Issuer>>,
}
