//! Public keys in COSE (RFC 9053), and the signatures that they verify.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use crate::{
    Refused, bounds,
    cbor::{Item, Malformed, Reader},
};

/// The algorithms that are asked for, the most common first: ES256, EdDSA, RS256.
pub(crate) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// The labels of a key's parts.
const KIND: i64 = 1;
const ALGORITHM: i64 = 3;
/// What the key is for, its id and its nonce: known to the standard, and not used.
const OTHERS: [i64; 3] = [2, 4, 5];

/// The most parts of a key.
const MOST_PARTS: usize = 8;

/// How long the modulus of an RSA key is, in bytes.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=512;

pub(crate) enum PublicKey<'a> {
    /// A point on P-256.
    Es256 {
        x: &'a [u8],
        y: &'a [u8],
    },
    /// A point on Ed25519.
    EdDsa {
        x: &'a [u8],
    },
    Rs256 {
        n: &'a [u8],
        e: &'a [u8],
    },
}

impl<'a> PublicKey<'a> {
    /// Reads a key, which must be all of these bytes.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Refused> {
        if bytes.len() > bounds::PUBLIC_KEY {
            return Err(Refused::PublicKey);
        }
        let parts = Parts::read(bytes).map_err(|_| Refused::PublicKey)?;
        parts.key().ok_or(Refused::PublicKey)
    }

    /// Checks that its private key signed this message.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refused> {
        let verified = match *self {
            Self::Es256 { x, y } => {
                let point = [&[4], x, y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            Self::EdDsa { x } => UnparsedPublicKey::new(&ED25519, x).verify(message, signature),
            Self::Rs256 { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
        };
        verified.map_err(|_| Refused::Signature)
    }
}

/// The parts of a key by their labels.
struct Parts<'a>(Vec<(i64, Item<'a>)>);

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let count = reader.map()?;
        if count > MOST_PARTS {
            return Err(Malformed);
        }
        let mut parts: Vec<(i64, Item<'_>)> = Vec::with_capacity(count);
        for _ in 0..count {
            let Item::Integer(label) = reader.item()? else {
                return Err(Malformed);
            };
            if parts.iter().any(|(other, _)| *other == label) {
                return Err(Malformed);
            }
            if OTHERS.contains(&label) {
                reader.skip()?;
                continue;
            }
            parts.push((label, reader.item()?));
        }
        if reader.rest().is_empty() {
            Ok(Self(parts))
        } else {
            Err(Malformed)
        }
    }

    fn key(&self) -> Option<PublicKey<'a>> {
        let point = |label| self.bytes(label).filter(|bytes| bytes.len() == 32);
        // The kind of key, and the curve.
        Some(
            match (self.integer(ALGORITHM)?, self.integer(KIND)?, self.integer(-1)) {
                (ES256, 2, Some(1)) => PublicKey::Es256 {
                    x: point(-2)?,
                    y: point(-3)?,
                },
                (EDDSA, 1, Some(6)) => PublicKey::EdDsa { x: point(-2)? },
                (RS256, 3, None) => PublicKey::Rs256 {
                    n: self
                        .bytes(-1)
                        .filter(|n| MODULUS.contains(&n.len()) && n[0] != 0)?,
                    e: self
                        .bytes(-2)
                        .filter(|e| (1..=4).contains(&e.len()) && e[0] != 0)?,
                },
                _ => return None,
            },
        )
    }

    fn find(&self, label: i64) -> Option<Item<'a>> {
        let part = self.0.iter().find(|(other, _)| *other == label)?;
        Some(part.1)
    }

    fn integer(&self, label: i64) -> Option<i64> {
        match self.find(label)? {
            Item::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn bytes(&self, label: i64) -> Option<&'a [u8]> {
        match self.find(label)? {
            Item::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}
