//! Reads the lines that `httpBatchStreamLink` gets, as that client reads them.

use std::collections::HashMap;

use serde_json::Value;

/// The result or error of each call, by its position in the batch. The first line is the head: it
/// holds the values themselves, or promises that later lines keep, in any order. In superjson mode
/// each line is wrapped as a whole; what its `meta` says is not applied.
#[track_caller]
pub fn decode_stream(text: &str, superjson: bool) -> HashMap<usize, Value> {
    assert!(text.ends_with('\n'), "the last line has no end: {text}");
    let mut lines = text.lines().map(|line| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if superjson { value["json"].clone() } else { value }
    });
    let head = lines.next().expect("a head");
    let mut chunks = HashMap::new();
    for line in lines {
        assert_eq!(line[1], 0, "a promise that failed: {line}");
        let known = chunks.insert(line[0].as_u64().expect("the chunk's number"), line[2].clone());
        assert!(known.is_none(), "a chunk came twice: {line}");
    }
    let head = head.as_object().expect("the head is an object");
    head.iter()
        .map(|(index, value)| (index.parse().expect("a position"), resolve(value, &chunks)))
        .collect()
}

/// `[[value], [key, 0, chunk]...]`: the value, and which of its keys (null: itself) is a promise.
fn resolve(encoded: &Value, chunks: &HashMap<u64, Value>) -> Value {
    let parts = encoded.as_array().expect("an encoded value");
    let mut value = parts[0].get(0).cloned().unwrap_or(Value::Null);
    for promise in &parts[1..] {
        let chunk = promise[2].as_u64().expect("a chunk's number");
        let kept = chunks
            .get(&chunk)
            .unwrap_or_else(|| panic!("chunk {chunk} never came"));
        let kept = resolve(kept, chunks);
        match &promise[0] {
            Value::Null => value = kept,
            Value::String(key) => value[key.as_str()] = kept,
            key => value[key.as_u64().expect("a position") as usize] = kept,
        }
    }
    value
}
