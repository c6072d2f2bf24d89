//! The second factor of users: codes of an app, and recovery codes for when it is lost.
//!
//! Invariants:
//! - No session begins without the factor that its user has or must have. Between the password and the factor a client has
//!   a [ticket](tickets), which is good for nothing else: there is no session that may do less than others.
//! - The transaction in which a session begins uses up the code: a time step and a recovery code are good once.
//! - Only who knows the password learns whether a user has a factor.
//! - What an issuer, a proxy or an embedding dashboard vouches for needs no factor here.

pub(crate) mod codes;
mod policy;
pub(crate) mod setting_up;
mod taking;
pub(crate) mod tickets;
pub(crate) mod totp;

pub use self::policy::SecondFactorPolicy;
pub(crate) use self::{
    taking::{Lacking, Step, Taken, take, use_code},
    tickets::{Ticket, Tickets},
};
