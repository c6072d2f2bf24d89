//! Turns the claims of an issuer into a user's identity.

use portico_model::{Provider, error::Error};
use portico_service::external::{External, Vouched, unusable_account};
use serde_json::{Map, Value};
use tracing::warn;

use super::settings::OidcSettings;

const EMAIL: &str = "email";
const EMAIL_VERIFIED: &str = "email_verified";
const PICTURE: &str = "picture";

/// The longest issuer and subject together, in characters, as the contract says.
const MAX_CHARS: usize = 1024;

/// The claims of a checked ID token, and of userinfo if it was fetched.
pub(super) struct IdentityClaims {
    issuer: String,
    pub subject: String,
    pub token: Map<String, Value>,
    pub userinfo: Map<String, Value>,
}

impl IdentityClaims {
    pub fn new(issuer: String, subject: String, token: Map<String, Value>) -> Self {
        Self {
            issuer,
            subject,
            token,
            userinfo: Map::new(),
        }
    }

    fn text(&self, claim: &str) -> Option<String> {
        text(&self.token, claim).or_else(|| text(&self.userinfo, claim))
    }

    /// The email, and whether the document that contains it says that it is verified.
    fn email(&self) -> (Option<String>, bool) {
        let Some(email) = self.text(EMAIL) else {
            return (None, false);
        };
        let has_email = |claims: &&Map<String, Value>| text(claims, EMAIL).as_ref() == Some(&email);
        let documents = [&self.token, &self.userinfo];
        let verified = documents.iter().filter(|claims| has_email(claims));
        let verified = verified.filter_map(|claims| claims.get(EMAIL_VERIFIED));
        let is_verified = verified.clone().count() > 0 && verified.clone().all(is_true);
        (Some(email), is_verified)
    }

    /// The names of the groups. A missing claim means none, because issuers leave an empty one out.
    fn groups(&self, claim: &str) -> Vec<String> {
        let value = self.token.get(claim).or_else(|| self.userinfo.get(claim));
        match value {
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.map(ToOwned::to_owned).collect()
            }
            Some(Value::String(name)) => vec![name.clone()],
            _ => Vec::new(),
        }
    }
}

/// Some issuers write booleans as text.
fn is_true(value: &Value) -> bool {
    matches!(value, Value::Bool(true)) || value.as_str() == Some("true")
}

fn text(claims: &Map<String, Value>, claim: &str) -> Option<String> {
    let text = claims.get(claim)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether an ID token lacks claims that userinfo may have.
pub(super) fn is_incomplete(token: &Map<String, Value>, settings: &OidcSettings) -> bool {
    let groups = settings.groups_claim.as_deref();
    let used = [&settings.name_claim[..], EMAIL, PICTURE]
        .into_iter()
        .chain(groups);
    used.into_iter().any(|claim| !token.contains_key(claim))
}

/// The user that the issuer vouches for.
pub(super) fn external(
    claims: IdentityClaims,
    settings: &OidcSettings,
    request_id: &str,
) -> Result<External, Error> {
    let unfit = |why: &str| {
        warn!(
            request = request_id,
            "an OpenID Connect user cannot sign in: {why}"
        );
        unusable_account()
    };
    let claim = &settings.name_claim;
    let name = claims.text(claim);
    let name = name.ok_or_else(|| unfit(&format!("there is no claim {claim} (the setting name-claim)")))?;
    // A URL contains no space, so the pair is unambiguous.
    let subject = format!("{} {}", claims.issuer, claims.subject);
    if subject.chars().count() > MAX_CHARS {
        return Err(unfit("issuer and subject are longer than 1,024 characters"));
    }
    let (email, email_verified) = claims.email();
    Ok(External {
        identity: Vouched {
            provider: Provider::Oidc,
            subject,
            name,
            email,
            email_verified,
            image: claims.text(PICTURE),
        },
        groups: settings.groups_claim.as_deref().map(|claim| claims.groups(claim)),
        linking: settings.linking,
    })
}

#[cfg(test)]
mod tests {
    use portico_model::error::Code;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn claims(token: Value, userinfo: Value) -> IdentityClaims {
        IdentityClaims {
            userinfo: object(userinfo),
            ..IdentityClaims::new(
                "https://issuer.example".into(),
                text(&object(token.clone()), "sub").unwrap_or_default(),
                object(token),
            )
        }
    }

    fn settings(groups_claim: Option<&str>) -> OidcSettings {
        OidcSettings {
            groups_claim: groups_claim.map(Into::into),
            ..OidcSettings::default()
        }
    }

    #[test]
    fn claims_that_the_token_lacks_come_from_userinfo() {
        let token = json!({"sub": "7", "preferred_username": "ada", "email": ""});
        let userinfo =
            json!({"preferred_username": "eve", "email": "a@b", "email_verified": true, "picture": "p"});
        let external = external(claims(token, userinfo), &settings(None), "r")
            .ok()
            .unwrap();
        let identity = external.identity;
        assert_eq!(
            (&identity.name[..], identity.email.as_deref()),
            ("ada", Some("a@b"))
        );
        assert_eq!(
            (identity.email_verified, identity.image.as_deref()),
            (true, Some("p"))
        );
        assert_eq!(identity.subject, "https://issuer.example 7");
        assert!(external.groups.is_none());
    }

    #[test]
    fn an_email_is_verified_only_by_a_document_that_contains_it() {
        for (token, userinfo, verified) in [
            (json!({"email": "a@b", "email_verified": true}), json!({}), true),
            (
                json!({"email": "a@b"}),
                json!({"email": "a@b", "email_verified": true}),
                true,
            ),
            (
                json!({"email": "a@b"}),
                json!({"email": "x@y", "email_verified": true}),
                false,
            ),
            (json!({"email": "a@b"}), json!({"email_verified": true}), false),
            (
                json!({"email": "a@b", "email_verified": false}),
                json!({"email": "a@b", "email_verified": true}),
                false,
            ),
            (json!({"email_verified": true}), json!({"email": "x@y"}), false),
            (json!({"email": "a@b", "email_verified": "true"}), json!({}), true),
            (json!({"email": "a@b", "email_verified": "yes"}), json!({}), false),
            (json!({"email": "a@b"}), json!({}), false),
        ] {
            let claims = claims(token, userinfo);
            assert_eq!(
                claims.email().1,
                verified,
                "{:?} {:?}",
                claims.token,
                claims.userinfo
            );
        }
    }

    #[test]
    fn groups_are_texts_and_a_missing_claim_means_none() {
        for (token, names) in [
            (json!({"groups": ["a", 1, "b", null]}), vec!["a", "b"]),
            (json!({"groups": "a"}), vec!["a"]),
            (json!({"groups": {"a": true}}), vec![]),
            (json!({}), vec![]),
        ] {
            assert_eq!(claims(token, json!({})).groups("groups"), names);
        }
        let claims = claims(json!({"preferred_username": "ada"}), json!({"groups": ["a"]}));
        let external = external(claims, &settings(Some("groups")), "r").ok().unwrap();
        assert_eq!(external.groups, Some(vec!["a".to_owned()]));
    }

    #[test]
    fn a_missing_name_or_an_overlong_subject_is_refused() {
        let nameless = claims(json!({"sub": "7", "preferred_username": 7}), json!({}));
        let overlong = claims(
            json!({"sub": "7".repeat(1003), "preferred_username": "ada"}),
            json!({}),
        );
        for claims in [nameless, overlong] {
            let error = external(claims, &settings(None), "r").unwrap_err();
            assert_eq!(error.code, Code::Forbidden);
        }
    }

    #[test]
    fn a_token_without_a_used_claim_is_incomplete() {
        let all = json!({"preferred_username": "ada", "email": "a@b", "picture": "p"});
        assert!(!is_incomplete(&object(all.clone()), &settings(None)));
        assert!(is_incomplete(&object(all), &settings(Some("groups"))));
        assert!(is_incomplete(&object(json!({"email": "a@b"})), &settings(None)));
    }
}
