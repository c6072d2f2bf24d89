//! Checks what an issuer signs: ID tokens, and userinfo if it is signed.
//!
//! Invariants:
//! - No claim is used before the library has checked the signature, with a key of the issuer, over the bytes
//!   that the issuer sent.
//! - A token is valid if `iss`, `aud`, `azp`, `sub`, `exp`, `nonce` and `at_hash` are valid. These must have the types
//!   of the standard; every other claim may have any type.
//!
//! The library's own type for ID tokens is not used: it refuses a token if a claim that Portico does not use has an
//! unexpected type.

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

/// The algorithms with which a token may be signed.
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

/// How far the clocks of the issuer and of this machine may be apart, in seconds.
const CLOCK_TOLERANCE: f64 = 60.0;

/// The accepted values of `typ`, if present, in any case.
const TYPES: [&str; 4] = ["JWT", "JOSE", "application/jwt", "application/jose"];

/// The name of `EdDSA` with the curve Ed25519 (RFC 9864), which the library does not know.
pub(super) const ED25519: &str = "Ed25519";
pub(super) const EDDSA: &str = "EdDSA";

const BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// Which tokens are accepted.
pub(super) struct TokenPolicy<'a> {
    pub issuer: &'a str,
    pub keys: &'a [CoreJsonWebKey],
    pub client_id: &'a str,
    /// Other audiences that a token may have.
    pub trusted_audiences: &'a [String],
}

/// Why a token is invalid.
#[derive(Debug)]
pub(super) enum TokenError {
    /// None of the known keys of the issuer signed it.
    Key(String),
    /// A claim or the header is wrong.
    Content(String),
}

impl fmt::Display for TokenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Key(why) | Self::Content(why)) = self;
        formatter.write_str(why)
    }
}

fn content(why: impl Into<String>) -> TokenError {
    TokenError::Content(why.into())
}

/// A signed document (JWS in compact form).
pub(super) struct Signed {
    header: Map<String, Value>,
    claims: Map<String, Value>,
    /// Header and claims as they were sent: the signed bytes.
    bytes: String,
    signature: Vec<u8>,
}

impl Signed {
    /// Parses a document. Checks nothing yet.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        // The text of the parser's error may contain part of the token.
        let bytes = |part: &str| BASE64.decode(part).ok();
        let object = |part| serde_json::from_slice(&bytes(part)?).ok();
        let (signed, signature) = text.rsplit_once('.').context("it is not a JWT")?;
        let (header, claims) = signed.split_once('.').context("it is not a JWT")?;
        let claims = object(claims).context("its claims are encrypted, or not a JSON object")?;
        Ok(Self {
            header: object(header).context("its header is not a JSON object")?,
            claims: without_nulls(claims),
            bytes: signed.to_owned(),
            signature: bytes(signature).context("its signature is not in base64url")?,
        })
    }

    /// The claims. Call this only after a check.
    pub fn into_claims(self) -> Map<String, Value> {
        self.claims
    }

    /// Checks an ID token that came with this access token, and returns its subject.
    pub fn check_id_token(
        &self,
        policy: &TokenPolicy<'_>,
        nonce: &str,
        access_token: &AccessToken,
        now: SystemTime,
    ) -> Result<String, TokenError> {
        let (key, algorithm) = self.check_signature(policy.keys)?;
        self.check_origin(policy)?;
        if let Some(party) = self.claim("azp")
            && party.as_str() != Some(policy.client_id)
        {
            return Err(content(format!("azp is {}, another client", quoted(party))));
        }
        self.check_expiry(now)?;
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
        // All users without a subject would be the same user.
        let subject = self.text("sub").filter(|subject| !subject.trim().is_empty());
        Ok(subject.ok_or_else(|| content("it has no sub"))?.to_owned())
    }

    fn check_expiry(&self, now: SystemTime) -> Result<(), TokenError> {
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let expires = self.claim("exp").and_then(Value::as_f64);
        let late = since_1970.as_secs_f64() - expires.ok_or_else(|| content("it has no exp"))?;
        if late < CLOCK_TOLERANCE {
            return Ok(());
        }
        Err(content(format!(
            "it expired {late:.0} seconds ago: are the clocks of this machine and of the issuer right?"
        )))
    }

    /// Checks a response of userinfo.
    pub fn check_userinfo(&self, policy: &TokenPolicy<'_>) -> Result<(), TokenError> {
        self.check_signature(policy.keys)?;
        self.check_origin(policy)
    }

    /// Returns the key that signed the document.
    fn check_signature<'k>(
        &self,
        keys: &'k [CoreJsonWebKey],
    ) -> Result<(&'k CoreJsonWebKey, CoreJwsSigningAlgorithm), TokenError> {
        let algorithm = self.check_header()?;
        let id = self.header.get("kid").and_then(Value::as_str);
        let matches_id = |key: &&CoreJsonWebKey| {
            id.is_none_or(|id| key.key_id().is_some_and(|found| found.as_str() == id))
        };
        let mut reason = "the issuer publishes no key with this kid".to_owned();
        for key in keys.iter().filter(matches_id) {
            match key.verify_signature(&algorithm, self.bytes.as_bytes(), &self.signature) {
                Ok(()) => return Ok((key, algorithm)),
                Err(error) => reason = format!("its signature is not that of the issuer's key: {error}"),
            }
        }
        Err(TokenError::Key(reason))
    }

    fn check_header(&self) -> Result<CoreJwsSigningAlgorithm, TokenError> {
        let part = |name| self.header.get(name).filter(|value| !value.is_null());
        // No critical extension is supported, and nested tokens are not.
        for name in ["crit", "cty"] {
            if part(name).is_some() {
                return Err(content(format!("its header has {name}")));
            }
        }
        let is_known = |found: &str| TYPES.iter().any(|known| known.eq_ignore_ascii_case(found));
        if let Some(found) = part("typ")
            && !found.as_str().is_some_and(is_known)
        {
            return Err(content(format!("its typ is {}", quoted(found))));
        }
        let name = part("alg").unwrap_or(&Value::Null);
        let known = match name.as_str() {
            Some(ED25519) => EDDSA.into(),
            _ => name.clone(),
        };
        let algorithm = serde_json::from_value(known).ok();
        let algorithm = algorithm.filter(|algorithm| ALGORITHMS.contains(algorithm));
        algorithm.ok_or_else(|| content(format!("signature algorithm {} is not accepted", quoted(name))))
    }

    /// Checks issuer and audience.
    fn check_origin(&self, policy: &TokenPolicy<'_>) -> Result<(), TokenError> {
        if self.text("iss") != Some(policy.issuer) {
            let found = self.claim("iss").unwrap_or(&Value::Null);
            return Err(content(format!("iss is {}, another issuer", quoted(found))));
        }
        let audience = match self.claim("aud") {
            Some(Value::Array(audience)) => audience.as_slice(),
            Some(audience) => std::slice::from_ref(audience),
            None => &[],
        };
        let is_us = |one: &Value| one.as_str() == Some(policy.client_id);
        if !audience.iter().any(is_us) {
            return Err(content("oidc-client-id is not in aud"));
        }
        let is_trusted = |one: &Value| {
            let mut trusted = policy.trusted_audiences.iter();
            is_us(one) || trusted.any(|trusted| one.as_str() == Some(trusted))
        };
        match audience.iter().find(|one| !is_trusted(one)) {
            None => Ok(()),
            Some(other) => Err(content(format!(
                "aud has {}, which is not in oidc-trusted-audiences",
                quoted(other)
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

/// Removes claims that are null, which some issuers write for missing ones.
pub(super) fn without_nulls(mut claims: Map<String, Value>) -> Map<String, Value> {
    claims.retain(|_, value| !value.is_null());
    claims
}

/// Quotes a value for the log.
fn quoted(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use openidconnect::{PrivateSigningKey as _, core::CoreHmacKey};
    use serde_json::json;

    use super::*;

    /// A token with this header, these claims and an invalid signature.
    fn signed(header: &Value, claims: &Value) -> Signed {
        let part = |value: &Value| BASE64.encode(value.to_string());
        Signed::read(&format!("{}.{}.AAAA", part(header), part(claims))).unwrap()
    }

    fn policy(trusted_audiences: &[String]) -> TokenPolicy<'_> {
        TokenPolicy {
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
            let checked = signed(&json!({}), &claims).check_origin(&policy(trusted));
            assert_eq!(checked.is_ok(), holds, "{audience} {trusted:?}");
        }
    }

    #[test]
    fn a_token_is_accepted_for_a_minute_after_it_has_expired() {
        let expired = |claims: Value, seconds: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            let checked = signed(&json!({}), &claims).check_expiry(now);
            checked.map_err(|error| error.to_string())
        };
        for (exp, now, late) in [
            (json!(1000), 999, None),
            (json!(1000), 1059, None),
            (json!(1000.5), 1060, None),
            (json!(1000), 1060, Some("60 seconds ago")),
            (json!(1000), 4600, Some("3600 seconds ago")),
            (json!(-1e308), 1000, Some("seconds ago")),
            (json!("1000"), 999, Some("no exp")),
        ] {
            match (expired(json!({ "exp": exp }), now), late) {
                (Ok(()), None) => {}
                (Err(error), Some(late)) => assert!(error.contains(late), "{exp}: {error}"),
                other => panic!("{exp} {now}: {other:?}"),
            }
        }
        let error = expired(json!({"exp": 0}), 100).unwrap_err();
        assert!(error.contains("clocks"), "{error}");
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
    fn a_shared_secret_among_the_keys_is_not_accepted() {
        let secret = CoreHmacKey::new("a secret");
        let token = signed(&json!({"alg": "HS256"}), &json!({}));
        let keys = [secret.as_verification_key()];
        assert!(matches!(
            token.check_signature(&keys),
            Err(TokenError::Content(_))
        ));
    }

    #[test]
    fn a_null_claim_counts_as_missing() {
        let token = signed(&json!({}), &json!({"email": null, "groups": []}));
        assert_eq!(Value::Object(token.into_claims()), json!({"groups": []}));
    }

    #[test]
    fn malformed_tokens_are_refused() {
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
