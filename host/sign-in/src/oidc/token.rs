//! What an issuer signs: ID tokens, and answers of userinfo where it signs those too.
//!
//! Invariants:
//! - No claim counts before the signature is checked: by the library, with a key of the issuer, over the
//!   bytes that the issuer sent.
//! - A token holds if `iss`, `aud`, `azp`, `sub`, `exp`, `nonce` and `at_hash` do. These must have the types
//!   of the standard; every other claim may have any type.
//!
//! The library's own ID token is not used: it refuses a token for the type of a claim that is not used here.

use std::{fmt, time::SystemTime};

use anyhow::Context as _;
use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{GeneralPurpose, general_purpose::NO_PAD},
};
use openidconnect::{
    AccessToken, AccessTokenHash, JsonWebKey as _,
    core::{CoreJsonWebKey, CoreJwsSigningAlgorithm},
};
use portico_storage::{hash_secret, secrets};
use serde_json::{Map, Value};

/// What a token may be signed with.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 10] = [
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EcdsaP521Sha512,
    CoreJwsSigningAlgorithm::EdDsa,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
];

/// What `typ` may say of a token, where it says anything, in any case.
const TYPES: [&str; 4] = ["JWT", "JOSE", "application/jwt", "application/jose"];

/// The name of `EdDSA` with the curve Ed25519 (RFC 9864), which the library does not know.
pub(super) const ED25519: &str = "Ed25519";
pub(super) const EDDSA: &str = "EdDSA";

const BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Whose tokens are believed, and for whom they must be.
pub(super) struct Terms<'a> {
    pub issuer: &'a str,
    pub keys: &'a [CoreJsonWebKey],
    pub client_id: &'a str,
    /// Who else may be in the audience.
    pub trusted_audiences: &'a [String],
}

/// Why a token is not believed.
#[derive(Debug)]
pub(super) enum Doubt {
    /// None of the issuer's keys signed it, as far as they are known.
    Key(String),
    /// A claim, or the header, is not right.
    Content(String),
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Key(why) | Self::Content(why)) = self;
        formatter.write_str(why)
    }
}

fn content(why: impl Into<String>) -> Doubt {
    Doubt::Content(why.into())
}

/// A signed document (JWS, in its compact form).
pub(super) struct Signed {
    header: Map<String, Value>,
    claims: Map<String, Value>,
    /// Header and claims as they were sent, which is what is signed.
    bytes: String,
    signature: Vec<u8>,
}

impl Signed {
    /// Takes it apart. Nothing of it is checked yet.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        // The text of an error may hold a part of the token.
        let bytes = |part: &str| BASE64.decode(part).ok();
        let object = |part| serde_json::from_slice(&bytes(part)?).ok();
        let (signed, signature) = text.rsplit_once('.').context("it is no JWT")?;
        let (header, claims) = signed.split_once('.').context("it is no JWT")?;
        let claims = object(claims).context("its claims are no JSON object, or encrypted")?;
        Ok(Self {
            header: object(header).context("its header is no JSON object")?,
            claims: without_nulls(claims),
            bytes: signed.to_owned(),
            signature: bytes(signature).context("its signature is not in base64url")?,
        })
    }

    /// The claims. Check them first.
    pub fn into_claims(self) -> Map<String, Value> {
        self.claims
    }

    /// Checks it as an ID token that came with this access token, and gives its subject.
    pub fn check_id_token(
        &self,
        terms: &Terms<'_>,
        nonce: &str,
        access_token: &AccessToken,
        now: SystemTime,
    ) -> Result<String, Doubt> {
        let (key, algorithm) = self.check_signature(terms.keys)?;
        self.check_origin(terms)?;
        if let Some(party) = self.claim("azp")
            && party.as_str() != Some(terms.client_id)
        {
            return Err(content(format!("azp is {}, another client", shown(party))));
        }
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        match self.claim("exp").and_then(Value::as_f64) {
            None => return Err(content("it has no exp")),
            Some(expires) if expires <= since_1970.as_secs_f64() => return Err(content("it has expired")),
            Some(_) => {}
        }
        let is_same = |found| secrets::same(&hash_secret(found), &hash_secret(nonce));
        if !self.text("nonce").is_some_and(is_same) {
            return Err(content("its nonce is not that of this sign-in"));
        }
        if let Some(expected) = self.claim("at_hash") {
            let actual = AccessTokenHash::from_token(access_token, &algorithm, key);
            let actual = actual.map_err(|error| content(format!("at_hash: {error}")))?;
            if expected.as_str() != Some(actual.as_str()) {
                return Err(content("it belongs to another access token (at_hash)"));
            }
        }
        // All who have none would be one user.
        let subject = self.text("sub").filter(|subject| !subject.trim().is_empty());
        Ok(subject.ok_or_else(|| content("it has no sub"))?.to_owned())
    }

    /// Checks it as an answer of userinfo.
    pub fn check_userinfo(&self, terms: &Terms<'_>) -> Result<(), Doubt> {
        self.check_signature(terms.keys)?;
        self.check_origin(terms)
    }

    /// Gives the key that signed it.
    fn check_signature<'k>(
        &self,
        keys: &'k [CoreJsonWebKey],
    ) -> Result<(&'k CoreJsonWebKey, CoreJwsSigningAlgorithm), Doubt> {
        let algorithm = self.check_header()?;
        let id = self.header.get("kid").and_then(Value::as_str);
        let may_be = |key: &&CoreJsonWebKey| {
            id.is_none_or(|id| key.key_id().is_some_and(|found| found.as_str() == id))
        };
        let mut doubt = "the issuer shows no key of this kid".to_owned();
        for key in keys.iter().filter(may_be) {
            match key.verify_signature(&algorithm, self.bytes.as_bytes(), &self.signature) {
                Ok(()) => return Ok((key, algorithm)),
                Err(error) => doubt = format!("its signature is not that of the issuer's key: {error}"),
            }
        }
        Err(Doubt::Key(doubt))
    }

    fn check_header(&self) -> Result<CoreJwsSigningAlgorithm, Doubt> {
        let part = |name| self.header.get(name).filter(|value| !value.is_null());
        // Nothing that must be understood is, and a token within a token is not looked for.
        for name in ["crit", "cty"] {
            if part(name).is_some() {
                return Err(content(format!("its header has {name}")));
            }
        }
        let is_one = |found: &str| TYPES.iter().any(|known| known.eq_ignore_ascii_case(found));
        if let Some(found) = part("typ")
            && !found.as_str().is_some_and(is_one)
        {
            return Err(content(format!("its typ is {}", shown(found))));
        }
        let name = part("alg").unwrap_or(&Value::Null);
        let known = match name.as_str() {
            Some(ED25519) => EDDSA.into(),
            _ => name.clone(),
        };
        let algorithm = serde_json::from_value(known).ok();
        let algorithm = algorithm.filter(|algorithm| ALGORITHMS.contains(algorithm));
        algorithm.ok_or_else(|| content(format!("a signature with {} does not count", shown(name))))
    }

    /// Checks who says it, and to whom.
    fn check_origin(&self, terms: &Terms<'_>) -> Result<(), Doubt> {
        if self.text("iss") != Some(terms.issuer) {
            let found = self.claim("iss").unwrap_or(&Value::Null);
            return Err(content(format!("iss is {}, another issuer", shown(found))));
        }
        let audience = match self.claim("aud") {
            Some(Value::Array(audience)) => audience.as_slice(),
            Some(audience) => std::slice::from_ref(audience),
            None => &[],
        };
        let is_us = |one: &Value| one.as_str() == Some(terms.client_id);
        if !audience.iter().any(is_us) {
            return Err(content("oidc-client-id is not in aud"));
        }
        let is_trusted = |one: &Value| {
            let mut trusted = terms.trusted_audiences.iter();
            is_us(one) || trusted.any(|trusted| one.as_str() == Some(trusted))
        };
        match audience.iter().find(|one| !is_trusted(one)) {
            None => Ok(()),
            Some(other) => Err(content(format!(
                "aud has {}, which is not in oidc-trusted-audiences",
                shown(other)
            ))),
        }
    }

    fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.claim(name).and_then(Value::as_str)
    }
}

/// Some issuers write null for a claim that a user does not have: it counts as absent.
pub(super) fn without_nulls(mut claims: Map<String, Value>) -> Map<String, Value> {
    claims.retain(|_, value| !value.is_null());
    claims
}

/// A value for the log.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use openidconnect::{PrivateSigningKey as _, core::CoreHmacKey};
    use serde_json::json;

    use super::*;

    /// A token with this header and these claims, and a signature that is none.
    fn signed(header: &Value, claims: &Value) -> Signed {
        let part = |value: &Value| BASE64.encode(value.to_string());
        Signed::read(&format!("{}.{}.AAAA", part(header), part(claims))).unwrap()
    }

    fn terms(trusted_audiences: &[String]) -> Terms<'_> {
        Terms {
            issuer: "https://id.example",
            keys: &[],
            client_id: "portico",
            trusted_audiences,
        }
    }

    #[test]
    fn the_audience_is_this_client_and_others_only_if_they_are_trusted() {
        let trusted = ["project".to_owned()];
        for (audience, trusted, holds) in [
            (json!("portico"), &[][..], true),
            (json!(["portico"]), &[], true),
            (json!(["portico", "project"]), &trusted, true),
            (json!(["portico", "project"]), &[], false),
            (json!(["portico", "project", "other"]), &trusted, false),
            (json!(["project"]), &trusted, false),
            (json!(["portico", 7]), &trusted, false),
            (json!([]), &trusted, false),
            (json!(null), &trusted, false),
        ] {
            let claims = json!({"iss": "https://id.example", "aud": audience});
            let checked = signed(&json!({}), &claims).check_origin(&terms(trusted));
            assert_eq!(checked.is_ok(), holds, "{audience} {trusted:?}");
        }
    }

    #[test]
    fn a_header_that_asks_for_more_or_for_less_than_a_signature_is_refused() {
        let algorithm = |header: Value| signed(&header, &json!({})).check_header().ok();
        let eddsa = Some(CoreJwsSigningAlgorithm::EdDsa);
        assert_eq!(algorithm(json!({"alg": "Ed25519"})), eddsa);
        assert_eq!(algorithm(json!({"alg": "EdDSA", "typ": "jwt", "x5c": 7})), eddsa);
        for header in [
            json!({}),
            json!({"alg": "none"}),
            json!({"alg": "HS256"}),
            json!({"alg": "ed25519"}),
            json!({"alg": 7}),
            json!({"alg": "RS256", "crit": ["exp"]}),
            json!({"alg": "RS256", "cty": "JWT"}),
            json!({"alg": "RS256", "typ": "at+jwt"}),
            json!({"alg": "RS256", "typ": 7}),
        ] {
            assert_eq!(algorithm(header.clone()), None, "{header}");
        }
    }

    #[test]
    fn a_secret_among_the_keys_signs_nothing() {
        let secret = CoreHmacKey::new("a secret");
        let token = signed(&json!({"alg": "HS256"}), &json!({}));
        let keys = [secret.as_verification_key()];
        assert!(matches!(token.check_signature(&keys), Err(Doubt::Content(_))));
    }

    #[test]
    fn a_claim_that_is_null_is_not_there() {
        let token = signed(&json!({}), &json!({"email": null, "groups": []}));
        assert_eq!(Value::Object(token.into_claims()), json!({"groups": []}));
    }

    #[test]
    fn what_is_no_token_is_not_read() {
        for text in [
            "",
            ".",
            "..",
            "a.b",
            "e30.e30",
            "e30.e30.e30.e30.e30",
            "W10.e30.AA",
            "e30.e30.=",
        ] {
            assert!(Signed::read(text).is_err(), "{text}");
        }
    }
}
