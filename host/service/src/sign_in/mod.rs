//! Sign-in, sign-out and the session: what runs these rows of the table.
//!
//! Their answers are more than JSON: the transport makes the session's cookie of them. Invariants:
//! - Every sign-in is recorded, refused ones too, and those whose client left before the answer.
//! - A sign-in that a change of the password overtakes is refused.

mod attempt;
mod credentials;
mod directory;
mod password;
mod session;

pub use self::{
    attempt::SignInAttempt,
    credentials::{Credentials, SignInSettings},
    password::{Claim, verify},
    session::{current_session, sign_out},
};
