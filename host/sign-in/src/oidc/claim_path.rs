//! Where a claim is: `groups`, `realm_access.roles`, `/resource_access/my.client/roles`.
//!
//! Invariants:
//! - A claim that has the whole text as its name goes before one that is reached step by step: so names with dots, such as
//!   URLs, are reached. A JSON pointer (RFC 6901) reaches every claim.
//! - A path leads through objects, and through each entry of a list. An entry in which the next step is missing is not left
//!   out: it becomes one that is not a text, so that a part of a list does not count as all of it.
//! - A path that ends at a text, a number or a boolean before its last step finds nothing, but the claim is not absent either
//!   ([`ClaimPath::is_cut_off`]).

use std::{borrow::Cow, fmt, str::FromStr};

use anyhow::{bail, ensure};
use serde_json::{Map, Value};

/// The most characters and steps of a path.
const MAX_CHARS: usize = 255;
const MAX_STEPS: usize = 16;

/// The last step of a path that means the names of what an object has.
const NAMES: &str = "*";

/// The place of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPath {
    text: String,
    /// The name of a claim that goes before the steps; `None` for a pointer.
    whole: Option<String>,
    steps: Vec<String>,
    takes_names: bool,
}

impl FromStr for ClaimPath {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        ensure!(
            (1..=MAX_CHARS).contains(&text.chars().count()) && !text.contains(char::is_control),
            "{text:?} must be the name of a claim or a path to it, of at most {MAX_CHARS} characters"
        );
        let pointer = text.strip_prefix('/');
        let separator = if pointer.is_some() { '/' } else { '.' };
        let path = pointer.unwrap_or(text);
        let (path, takes_names) = match path.rsplit_once(separator) {
            Some((path, NAMES)) => (path, true),
            _ => (path, false),
        };
        let steps: Vec<String> = match pointer {
            Some(_) => path.split('/').map(unescaped).collect::<anyhow::Result<_>>()?,
            None => path.split('.').map(Into::into).collect(),
        };
        ensure!(
            steps.len() <= MAX_STEPS,
            "{text:?} has more than {MAX_STEPS} steps"
        );
        Ok(Self {
            whole: pointer.is_none().then(|| path.to_owned()),
            text: text.to_owned(),
            steps,
            takes_names,
        })
    }
}

/// A step of a JSON pointer.
fn unescaped(step: &str) -> anyhow::Result<String> {
    if step.replace("~0", "").replace("~1", "").contains('~') {
        bail!("{step:?} is not a step of a JSON pointer: ~ is written ~0, and / is written ~1");
    }
    Ok(step.replace("~1", "/").replace("~0", "~"))
}

impl ClaimPath {
    /// The claim of this name, which has no dots.
    pub(super) fn named(name: &str) -> Self {
        Self {
            text: name.into(),
            whole: Some(name.into()),
            steps: Vec::new(),
            takes_names: false,
        }
    }

    /// What is there.
    pub fn find<'c>(&self, claims: &'c Map<String, Value>) -> Option<Cow<'c, Value>> {
        let whole = self.whole.as_ref().and_then(|name| claims.get(name));
        let found = match whole {
            Some(found) => Cow::Borrowed(found),
            None => {
                let (first, further) = self.steps.split_first()?;
                walk(claims.get(first)?, further)?
            }
        };
        Some(if self.takes_names { names_in(found) } else { found })
    }

    /// Whether something that has nothing inside it stands on the way, so that nothing is known of what would be there.
    pub fn is_cut_off(&self, claims: &Map<String, Value>) -> bool {
        let is_whole = self.whole.as_ref().is_some_and(|name| claims.contains_key(name));
        let Some((first, further)) = self.steps.split_first().filter(|_| !is_whole) else {
            return false;
        };
        let mut value = claims.get(first);
        for step in further {
            match value {
                Some(Value::Object(members)) => value = members.get(step),
                Some(Value::String(_) | Value::Number(_) | Value::Bool(_)) => return true,
                // What an entry of a list lacks is an entry that is not a text.
                None | Some(Value::Null | Value::Array(_)) => return false,
            }
        }
        false
    }

    /// Whether this is the claim of that name.
    pub fn is(&self, name: &str) -> bool {
        self.text == name
    }

    /// Whether this is the claim of that name, or inside it.
    pub fn begins_at(&self, name: &str) -> bool {
        self.whole.as_deref() == Some(name) || self.steps.first().is_some_and(|step| step == name)
    }
}

impl fmt::Display for ClaimPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn walk<'c>(value: &'c Value, steps: &[String]) -> Option<Cow<'c, Value>> {
    let Some((step, further)) = steps.split_first() else {
        return Some(Cow::Borrowed(value));
    };
    match value {
        Value::Object(members) => walk(members.get(step)?, further),
        Value::Array(entries) => {
            let mut found = Vec::new();
            for entry in entries {
                match walk(entry, steps).map(Cow::into_owned) {
                    Some(Value::Array(inner)) => found.extend(inner),
                    Some(other) => found.push(other),
                    None => found.push(Value::Object(Map::new())),
                }
            }
            Some(Cow::Owned(Value::Array(found)))
        }
        _ => None,
    }
}

/// The names of what an object has, except what it says is not so; anything else as it is.
fn names_in(value: Cow<'_, Value>) -> Cow<'_, Value> {
    let Value::Object(members) = &*value else {
        return value;
    };
    let has = |member: &Value| !matches!(member, Value::Null | Value::Bool(false));
    let names = members.iter().filter(|(_, member)| has(member));
    Cow::Owned(names.map(|(name, _)| Value::from(name.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str, claims: &Value) -> Option<Value> {
        let path: ClaimPath = path.parse().unwrap();
        path.find(claims.as_object().unwrap()).map(Cow::into_owned)
    }

    #[test]
    fn every_claim_is_reached_whatever_its_name_has() {
        let claims = json!({
            "groups": ["a"],
            "realm_access": {"roles": ["b"]},
            "https://portico.example/roles": ["c"],
            "a.b": "whole", "a": {"b": "step by step", "": "odd"},
            "resource_access": {"my.client": {"roles": ["d"]}, "other/client~": {"roles": ["e"]}},
            "urn:zitadel:iam:org:project:roles": {"admin": {"1": "home.example"}, "guest": {}, "no": false, "gone": null},
            "memberships": [{"group": {"name": "f"}}, {"group": {"name": "g"}}],
            "nested": [[{"name": "h"}], {"name": ["i", "j"]}],
            "text": "k",
        });
        for (path, expected) in [
            ("groups", Some(json!(["a"]))),
            (" groups ", Some(json!(["a"]))),
            ("/groups", Some(json!(["a"]))),
            ("realm_access.roles", Some(json!(["b"]))),
            ("/realm_access/roles", Some(json!(["b"]))),
            ("https://portico.example/roles", Some(json!(["c"]))),
            ("/https:~1~1portico.example~1roles", Some(json!(["c"]))),
            ("a.b", Some(json!("whole"))),
            ("/a/b", Some(json!("step by step"))),
            ("/a.b", Some(json!("whole"))),
            ("a.", Some(json!("odd"))),
            ("/resource_access/my.client/roles", Some(json!(["d"]))),
            ("/resource_access/other~1client~0/roles", Some(json!(["e"]))),
            ("resource_access.my.client.roles", None),
            (
                "urn:zitadel:iam:org:project:roles.*",
                Some(json!(["admin", "guest"])),
            ),
            (
                "/urn:zitadel:iam:org:project:roles/*",
                Some(json!(["admin", "guest"])),
            ),
            ("groups.*", Some(json!(["a"]))),
            ("text.*", Some(json!("k"))),
            ("memberships.group.name", Some(json!(["f", "g"]))),
            ("nested.name", Some(json!(["h", "i", "j"]))),
            ("missing", None),
            ("realm_access.missing", None),
            ("text.further", None),
            ("groups.name", Some(json!([{}]))),
            ("memberships.group.id", Some(json!([{}, {}]))),
            ("*", None),
        ] {
            assert_eq!(found(path, &claims), expected, "{path}");
        }
    }

    #[test]
    fn a_path_into_what_has_nothing_inside_is_cut_off_and_not_absent() {
        let claims = json!({
            "text": "k", "empty": "", "number": 7, "flag": false, "null": null,
            "object": {"text": "k", "null": null}, "list": ["k"], "text.whole": "k",
        });
        let is_cut_off = |path: &str| {
            let path: ClaimPath = path.parse().unwrap();
            path.is_cut_off(claims.as_object().unwrap())
        };
        for path in [
            "text.a",
            "/text/a",
            "empty.a",
            "number.a.b",
            "flag.a",
            "text.a.*",
            "object.text.a",
        ] {
            assert!(is_cut_off(path), "{path}");
        }
        for path in [
            "text",
            "text.*",
            "text.whole",
            "missing",
            "missing.a",
            "null.a",
            "object.a",
            "object.a.b",
            "object.null.a",
            "list.a",
            "list.a.b",
        ] {
            assert!(!is_cut_off(path), "{path}");
        }
    }

    #[test]
    fn a_path_is_short_and_written_correctly() {
        for wrong in [
            "",
            "  ",
            "a\nb",
            "/a~",
            "/a~2b",
            &"x".repeat(256),
            &"a.".repeat(20),
        ] {
            assert!(wrong.parse::<ClaimPath>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn deep_lists_end() {
        let text = format!("{}{}", "[".repeat(120), "]".repeat(120));
        let claims = json!({"a": serde_json::from_str::<Value>(&text).unwrap()});
        assert_eq!(found("a.b.c", &claims), Some(json!([])));
    }

    #[test]
    fn what_a_path_begins_at_is_known() {
        let begins = |path: &str, name: &str| path.parse::<ClaimPath>().unwrap().begins_at(name);
        assert!(begins("groups", "groups") && begins("/groups", "groups"));
        assert!(begins("groups.*", "groups") && begins("groups.name", "groups"));
        assert!(begins("https://a.example/groups", "https://a.example/groups"));
        assert!(!begins("roles", "groups"));
    }
}
