//! Expands the placeholders of a case: `{}`, `{n}`, `{#label}`, `{#label spelling}`, and members that begin with `$`.

use serde_json::{Map, Value, json};

/// Expands every placeholder in a value. `{}` stands for `marker`.
pub(crate) fn expand(value: &Value, marker: &str) -> Value {
    Expansion { marker, index: None }.value(value)
}

/// The value with this number for `{n}` in its texts.
pub(crate) fn numbered(value: &Value, index: u64) -> Value {
    match value {
        Value::String(text) => text.replace("{n}", &format!("{index:04}")).into(),
        Value::Array(items) => items.iter().map(|item| numbered(item, index)).collect(),
        Value::Object(members) => {
            let each = members.iter();
            Value::Object(
                each.map(|(name, value)| (name.clone(), numbered(value, index)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
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
        let text = match self.index {
            Some(index) => text.replace("{n}", &format!("{index:04}")),
            None => text,
        };
        let mut parts = text.split("{#");
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (label, rest) = part.split_once('}').expect("a `}` after `{#`, in a case");
            expanded += &match label.split_once(' ') {
                Some((label, spelling)) => respelt(&uuid(self.marker, label), spelling),
                None => uuid(self.marker, label),
            };
            expanded += rest;
        }
        expanded
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

/// A UUID of this case and label. UUIDs of one case are in the order of the bytes of their labels.
fn uuid(marker: &str, label: &str) -> String {
    assert!(
        label.len() <= 9,
        "the label {label} has more than 9 bytes, in a case"
    );
    let case: String = marker.chars().filter(char::is_ascii_digit).collect();
    let label: String = label.bytes().map(|byte| format!("{byte:02x}")).collect();
    let (case, label) = (format!("{case:0>12}"), format!("{label:0<18}"));
    // The 7 and the 8 make it a UUID of version 7.
    format!(
        "{}-{}-7{}-8{}-{}",
        &case[..8],
        &case[8..12],
        &label[..3],
        &label[3..6],
        &label[6..]
    )
}

/// Another spelling of a UUID, which PostgreSQL takes for the same one.
fn respelt(uuid: &str, spelling: &str) -> String {
    match spelling {
        "capitals" => uuid.to_uppercase(),
        "braces" => format!("{{{uuid}}}"),
        "unhyphenated" => uuid.replace('-', ""),
        other => panic!("{other} is not a spelling of a UUID, in a case"),
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
        "$listed" => filled(
            name,
            given,
            json!({
                "id": null, "name": null, "email": null, "email-verified": null,
                "provider": "credentials", "disabled": false, "image": null,
            }),
            &[],
        ),
        "$account" => filled(
            name,
            given,
            json!({
                "id": null, "name": null, "provider": "credentials", "disabled": false,
                "password-hash": null, "password-version": 0,
            }),
            &[],
        ),
        "$user-filter" => filled(
            name,
            given,
            json!({"provider": null, "name-contains": null, "email": null, "disabled": null}),
            &[],
        ),
        "$app-filter" => filled(
            name,
            given,
            json!({"viewer": {"everything": null}, "name-contains": null}),
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
        let ids = expand(
            &json!(["{#a}", "x{#B}\n", {"$repeat": 1, "of": "{#{n}}"}]),
            "k00000120034",
        );
        assert_eq!(
            ids,
            json!([
                "00000012-0034-7610-8000-000000000000",
                "x00000012-0034-7420-8000-000000000000\n",
                "00000012-0034-7303-8030-300000000000"
            ])
        );
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
