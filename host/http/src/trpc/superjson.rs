//! The part of superjson that the procedures need: `Date` and `undefined`.
//!
//! A value is sent as `{"json": VALUE, "meta": {"values": …}}`, where `values` maps each path at which VALUE represents
//! a type that JSON lacks to that type: `["Date"]`, `["undefined"]`. The steps of a path are joined by `.`; `\` escapes
//! a `.` or `\` inside a step.

use portico_model::time;
use portico_service::shape::Shape;
use serde_json::{Map, Value, json};

/// The content of `result` for a procedure without output.
pub(super) const UNDEFINED: &str = r#""data":{"json":null,"meta":{"values":["undefined"],"v":1}}"#;

/// Whether an input comes from a client that speaks superjson. No procedure has a key `json`.
pub fn is_wrapped(input: &Value) -> bool {
    input.as_object().is_some_and(|object| {
        object.contains_key("json") && object.keys().all(|key| key == "json" || key == "meta")
    })
}

/// The wrapped value; `None` if it is undefined as a whole.
pub(super) fn unwrap(mut input: Value) -> Result<Option<Value>, String> {
    let mut value = input["json"].take();
    match &input["meta"]["values"] {
        Value::Null => {}
        Value::Array(root) => match root.first().and_then(Value::as_str) {
            Some("undefined") => return Ok(None),
            Some("Date") => check_date(&value)?,
            _ => return Err(unknown(&input["meta"]["values"])),
        },
        Value::Object(paths) => {
            for (path, kind) in paths {
                apply(&mut value, &split(path), kind)?;
            }
        }
        other => return Err(unknown(other)),
    }
    Ok(Some(value))
}

fn apply(value: &mut Value, path: &[String], kind: &Value) -> Result<(), String> {
    let kind = match kind {
        Value::Array(kinds) if kinds.len() == 1 => kinds[0].as_str(),
        _ => None,
    };
    let Some((last, parents)) = path.split_last() else {
        return Err(unknown(&json!(kind)));
    };
    let mut parent = value;
    for step in parents {
        parent = child(parent, step).ok_or_else(|| nowhere(path))?;
    }
    match kind {
        Some("Date") => check_date(child(parent, last).ok_or_else(|| nowhere(path))?),
        Some("undefined") => {
            match parent {
                Value::Object(object) => {
                    object.remove(last);
                }
                other => *child(other, last).ok_or_else(|| nowhere(path))? = Value::Null,
            }
            Ok(())
        }
        _ => Err(unknown(&json!(kind))),
    }
}

fn child<'a>(value: &'a mut Value, step: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(object) => object.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn check_date(value: &Value) -> Result<(), String> {
    match value.as_str().and_then(time::parse) {
        Some(_) => Ok(()),
        None => Err("A superjson Date is not a date".into()),
    }
}

fn unknown(kind: &Value) -> String {
    let kind: String = kind.to_string().chars().take(40).collect();
    format!("Unknown transformation: {kind}; Date and undefined are known")
}

fn nowhere(path: &[String]) -> String {
    let path: String = path.join(".").chars().take(40).collect();
    format!("superjson's meta names a path that is not there: {path:?}")
}

fn split(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut step = String::new();
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        match character {
            '.' => steps.push(std::mem::take(&mut step)),
            '\\' => step.extend(characters.next()),
            character => step.push(character),
        }
    }
    steps.push(step);
    steps
}

fn join(path: &[String]) -> String {
    let steps: Vec<_> = path
        .iter()
        .map(|step| step.replace('\\', r"\\").replace('.', r"\."))
        .collect();
    steps.join(".")
}

/// The text `,"meta":{…}` to append to an output that contains dates; empty for others. `prefix` is the path from
/// superjson's `json` to the output.
pub(super) fn meta(shape: &Shape, output: &str, prefix: &[&str]) -> String {
    if !shape.has_dates() {
        return String::new();
    }
    let Ok(output) = serde_json::from_str::<Value>(output) else {
        return String::new();
    };
    let mut values = Map::new();
    let mut path: Vec<String> = prefix.iter().map(|step| (*step).to_owned()).collect();
    shape.each_date(&output, &mut path, &mut |path| {
        values.insert(join(path), json!(["Date"]));
    });
    if values.is_empty() {
        String::new()
    } else {
        format!(r#","meta":{}"#, json!({ "values": values, "v": 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_service::shape::required;

    #[test]
    fn an_input_is_wrapped_only_if_it_has_no_other_keys() {
        assert!(is_wrapped(&json!({"json": 1})));
        assert!(is_wrapped(&json!({"json": 1, "meta": {}})));
        assert!(!is_wrapped(&json!({"json": 1, "id": 2})));
        assert!(!is_wrapped(&json!({"meta": 1})));
        assert!(!is_wrapped(&json!([])));
    }

    #[test]
    fn undefined_values_are_removed() {
        assert_eq!(
            unwrap(json!({"json": null, "meta": {"values": ["undefined"], "v": 1}})),
            Ok(None)
        );
        assert_eq!(unwrap(json!({"json": null})), Ok(Some(Value::Null)));
        assert_eq!(
            unwrap(
                json!({"json": {"a": null, "b": [null]}, "meta": {"values": {"a": ["undefined"], "b.0": ["undefined"]}}})
            ),
            Ok(Some(json!({"b": [null]})))
        );
    }

    #[test]
    fn dates_must_be_dates() {
        let wrapped = |date: &str| json!({"json": {"a.b": date}, "meta": {"values": {"a\\.b": ["Date"]}}});
        assert_eq!(
            unwrap(wrapped("2026-01-31T12:00:00.000Z")),
            Ok(Some(json!({"a.b": "2026-01-31T12:00:00.000Z"})))
        );
        assert!(unwrap(wrapped("tomorrow")).is_err());
    }

    #[test]
    fn other_types_and_missing_paths_are_refused() {
        for values in [
            json!({"a": ["bigint"]}),
            json!({"a": [["custom", "x"]]}),
            json!({"__proto__.a": ["Date"]}),
            json!({"b": ["Date"]}),
            json!(["Nope"]),
            json!(5),
        ] {
            assert!(
                unwrap(json!({"json": {"a": "1"}, "meta": {"values": values}})).is_err(),
                "{values}"
            );
        }
    }

    #[test]
    fn the_meta_of_an_output_names_its_dates() {
        const SHAPE: Shape = Shape::List(&Shape::Record(&[required("at", Shape::Nullable(&Shape::Date))]));
        let output = r#"[{"at":"2026-01-31T12:00:00.000Z"},{"at":null}]"#;
        assert_eq!(
            meta(&SHAPE, output, &["2"]),
            r#","meta":{"values":{"2.0.at":["Date"]},"v":1}"#
        );
        assert_eq!(meta(&SHAPE, "[]", &[]), "");
    }
}
