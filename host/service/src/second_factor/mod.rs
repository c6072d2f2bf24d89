//! The second factor of users: codes of an app, passkeys, and recovery codes for when they are lost.
//!
//! Invariants:
//! - No session begins without the factor that its user has or must have. Between the password and the factor a client has
//!   a ticket (`tickets.rs`), which is good for nothing else: no session may do less than others.
//! - The transaction in which a session begins uses up the code: a time step and a recovery code are good once.
//! - Only people who know the password learn whether a user has a factor.
//! - A passkey whose authenticator has verified the person stands for the password, too.
//! - What an issuer, a proxy or an embedding dashboard vouches for needs no factor here.

pub(crate) mod codes;
pub(crate) mod passkeys;
mod policy;
pub(crate) mod setting_up;
mod taking;
pub(crate) mod tickets;
pub(crate) mod totp;

pub use self::{
    passkeys::{Passkeys, relying_party},
    policy::SecondFactorPolicy,
};
pub(crate) use self::{
    taking::{MissingStep, Step, Taken, take, use_code, use_passkey},
    tickets::{Ticket, Tickets},
};
pub use portico_passkeys::{NoRelyingParty, RelyingParty};
