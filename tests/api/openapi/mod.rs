//! The description of the service: it is complete and true, and people and programs can use it.

mod bounds;
mod clients;
mod describe;
mod docs;
mod refusals;
mod schemathesis;

use portico_tests::{Client, Portico};
use serde_json::Value;

/// The document that a running service gives.
#[track_caller]
fn document(server: &Portico) -> Value {
    server.anonymous().get("/api/openapi").assert_status(200).json()
}

/// Every operation with its method and its path.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods
            .iter()
            .map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
    })
}

/// The value itself, or what its `$ref` points at.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(target) => {
            let pointer = target.strip_prefix('#').expect("a reference within the document");
            resolved(
                document,
                document.pointer(pointer).unwrap_or_else(|| panic!("{target}")),
            )
        }
        None => value,
    }
}
