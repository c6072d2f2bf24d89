//! Sign-in, sign-out and the session: the functions that run these rows of the table.
//!
//! Their answers are more than JSON: the transport makes the session's cookie from them. Invariants:
//! - Every sign-in is recorded, including refused ones and those whose client disconnected before the answer.
//! - A sign-in is refused if the password changes meanwhile.

mod attempt;
mod completion;
mod credentials;
mod directory;
mod passkey;
mod password;
mod policy;
mod session;
mod ticket;

pub(crate) use self::ticket::{NewSecret, registration_options};
pub use self::{
    attempt::{SecondStep, SignInAttempt},
    completion::Completed,
    credentials::{
        Credentials, FirstFactor, FirstPasskey, HeldPasskey, HeldTicket, SentCode, SignInSettings,
    },
    passkey::{SentPasskey, begin_passkey_sign_in},
    password::{Claim, verify},
    policy::PasswordSignIn,
    session::{current_session, sign_out},
    ticket::{Preparation, prepare},
};
