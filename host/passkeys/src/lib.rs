//! Passkeys as the relying party sees them (Web Authentication, level 2): what a browser is asked for, and whether
//! what it sends back is what the person's authenticator signed.
//!
//! A *registration* makes a passkey, an *assertion* proves that a person has it; both are *ceremonies*. This crate
//! computes and keeps ceremonies; it stores no passkeys, and knows neither users nor HTTP.
//!
//! Invariants:
//! - Everything that a browser sends is bounded before it is decoded, and nothing of it is used before its signature,
//!   its challenge, its origin and its relying party have been checked. In a registration nothing is signed: its
//!   challenge says whose it is.
//! - A challenge is good for five minutes, for one use, for one purpose and one holder (`ceremonies.rs`).
//! - No attestation is requested, and none is trusted: people choose the make of their authenticator.
//! - Signatures are verified by ring, and by nothing of ours. There are three algorithms: ES256, EdDSA (Ed25519), RS256.

mod assertion;
mod authenticator_data;
mod cbor;
mod ceremonies;
mod client_data;
mod encoding;
mod public_key;
mod refused;
mod registration;
mod relying_party;
#[cfg(test)]
mod tests;

pub use self::{
    assertion::{Assertion, Verified},
    ceremonies::{Ceremonies, Ceremony, Purpose, TIME_LIMIT},
    client_data::challenge_in,
    encoding::{decode, encode},
    refused::Refused,
    registration::{NewPasskey, Registration},
    relying_party::{NoRelyingParty, RelyingParty, user_handle},
};

/// How large what a browser sends may be, in bytes. Real ones have a tenth of it.
pub mod bounds {
    /// The client data: type, challenge and origin, as JSON.
    pub const CLIENT_DATA: usize = 2048;
    /// What the authenticator says of itself and of a new passkey, with an attestation that is not read.
    pub const ATTESTATION_OBJECT: usize = 16 * 1024;
    /// What the authenticator says of itself.
    pub const AUTHENTICATOR_DATA: usize = 2048;
    /// A signature.
    pub const SIGNATURE: usize = 1024;
    /// The id of a passkey.
    pub const ID: usize = 1023;
    /// The handle of a user.
    pub const USER_HANDLE: usize = 64;
    /// A public key as it is stored.
    pub const PUBLIC_KEY: usize = 1024;
}

/// A passkey, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// Its id, which its authenticator chose.
    pub id: Vec<u8>,
    /// Its public key, in COSE.
    pub public_key: Vec<u8>,
    /// How often it has signed, if its authenticator counts, otherwise 0.
    pub counter: u32,
    /// Whether it can be copied to other devices.
    pub can_be_copied: bool,
    /// Whether it has been copied to another device or a backup.
    pub is_copied: bool,
}

/// Whether the authenticator must have verified the person, by a PIN or by their body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserVerification {
    /// It must: the passkey is all that is asked for.
    Required,
    /// It does if it can: the passkey is asked for after a password.
    Preferred,
}

impl UserVerification {
    fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Preferred => "preferred",
        }
    }
}
