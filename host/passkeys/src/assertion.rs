//! Assertions: the options with which a browser proves that a person has a passkey, and the check of the proof.

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    Passkey, Refused, RelyingParty, TIME_LIMIT, UserVerification,
    authenticator_data::AuthenticatorData,
    bounds,
    client_data::ClientData,
    encoding::{decode, encode},
    public_key::PublicKey,
    registration::descriptors,
};

/// What a browser sends of a passkey that was used.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The passkey's id.
    pub id: Vec<u8>,
    /// What the browser says.
    pub client_data: Vec<u8>,
    /// What the authenticator says.
    pub authenticator_data: Vec<u8>,
    /// The passkey's signature over both.
    pub signature: Vec<u8>,
    /// The handle of the user whose passkey it is. Passkeys that are not discoverable have none.
    pub user_handle: Option<Vec<u8>>,
}

impl Assertion {
    /// Decodes what `toJSON` of a browser's credential has in these fields; otherwise returns the field that is not in
    /// base64url or too large.
    pub fn decode(
        id: &str,
        client_data: &str,
        authenticator_data: &str,
        signature: &str,
        user_handle: Option<&str>,
    ) -> Result<Self, &'static str> {
        let user_handle = user_handle.filter(|handle| !handle.is_empty());
        let user_handle = user_handle.map(|handle| decode(handle, bounds::USER_HANDLE).ok_or("userHandle"));
        Ok(Self {
            id: decode(id, bounds::ID).ok_or("id")?,
            client_data: decode(client_data, bounds::CLIENT_DATA).ok_or("clientDataJSON")?,
            authenticator_data: decode(authenticator_data, bounds::AUTHENTICATOR_DATA)
                .ok_or("authenticatorData")?,
            signature: decode(signature, bounds::SIGNATURE).ok_or("signature")?,
            user_handle: user_handle.transpose()?,
        })
    }
}

/// What is known after an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The passkey as it is from now on.
    pub passkey: Passkey,
    /// Whether the authenticator verified the person.
    pub is_user_verified: bool,
}

impl RelyingParty {
    /// The options for `navigator.credentials.get`, as JSON (`PublicKeyCredentialRequestOptionsJSON`): for one of these
    /// passkeys, or without any for every one that the authenticator itself finds.
    pub fn request_options(
        &self,
        challenge: &[u8],
        passkeys: &[Vec<u8>],
        verification: UserVerification,
    ) -> Value {
        json!({
            "rpId": self.id(),
            "challenge": encode(challenge),
            "timeout": TIME_LIMIT,
            "allowCredentials": descriptors(passkeys),
            "userVerification": verification.name(),
        })
    }

    /// Checks an assertion with this challenge by this passkey of the user with this handle.
    pub fn verify(
        &self,
        assertion: &Assertion,
        challenge: &[u8],
        passkey: &Passkey,
        user_handle: &[u8],
        verification: UserVerification,
    ) -> Result<Verified, Refused> {
        let client_data = ClientData::read(&assertion.client_data)?;
        client_data.check("webauthn.get", challenge, self.origin())?;
        if assertion.id != passkey.id {
            return Err(Refused::OtherPasskey);
        }
        if assertion
            .user_handle
            .as_ref()
            .is_some_and(|handle| handle != user_handle)
        {
            return Err(Refused::OtherUser);
        }
        let data = AuthenticatorData::read(&assertion.authenticator_data)?;
        data.check(self.id(), verification)?;
        if assertion.signature.len() > bounds::SIGNATURE {
            return Err(Refused::TooLarge);
        }
        let hash = digest(&SHA256, &assertion.client_data);
        let message = [&*assertion.authenticator_data, hash.as_ref()].concat();
        PublicKey::read(&passkey.public_key)?.verify(&message, &assertion.signature)?;
        // Authenticators that do not count send 0.
        if (data.counter, passkey.counter) != (0, 0) && data.counter <= passkey.counter {
            return Err(Refused::Counter);
        }
        if passkey.can_be_copied && !data.can_be_copied() {
            return Err(Refused::Backup);
        }
        Ok(Verified {
            passkey: Passkey {
                counter: data.counter,
                can_be_copied: data.can_be_copied(),
                is_copied: data.is_copied(),
                ..passkey.clone()
            },
            is_user_verified: data.is_verified(),
        })
    }
}
