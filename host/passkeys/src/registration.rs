//! Registrations: what a browser is asked for to make a passkey, and the passkey in what it sends back.

use serde_json::{Value, json};

use crate::{
    Passkey, Refused, RelyingParty, TIME_LIMIT, UserVerification,
    authenticator_data::AuthenticatorData,
    bounds,
    cbor::{Item, Malformed, Reader},
    client_data::ClientData,
    encoding::{decode, encode},
    public_key::{ALGORITHMS, PublicKey},
};

/// A passkey that is to be made.
pub struct NewPasskey<'a> {
    /// The user's handle ([`user_handle`](crate::user_handle)).
    pub user_handle: &'a [u8],
    /// What the authenticator shows of the user.
    pub user_name: &'a str,
    /// The passkeys that the user has: an authenticator that has one of them does not make another.
    pub present: &'a [Vec<u8>],
    /// The challenge of the ceremony.
    pub challenge: &'a [u8],
}

/// What a browser sends of a new passkey.
#[derive(Clone, Debug)]
pub struct Registration {
    /// What the browser says.
    pub client_data: Vec<u8>,
    /// What the authenticator says, with an attestation.
    pub attestation_object: Vec<u8>,
}

impl Registration {
    /// Decodes what `toJSON` of a browser's credential has in these fields; otherwise returns the field that is not in
    /// base64url or too large.
    pub fn decode(client_data: &str, attestation_object: &str) -> Result<Self, &'static str> {
        Ok(Self {
            client_data: decode(client_data, bounds::CLIENT_DATA).ok_or("clientDataJSON")?,
            attestation_object: decode(attestation_object, bounds::ATTESTATION_OBJECT)
                .ok_or("attestationObject")?,
        })
    }
}

impl RelyingParty {
    /// The options for `navigator.credentials.create`, as JSON (`PublicKeyCredentialCreationOptionsJSON`).
    ///
    /// The passkey is asked to be discoverable, and the person to be verified, so that it can be a way in of its own.
    /// One that can be neither is made all the same: it is good after a password.
    pub fn creation_options(&self, new: &NewPasskey<'_>) -> Value {
        let algorithms = ALGORITHMS.map(|algorithm| json!({ "type": "public-key", "alg": algorithm }));
        json!({
            "rp": { "id": self.id(), "name": self.name() },
            "user": {
                "id": encode(new.user_handle),
                "name": new.user_name,
                "displayName": new.user_name,
            },
            "challenge": encode(new.challenge),
            "pubKeyCredParams": algorithms,
            "timeout": TIME_LIMIT,
            "excludeCredentials": descriptors(new.present),
            "authenticatorSelection": {
                "residentKey": "preferred",
                "requireResidentKey": false,
                "userVerification": UserVerification::Preferred.name(),
            },
            "attestation": "none",
        })
    }

    /// The passkey in a registration with this challenge.
    pub fn register(&self, registration: &Registration, challenge: &[u8]) -> Result<Passkey, Refused> {
        let client_data = ClientData::read(&registration.client_data)?;
        client_data.check("webauthn.create", challenge, self.origin())?;
        if registration.attestation_object.len() > bounds::ATTESTATION_OBJECT {
            return Err(Refused::TooLarge);
        }
        let data = authenticator_data(&registration.attestation_object);
        let data = AuthenticatorData::read(data.map_err(|_| Refused::AuthenticatorData)?)?;
        data.check(self.id(), UserVerification::Preferred)?;
        let passkey = data.passkey.as_ref().ok_or(Refused::AuthenticatorData)?;
        PublicKey::read(passkey.public_key)?;
        Ok(Passkey {
            id: passkey.id.to_vec(),
            public_key: passkey.public_key.to_vec(),
            counter: data.counter,
            can_be_copied: data.can_be_copied(),
            is_copied: data.is_copied(),
        })
    }
}

/// Passkeys as options name them.
pub(crate) fn descriptors(ids: &[Vec<u8>]) -> Vec<Value> {
    let describe = |id: &Vec<u8>| json!({ "type": "public-key", "id": encode(id) });
    ids.iter().map(describe).collect()
}

/// The authenticator's data in an attestation object, whose other parts are not used.
fn authenticator_data(object: &[u8]) -> Result<&[u8], Malformed> {
    // Each key once, at every level.
    Reader::new(object).skip()?;
    let mut reader = Reader::new(object);
    let mut found = None;
    for _ in 0..reader.map()? {
        match reader.item()? {
            Item::Text("authData") => match reader.item()? {
                Item::Bytes(bytes) => found = Some(bytes),
                _ => return Err(Malformed),
            },
            Item::Text("fmt" | "attStmt") => reader.skip()?,
            _ => return Err(Malformed),
        }
    }
    if reader.rest().is_empty() {
        found.ok_or(Malformed)
    } else {
        Err(Malformed)
    }
}
