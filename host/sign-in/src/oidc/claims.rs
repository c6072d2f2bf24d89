//! Turns the claims of an issuer into a user's identity.

use std::borrow::Cow;

use portico_model::{Provider, error::Error};
use portico_service::external::{Admission, External, Groups, Linking, Vouched, unusable_account};
use serde_json::{Map, Value};
use tracing::warn;

use super::{
    claim_path::ClaimPath,
    settings::{EMAIL, OidcSettings},
};

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
    /// Why userinfo could not be fetched, if it was tried in vain.
    pub failure: Option<String>,
}

impl IdentityClaims {
    pub fn new(issuer: String, subject: String, token: Map<String, Value>) -> Self {
        Self {
            issuer,
            subject,
            token,
            userinfo: Map::new(),
            failure: None,
        }
    }

    /// The claim without which the sign-in cannot go on, if userinfo failed and may have had it. Without the email a
    /// person who is to be linked would become a second user.
    pub fn lacks(&self, settings: &OidcSettings) -> Option<String> {
        self.failure.as_ref()?;
        if let Err(missing) = settings.name_claim.fill(|claim| self.text(claim)) {
            return Some(missing.to_string());
        }
        if let Some(required) = &settings.required_claim
            && required.claim.find(&self.token).is_none()
        {
            return Some(required.claim.to_string());
        }
        let needed = [EMAIL, EMAIL_VERIFIED].into_iter();
        let mut needed = needed.filter(|_| settings.linking != Linking::Off);
        needed
            .find(|claim| !self.token.contains_key(*claim))
            .map(Into::into)
    }

    /// What a claim is, in the document that counts first.
    pub fn find(&self, claim: &ClaimPath) -> Option<Cow<'_, Value>> {
        claim.find(&self.token).or_else(|| claim.find(&self.userinfo))
    }

    fn text(&self, claim: &ClaimPath) -> Option<String> {
        let mut documents = [&self.token, &self.userinfo].into_iter();
        documents.find_map(|claims| filled(claim.find(claims)?.as_str()?))
    }

    /// The email, and whether it is verified; `None` if userinfo may have said that and could not be asked.
    fn email(&self, settings: &OidcSettings) -> (Option<String>, Option<bool>) {
        if settings.email_claim.is(EMAIL) {
            return self.stated_email();
        }
        let email = settings.email_claim.fill(|claim| self.text(claim)).ok();
        (email, Some(false))
    }

    /// The email, and whether the document that contains it says that it is verified.
    fn stated_email(&self) -> (Option<String>, Option<bool>) {
        let Some(email) = self.text(&ClaimPath::named(EMAIL)) else {
            return (None, Some(false));
        };
        let has_email = |claims: &&Map<String, Value>| text(claims, EMAIL).as_ref() == Some(&email);
        let documents = [&self.token, &self.userinfo];
        let verified = documents.iter().filter(|claims| has_email(claims));
        let verified = verified.filter_map(|claims| claims.get(EMAIL_VERIFIED));
        let is_stated = verified.clone().count() > 0;
        let is_verified = is_stated && verified.clone().all(is_true);
        (
            Some(email),
            (is_stated || self.failure.is_none()).then_some(is_verified),
        )
    }
}

/// Some issuers write booleans as text.
pub(super) fn is_true(value: &Value) -> bool {
    matches!(value, Value::Bool(true)) || value.as_str() == Some("true")
}

fn text(claims: &Map<String, Value>, claim: &str) -> Option<String> {
    filled(claims.get(claim)?.as_str()?)
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether an ID token lacks claims that userinfo may have.
pub(super) fn is_incomplete(token: &Map<String, Value>, settings: &OidcSettings) -> bool {
    let picture = ClaimPath::named(PICTURE);
    let mut used = settings
        .name_claim
        .claims()
        .chain(settings.email_claim.claims())
        .chain([&picture])
        .chain(&settings.groups_claim)
        .chain(settings.required_claim.as_ref().map(|required| &required.claim));
    used.any(|claim| claim.find(token).is_none())
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
    let name = settings.name_claim.fill(|claim| claims.text(claim));
    let name =
        name.map_err(|missing| unfit(&format!("there is no claim {missing} (the setting name-claim)")))?;
    // A URL contains no space, so the pair is unambiguous.
    let subject = format!("{} {}", claims.issuer, claims.subject);
    if subject.chars().count() > MAX_CHARS {
        return Err(unfit("issuer and subject are longer than 1,024 characters"));
    }
    let (email, verified) = claims.email(settings);
    Ok(External {
        identity: Vouched {
            provider: Provider::Oidc,
            subject,
            name,
            email,
            email_verified: verified.unwrap_or_default(),
            image: claims.text(&ClaimPath::named(PICTURE)),
        },
        groups: settings
            .groups_claim
            .as_ref()
            .map_or(Groups::Own, |claim| claims.groups(claim)),
        group_rules: settings.group_rules.clone(),
        linking: settings.linking,
        is_partial: claims.failure.is_some(),
        states_verification: verified.is_some(),
        admission: settings
            .required_claim
            .as_ref()
            .map_or(Admission::Granted, |required| claims.admission(required)),
        sign_up: settings.sign_up,
    })
}

#[cfg(test)]
mod tests {
    use portico_model::error::Code;
    use serde_json::json;

    use super::*;
    use crate::oidc::RequiredClaim;

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
            groups_claim: groups_claim.map(|claim| claim.parse().unwrap()),
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
        assert_eq!(external.groups, Groups::Own);
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
                claims.email(&settings(None)).1,
                Some(verified),
                "{:?} {:?}",
                claims.token,
                claims.userinfo
            );
        }
    }

    #[test]
    fn without_userinfo_it_is_not_known_whether_an_email_is_verified_unless_the_token_says_so() {
        for (token, stated) in [
            (json!({"email": "a@b"}), None),
            (json!({"email": "a@b", "email_verified": true}), Some(true)),
            (json!({"email": "a@b", "email_verified": false}), Some(false)),
            (json!({}), Some(false)),
        ] {
            let claims = IdentityClaims {
                failure: Some("userinfo: 500".into()),
                ..claims(token, json!({}))
            };
            assert_eq!(claims.email(&settings(None)).1, stated, "{:?}", claims.token);
        }
    }

    #[test]
    fn without_userinfo_a_sign_in_goes_on_if_it_needs_nothing_from_there() {
        let linking = OidcSettings {
            linking: Linking::Verified,
            ..settings(None)
        };
        let all = json!({"preferred_username": "ada", "email": "a@b", "email_verified": true});
        for (token, settings, lacks) in [
            (all.clone(), &linking, None),
            (json!({"preferred_username": "ada"}), &settings(None), None),
            (json!({"preferred_username": "ada"}), &linking, Some("email")),
            (
                json!({"preferred_username": "ada", "email": "a@b"}),
                &linking,
                Some("email_verified"),
            ),
            (
                json!({"email": "a@b"}),
                &settings(None),
                Some("preferred_username"),
            ),
        ] {
            let mut claims = claims(token.clone(), json!({}));
            assert_eq!(claims.lacks(settings), None, "userinfo did not fail");
            claims.failure = Some("userinfo: 500".into());
            assert_eq!(claims.lacks(settings).as_deref(), lacks, "{token}");
        }
        let mut partial = claims(all, json!({}));
        partial.failure = Some("userinfo: 500".into());
        let external = external(partial, &settings(Some("groups")), "r").ok().unwrap();
        assert!(external.is_partial && matches!(external.groups, Groups::Unknown(_)));
    }

    #[test]
    fn only_the_required_claim_itself_admits() {
        let required = RequiredClaim::parse("groups=portico users").unwrap();
        for (token, expected) in [
            (json!({"groups": ["a", "portico users"]}), "granted"),
            (json!({"groups": "portico users"}), "granted"),
            (json!({"groups": "portico users, a"}), "denied"),
            (json!({"groups": ["Portico Users"]}), "denied"),
            (json!({"groups": [" portico users"]}), "denied"),
            (json!({"groups": []}), "denied"),
            (json!({"groups": null}), "denied"),
            (json!({}), "denied"),
            (json!({"groups": true}), "denied"),
            (json!({"portico": true}), "denied"),
            (json!({"other": "portico users"}), "denied"),
            (json!({"groups": {"portico users": true}}), "unknown"),
            (json!({"groups": [{"name": "portico users"}]}), "unknown"),
            (json!({"groups": [["portico users"]]}), "unknown"),
            (json!({"_claim_names": {"groups": "src1"}}), "unknown"),
            (json!({"hasgroups": true}), "unknown"),
        ] {
            let admission = claims(token.clone(), json!({})).admission(&required);
            let found = match admission {
                Admission::Granted => "granted",
                Admission::Denied(_) => "denied",
                Admission::Unknown(_) => "unknown",
            };
            assert_eq!(found, expected, "{token}");
        }
        // The ID token counts before userinfo.
        let both = claims(json!({"groups": ["a"]}), json!({"groups": ["portico users"]}));
        assert!(matches!(both.admission(&required), Admission::Denied(_)));
        let boolean = RequiredClaim::parse("email_verified=true").unwrap();
        for (stated, is_granted) in [(json!(true), true), (json!("true"), true), (json!(false), false)] {
            let admission =
                claims(json!({"email_verified": stated, "hasgroups": true}), json!({})).admission(&boolean);
            assert_eq!(matches!(admission, Admission::Granted), is_granted, "{stated}");
            assert!(!matches!(admission, Admission::Unknown(_)), "{stated}");
        }
        let number = RequiredClaim::parse("level=3").unwrap();
        for (stated, is_granted) in [
            (json!(3), true),
            (json!([2, 3]), true),
            (json!("3"), true),
            (json!(4), false),
        ] {
            let admission = claims(json!({"level": stated}), json!({})).admission(&number);
            assert_eq!(matches!(admission, Admission::Granted), is_granted, "{stated}");
        }
        for wrong in ["", "groups", "groups=", "=a", " = "] {
            assert!(RequiredClaim::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn name_email_and_groups_come_from_where_the_settings_say() {
        let token = json!({
            "email": "ada@example.com", "email_verified": true, "upn": "ada@corp.example",
            "profile": {"given_name": "Ada", "family_name": "Lovelace"},
            "realm_access": {"roles": ["a"]}, "https://portico.example/roles": {"b": {}, "c": false},
            "_claim_names": {"resource_access": "src1"},
        });
        let of = |name: &str, email: &str, groups: &str| {
            let settings = OidcSettings {
                name_claim: name.parse().unwrap(),
                email_claim: email.parse().unwrap(),
                ..settings(Some(groups))
            };
            external(claims(token.clone(), json!({})), &settings, "r")
        };
        let stated = |names: &[&str]| Groups::Stated(names.iter().map(|name| (*name).into()).collect());
        let ada = of(
            "{profile.given_name} {profile.family_name}",
            "email",
            "realm_access.roles",
        );
        let ada = ada.ok().unwrap();
        assert_eq!(
            (&ada.identity.name[..], ada.identity.email_verified),
            ("Ada Lovelace", true)
        );
        assert_eq!(ada.groups, stated(&["a"]));
        // Only the claim `email` is what the issuer verifies.
        for (email, expected) in [
            ("upn", Some("ada@corp.example")),
            ("{email}", Some("ada@example.com")),
            ("{profile.given_name}@home.example", Some("Ada@home.example")),
            ("{missing}@home.example", None),
        ] {
            let ada = of("/profile/given_name", email, "https://portico.example/roles.*")
                .ok()
                .unwrap();
            assert_eq!(ada.identity.email.as_deref(), expected);
            assert!(!ada.identity.email_verified, "{email}");
            assert_eq!((&ada.identity.name[..], ada.groups), ("Ada", stated(&["b"])));
        }
        assert!(of("{profile.given_name} {profile.middle_name}", "email", "groups").is_err());
        let elsewhere = of("upn", "email", "/resource_access/my.client/roles")
            .ok()
            .unwrap();
        assert!(matches!(elsewhere.groups, Groups::Unknown(_)), "{elsewhere:?}");
        let object = of("upn", "email", "https://portico.example/roles").ok().unwrap();
        assert!(matches!(object.groups, Groups::Unknown(_)), "{object:?}");
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
