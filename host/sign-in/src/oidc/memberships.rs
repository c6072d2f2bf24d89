//! What claims say of a user's groups, and of whether they may sign in.
//!
//! Invariant: only an absent or an empty claim means that there is nothing. What is not understood is not known.

use portico_service::external::{Admission, Groups};
use serde_json::Value;

use super::{
    claim_path::ClaimPath,
    claims::{IdentityClaims, is_true},
    settings::RequiredClaim,
};

impl IdentityClaims {
    /// The groups. An absent or empty claim means none, because issuers leave an empty one out. Anything else that is not
    /// names says nothing of the groups.
    pub fn groups(&self, claim: &ClaimPath) -> Groups {
        let unknown = |why: String| Groups::Unknown(format!("the claim {claim} {why}"));
        let stated = self.find(claim);
        let names = match stated.as_deref() {
            None if self.is_cut_off(claim) => {
                return unknown("leads into something that has nothing inside it".into());
            }
            None => Vec::new(),
            Some(value) => match names(value) {
                Ok(names) => names,
                Err(why) => return unknown(why.into()),
            },
        };
        if names.is_empty() {
            // Entra leaves out the groups of people who have many.
            if let Some(marker) = self.overage(claim) {
                return unknown(format!(
                    "is left out: there are too many groups for it ({marker})"
                ));
            }
            if stated.is_none()
                && let Some(failure) = &self.failure
            {
                return unknown(format!("is not in the ID token, and {failure}"));
            }
        }
        Groups::Stated(names)
    }

    /// Whether the person has the required claim.
    pub fn admission(&self, required: &RequiredClaim) -> Admission {
        let RequiredClaim { claim: name, value } = required;
        let is_it = |stated: &Value| match stated {
            Value::Bool(_) | Value::Number(_) => {
                let written = stated.to_string();
                written == *value
            }
            stated => stated.as_str() == Some(value),
        };
        let lacks = || {
            Admission::Denied(format!(
                "the claim {name} is not {value:?}, and does not contain it"
            ))
        };
        match self.find(name).as_deref() {
            Some(Value::Array(entries)) if entries.iter().any(is_it) => Admission::Granted,
            Some(stated) if is_it(stated) => Admission::Granted,
            Some(Value::Object(_)) => Admission::Unknown(format!("the claim {name} is an object")),
            Some(Value::Array(entries))
                if entries.iter().any(|entry| entry.is_object() || entry.is_array()) =>
            {
                Admission::Unknown(format!("the claim {name} has entries that are not texts"))
            }
            None if self.is_cut_off(name) => Admission::Unknown(format!(
                "the claim {name} leads into something that has nothing inside it"
            )),
            _ if self.overage(name).is_some() => {
                Admission::Unknown(format!("the claim {name} is left out: there are too many groups"))
            }
            _ => lacks(),
        }
    }

    /// The claim that says that the groups are somewhere else.
    fn overage(&self, claim: &ClaimPath) -> Option<&'static str> {
        let mut documents = [&self.token, &self.userinfo].into_iter();
        documents.find_map(|claims| {
            let sources = claims.get("_claim_names").and_then(Value::as_object);
            let is_elsewhere =
                sources.is_some_and(|sources| sources.keys().any(|name| claim.begins_at(name)));
            // It speaks of the claim `groups` alone: Entra leaves no roles out.
            let has_groups = claim.begins_at("groups") && claims.get("hasgroups").is_some_and(is_true);
            match (is_elsewhere, has_groups) {
                (true, _) => Some("_claim_names"),
                (_, true) => Some("hasgroups"),
                _ => None,
            }
        })
    }

    /// Whether a claim cannot be read where it would be, although it is not absent.
    fn is_cut_off(&self, claim: &ClaimPath) -> bool {
        let mut documents = [&self.token, &self.userinfo].into_iter();
        documents.any(|claims| claim.is_cut_off(claims))
    }
}

/// The names in a claim, or why they are not known.
fn names(value: &Value) -> Result<Vec<String>, &'static str> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(name) => Ok([name.clone()]
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect()),
        Value::Object(members) if members.is_empty() => Ok(Vec::new()),
        Value::Object(_) => Err("is an object, not a list of names"),
        Value::Array(entries) => {
            let entries = entries.iter().filter(|entry| !entry.is_null());
            let names = entries.map(|entry| entry.as_str().map(ToOwned::to_owned));
            names
                .collect::<Option<_>>()
                .ok_or("has entries that are not names")
        }
        Value::Bool(_) | Value::Number(_) => Err("is not a list of names"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn claims(token: Value, userinfo: Value) -> IdentityClaims {
        let object = |value: Value| -> Map<String, Value> { value.as_object().cloned().unwrap() };
        let mut claims = IdentityClaims::new("https://issuer.example".into(), "7".into(), object(token));
        claims.userinfo = object(userinfo);
        claims
    }

    #[test]
    fn a_path_that_leads_into_a_text_says_nothing_of_the_groups() {
        let roles: ClaimPath = "realm_access.roles".parse().unwrap();
        for (token, userinfo, is_known) in [
            (json!({"realm_access": "admin"}), json!({}), false),
            (json!({}), json!({"realm_access": 7}), false),
            (
                json!({"realm_access": "admin"}),
                json!({"realm_access": {"roles": []}}),
                true,
            ),
            (json!({"realm_access": {}}), json!({}), true),
            (json!({"realm_access": null}), json!({}), true),
        ] {
            let claims = claims(token, userinfo);
            let groups = claims.groups(&roles);
            assert_eq!(matches!(groups, Groups::Stated(_)), is_known, "{groups:?}");
            let required = RequiredClaim {
                claim: roles.clone(),
                value: "admin".into(),
            };
            let is_denied = matches!(claims.admission(&required), Admission::Denied(_));
            assert_eq!(is_denied, is_known, "{:?}", claims.token);
        }
    }

    #[test]
    fn only_an_absent_or_an_empty_claim_means_no_groups() {
        let elsewhere = json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {}}});
        for (token, names) in [
            (json!({"groups": ["a", "b", null]}), Some(vec!["a", "b"])),
            (json!({"groups": "a"}), Some(vec!["a"])),
            (json!({}), Some(vec![])),
            (json!({"groups": []}), Some(vec![])),
            (json!({"groups": ""}), Some(vec![])),
            (json!({"groups": {}}), Some(vec![])),
            (json!({"groups": [null]}), Some(vec![])),
            (json!({"_claim_names": {"other": "src1"}}), Some(vec![])),
            (json!({"hasgroups": false}), Some(vec![])),
            (json!({"groups": {"admin": {"1": "home.example"}}}), None),
            (json!({"groups": [{"name": "a"}]}), None),
            (json!({"groups": ["a", {"name": "b"}]}), None),
            (json!({"groups": ["a", ["b"]]}), None),
            (json!({"groups": ["a", 7]}), None),
            (json!({"groups": 7}), None),
            (json!({"groups": true}), None),
            (json!({"hasgroups": true}), None),
            (json!({"hasgroups": "true", "groups": []}), None),
            (elsewhere, None),
        ] {
            let groups = claims(token.clone(), json!({})).groups(&ClaimPath::named("groups"));
            match (&groups, names) {
                (Groups::Stated(stated), Some(names)) => assert_eq!(*stated, names, "{token}"),
                (Groups::Unknown(why), None) => assert!(why.contains("the claim groups"), "{why}"),
                other => panic!("{token}: {other:?}"),
            }
        }
        let groups = claims(json!({"hasgroups": true}), json!({"groups": ["a"]}));
        let groups = groups.groups(&ClaimPath::named("groups"));
        assert_eq!(groups, Groups::Stated(vec!["a".into()]), "userinfo states them");
    }
}
