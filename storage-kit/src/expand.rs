//! Expands the placeholders of a case: `{}`, `{n}`, and members that begin with `$`.

use serde_json::{Map, Value, json};

/// Expands every placeholder in a value. `{}` stands for `marker`.
pub(crate) fn expand(value: &Value, marker: &str) -> Value {
    Expansion { marker, index: None }.value(value)
}

#[derive(Clone, Copy)]
struct Expansion<'a> {
    marker: &'a str,
    /// The number of this repetition, within `$repeat`.
    index: Option<u64>,
}

impl Expansion<'_> {
    fn value(self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().flat_map(|item| self.item(item)).collect(),
            Value::Object(members) => self.object(members),
            other => other.clone(),
        }
    }

    fn text(self, text: &str) -> String {
        let text = text.replace("{}", self.marker);
        match self.index {
            Some(index) => text.replace("{n}", &format!("{index:04}")),
            None => text,
        }
    }

    /// An item of a list. A `$repeat` expands to several.
    fn item(self, item: &Value) -> Vec<Value> {
        match (item.get("$repeat").and_then(Value::as_u64), item.get("of")) {
            (Some(times), Some(of)) => {
                let each = |index| {
                    let index = Some(index);
                    Expansion { index, ..self }.value(of)
                };
                (0..times).map(each).collect()
            }
            _ => vec![self.value(item)],
        }
    }

    fn object(self, members: &Map<String, Value>) -> Value {
        if let (Some(Value::String(text)), Some(times)) =
            (members.get("$text"), members.get("times").and_then(Value::as_u64))
        {
            return self.text(text).repeat(times as usize).into();
        }
        let each = members
            .iter()
            .map(|(name, value)| (name.clone(), self.value(value)));
        let members: Map<String, Value> = each.collect();
        let mut entries = members.iter();
        match (entries.next(), entries.next()) {
            (Some((name, Value::Object(given))), None) if name.starts_with('$') => record(name, given),
            _ => members.into(),
        }
    }
}

/// A record of the contract, with defaults for the members that are not given.
fn record(name: &str, given: &Map<String, Value>) -> Value {
    match name {
        "$new-user" => json!({
            "user": filled(name, given, user(), &["name-key", "color-scheme", "password-hash"]),
            "name-key": given.get("name-key").or_else(|| given.get("name")),
            "color-scheme": given.get("color-scheme").unwrap_or(&"auto".into()),
            "password-hash": given.get("password-hash"),
        }),
        "$user" => filled(name, given, user(), &[]),
        "$summary" => filled(
            name,
            given,
            json!({"id": null, "name": null, "email": null, "email-verified": null, "image": null}),
            &[],
        ),
        "$account" => filled(
            name,
            given,
            json!({"id": null, "name": null, "provider": "credentials", "password-hash": null}),
            &[],
        ),
        "$stored-app" => json!({
            "app": filled(name, given, app(), &["name-key"]),
            "name-key": given.get("name-key").or_else(|| given.get("name")),
        }),
        "$app" => filled(name, given, app(), &[]),
        other => panic!("{other} stands for nothing"),
    }
}

fn user() -> Value {
    json!({
        "id": null, "name": null, "email": null, "email-verified": null, "image": null,
        "provider": "credentials", "home-board-id": null, "mobile-home-board-id": null,
        "first-day-of-week": 1, "ping-icons-enabled": false, "default-search-engine-id": null,
        "open-search-in-new-tab": true,
    })
}

fn app() -> Value {
    json!({
        "id": null, "name": null, "description": null, "icon-url": "/icon.svg", "href": null, "ping-url": null,
    })
}

/// The defaults, overridden by the given members. Those in `elsewhere` belong to another record.
fn filled(name: &str, given: &Map<String, Value>, mut defaults: Value, elsewhere: &[&str]) -> Value {
    for (member, value) in given {
        match defaults.get_mut(member) {
            Some(default) => *default = value.clone(),
            None => assert!(
                elsewhere.contains(&&member[..]),
                "{name} has no `{member}`, in a case"
            ),
        }
    }
    defaults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_expand_as_the_readme_says() {
        let case =
            json!({"ids": ["{}-a", {"$repeat": 2, "of": "{}-{n}"}], "long": {"$text": "ab", "times": 3}});
        let expected = json!({"ids": ["m-a", "m-0000", "m-0001"], "long": "ababab"});
        assert_eq!(expand(&case, "m"), expected);
        let app = expand(&json!({"$stored-app": {"id": "{}", "name": "N"}}), "m");
        assert_eq!(app["app"]["id"], "m");
        assert_eq!(app["name-key"], "N");
        let user = expand(
            &json!({"$new-user": {"id": "u", "name": "N", "name-key": "n", "password-hash": "h"}}),
            "m",
        );
        assert_eq!(
            (&user["user"]["name"], &user["name-key"], &user["password-hash"]),
            (&json!("N"), &json!("n"), &json!("h"))
        );
    }
}
