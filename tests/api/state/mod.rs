//! The whole dashboard as one document: `state.apply` and `state.export`.

mod apply;
mod boards;
mod export;
mod gate;
mod large;
mod lost_access;
mod memory;
mod names;
mod prune;
mod refusals;
mod time_limit;

use portico_tests::{Answer, Client, NO_INPUT};
use serde_json::{Value, json};

/// Applies a document that must be accepted.
#[track_caller]
fn apply(client: &impl Client, document: &Value) -> Value {
    client.mutate("state.apply", document).data()
}

#[track_caller]
fn export(client: &impl Client) -> Value {
    client.query("state.export", &NO_INPUT).data()
}

/// The same document, and more keys.
fn with(document: &Value, more: &Value) -> Value {
    let mut document = document.clone();
    let keys = document.as_object_mut().expect("an object");
    keys.extend(more.as_object().expect("an object").clone());
    document
}

/// `kind name` of the entries of a part of a report.
#[track_caller]
fn named(report: &Value, part: &str) -> Vec<String> {
    let entries = report[part].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    entries
        .map(|entry| format!("{} {}", text(&entry["kind"]), text(&entry["name"])))
        .collect()
}

/// What a report says about the record of this name: `[field, before, after]`.
#[track_caller]
fn changes(report: &Value, name: &str) -> Value {
    let mut entries = report["changed"].as_array().expect("a list").iter();
    let entry = entries
        .find(|entry| entry["name"] == name)
        .unwrap_or_else(|| panic!("{name} was not changed: {report}"));
    let changes = entry["changes"].as_array().expect("a list").iter();
    changes
        .map(|change| json!([change["field"], change["before"], change["after"]]))
        .collect()
}

/// Checks that a report has nothing but unchanged and unnamed records.
#[track_caller]
fn assert_nothing_changed(report: &Value) {
    for part in ["created", "changed", "removed"] {
        assert_eq!(report[part], json!([]), "{part}");
    }
}

/// The places of the broken rules: `apps[3].name`.
#[track_caller]
fn places(answer: &Answer) -> Vec<String> {
    answer.assert_refused(400, "BAD_REQUEST");
    let message = answer.error()["message"].as_str().expect("a text").to_owned();
    let rules = message
        .strip_prefix("Input validation failed: ")
        .expect("broken rules");
    rules
        .split("; ")
        .map(|rule| rule.split(' ').next().expect("a place").to_owned())
        .collect()
}
