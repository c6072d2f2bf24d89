//! A software authenticator, with the browser around it: makes passkeys and signs with them as options ask for it, and
//! misbehaves as a test wants it. Independent of the code that it tests, down to its own CBOR.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};
use serde_json::{Value, json};

pub const PRESENT: u8 = 0x01;
pub const VERIFIED: u8 = 0x04;
pub const CAN_BE_COPIED: u8 = 0x08;
pub const IS_COPIED: u8 = 0x10;
const HAS_PASSKEY: u8 = 0x40;

enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

/// An authenticator with one passkey.
pub struct Authenticator {
    key: Key,
    pub id: Vec<u8>,
    /// What it says of the person and of the passkey.
    pub flags: u8,
    /// How often it says to have signed; `None` if it does not count.
    pub counter: Option<u32>,
    /// The page that asks it.
    pub origin: String,
    /// The relying party that it signs for, if not the one of the options.
    pub relying_party: Option<String>,
    /// The user whose passkey it is, as the registration says.
    pub user_handle: Option<String>,
}

impl Authenticator {
    /// One with the algorithm ES256, asked by pages of this origin.
    pub fn new(origin: &str) -> Self {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        let document = document.expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(
            &ECDSA_P256_SHA256_ASN1_SIGNING,
            document.as_ref(),
            &SystemRandom::new(),
        );
        let key = key.expect("a key");
        let id = digest(&SHA256, key.public_key().as_ref()).as_ref()[..20].to_vec();
        Self::with(Key::Es256(key), id, origin)
    }

    /// One with the algorithm EdDSA.
    pub fn ed25519(origin: &str) -> Self {
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
        Self::with(Key::EdDsa(key), vec![7; 64], origin)
    }

    fn with(key: Key, id: Vec<u8>, origin: &str) -> Self {
        Self {
            key,
            id,
            flags: PRESENT | VERIFIED,
            counter: Some(0),
            origin: origin.to_owned(),
            relying_party: None,
            user_handle: None,
        }
    }

    /// The same without a PIN: it does not verify people.
    pub fn without_verification(mut self) -> Self {
        self.flags &= !VERIFIED;
        self
    }

    /// What `navigator.credentials.create` gives for these options, as `toJSON` writes it.
    pub fn create(&mut self, options: &Value) -> Value {
        self.user_handle = options["user"]["id"].as_str().map(str::to_owned);
        let data = self.authenticator_data(options["rp"]["id"].as_str(), true);
        let object = [
            vec![0xa3],
            text("fmt"),
            text("none"),
            text("attStmt"),
            vec![0xa0],
            text("authData"),
            bytes(&data),
        ];
        let client_data = self.client_data("webauthn.create", options);
        json!({
            "id": BASE64.encode(&self.id),
            "rawId": BASE64.encode(&self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": BASE64.encode(client_data),
                "attestationObject": BASE64.encode(object.concat()),
                "transports": ["internal"],
            },
        })
    }

    /// What `navigator.credentials.get` gives for these options, as `toJSON` writes it.
    pub fn get(&mut self, options: &Value) -> Value {
        self.counter = self.counter.map(|counter| counter + 1);
        let data = self.authenticator_data(options["rpId"].as_str(), false);
        let client_data = self.client_data("webauthn.get", options);
        let message = [&*data, digest(&SHA256, client_data.as_bytes()).as_ref()].concat();
        json!({
            "id": BASE64.encode(&self.id),
            "rawId": BASE64.encode(&self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": BASE64.encode(client_data),
                "authenticatorData": BASE64.encode(data),
                "signature": BASE64.encode(self.sign(&message)),
                "userHandle": self.user_handle,
            },
        })
    }

    fn client_data(&self, ceremony: &str, options: &Value) -> String {
        json!({
            "type": ceremony,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": false,
            "another key": "may be here",
        })
        .to_string()
    }

    fn authenticator_data(&self, relying_party: Option<&str>, is_new: bool) -> Vec<u8> {
        let relying_party = self.relying_party.as_deref().or(relying_party).expect("an id");
        let mut data = digest(&SHA256, relying_party.as_bytes()).as_ref().to_vec();
        data.push(self.flags | if is_new { HAS_PASSKEY } else { 0 });
        data.extend(self.counter.unwrap_or_default().to_be_bytes());
        if is_new {
            data.extend([0; 16]);
            data.extend((self.id.len() as u16).to_be_bytes());
            data.extend(&self.id);
            data.extend(self.public_key());
        }
        data
    }

    /// The public key in COSE.
    fn public_key(&self) -> Vec<u8> {
        match &self.key {
            Key::Es256(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                // Kind 2, algorithm -7, curve 1.
                let head = vec![0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21];
                [head, bytes(x), vec![0x22], bytes(y)].concat()
            }
            Key::EdDsa(key) => {
                // Kind 1, algorithm -8, curve 6.
                let head = vec![0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21];
                [head, bytes(key.public_key().as_ref())].concat()
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.key {
            Key::Es256(key) => {
                let signature = key.sign(&SystemRandom::new(), message).expect("a signature");
                signature.as_ref().to_vec()
            }
            Key::EdDsa(key) => key.sign(message).as_ref().to_vec(),
        }
    }
}

fn text(text: &str) -> Vec<u8> {
    [&[0x60 | text.len() as u8], text.as_bytes()].concat()
}

fn bytes(content: &[u8]) -> Vec<u8> {
    let mut item = match content.len() {
        short @ 0..24 => vec![0x40 | short as u8],
        long => [&[0x59], &(long as u16).to_be_bytes()[..]].concat(),
    };
    item.extend(content);
    item
}
