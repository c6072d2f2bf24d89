//! What an authenticator says: for which relying party, whether a person was present, how often it has signed, and in a
//! registration the new passkey.

use ring::digest::{SHA256, digest};

use crate::{
    Refused, UserVerification, bounds,
    cbor::{Malformed, Reader},
};

const PRESENT: u8 = 1;
const VERIFIED: u8 = 1 << 2;
const CAN_BE_COPIED: u8 = 1 << 3;
const IS_COPIED: u8 = 1 << 4;
const HAS_PASSKEY: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

/// The bytes of an identifier of the authenticator's make, which is not used.
const MAKE: usize = 16;

pub(crate) struct AuthenticatorData<'a> {
    relying_party: &'a [u8],
    flags: u8,
    pub counter: u32,
    pub passkey: Option<AttestedPasskey<'a>>,
}

/// A new passkey.
pub(crate) struct AttestedPasskey<'a> {
    pub id: &'a [u8],
    /// In COSE.
    pub public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, Refused> {
        if bytes.len() > bounds::AUTHENTICATOR_DATA {
            return Err(Refused::TooLarge);
        }
        read(bytes).ok_or(Refused::AuthenticatorData)
    }

    /// Checks its relying party, and that a person was present.
    pub fn check(&self, relying_party: &str, verification: UserVerification) -> Result<(), Refused> {
        if self.relying_party != digest(&SHA256, relying_party.as_bytes()).as_ref() {
            return Err(Refused::RelyingParty);
        }
        if self.flags & PRESENT == 0 {
            return Err(Refused::NotPresent);
        }
        if verification == UserVerification::Required && !self.is_verified() {
            return Err(Refused::NotVerified);
        }
        if self.is_copied() && !self.can_be_copied() {
            return Err(Refused::AuthenticatorData);
        }
        Ok(())
    }

    pub fn is_verified(&self) -> bool {
        self.flags & VERIFIED != 0
    }

    pub fn can_be_copied(&self) -> bool {
        self.flags & CAN_BE_COPIED != 0
    }

    pub fn is_copied(&self) -> bool {
        self.flags & IS_COPIED != 0
    }
}

fn read(bytes: &[u8]) -> Option<AuthenticatorData<'_>> {
    let (relying_party, rest) = bytes.split_at_checked(32)?;
    let (flags, rest) = rest.split_first()?;
    let (counter, mut rest) = rest.split_first_chunk()?;
    let mut passkey = None;
    if flags & HAS_PASSKEY != 0 {
        let (_, after) = rest.split_at_checked(MAKE)?;
        let (length, after) = after.split_first_chunk()?;
        let (id, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
        if id.is_empty() || id.len() > bounds::ID {
            return None;
        }
        let public_key;
        (public_key, rest) = split_item(after).ok()?;
        passkey = Some(AttestedPasskey { id, public_key });
    }
    if flags & HAS_EXTENSIONS != 0 {
        // None was asked for, so nothing in them is of use.
        let mut reader = Reader::new(rest);
        reader.skip().ok()?;
        Reader::new(rest).map().ok()?;
        rest = reader.rest();
    }
    rest.is_empty().then_some(AuthenticatorData {
        relying_party,
        flags: *flags,
        counter: u32::from_be_bytes(*counter),
        passkey,
    })
}

/// The bytes of the first item, and those after it.
fn split_item(bytes: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let mut reader = Reader::new(bytes);
    reader.skip()?;
    Ok(bytes.split_at(bytes.len() - reader.rest().len()))
}
