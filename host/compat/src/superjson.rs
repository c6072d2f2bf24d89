//! The part of superjson that the layer has to read and write.

pub(crate) use portico_http::is_superjson as is_wrapped;
use serde_json::{Value, json};

/// A value that is `undefined` as a whole: what a client of Homarr sends for no input, and gets for no output.
pub(crate) fn undefined() -> Value {
    json!({ "json": null, "meta": { "values": ["undefined"], "v": 1 } })
}

/// The input of a procedure of this crate; `None` if it is undefined. Dates stay texts.
pub(crate) fn unwrap(mut input: Value) -> Option<Value> {
    let mut value = input["json"].take();
    match &input["meta"]["values"] {
        Value::Array(root) if root.first().is_some_and(|kind| kind == "undefined") => None,
        Value::Object(paths) => {
            let undefined = paths.iter().filter(|(_, kind)| kind[0] == "undefined");
            for (path, _) in undefined {
                // Only keys of the input itself may be absent in the inputs of this crate.
                if let Value::Object(object) = &mut value {
                    object.remove(path);
                }
            }
            Some(value)
        }
        _ => Some(value),
    }
}

/// The paths of `meta`, each under this prefix, for a value that is there in a larger one.
pub(crate) fn moved(meta: Value, prefix: &str) -> Option<Value> {
    let paths = match &meta["values"] {
        Value::Object(paths) => paths,
        _ => return None,
    };
    let values: serde_json::Map<_, _> = paths
        .iter()
        .map(|(path, kind)| (format!("{prefix}.{path}"), kind.clone()))
        .collect();
    Some(json!({ "values": values, "v": 1 }))
}
