//! Inputs of superjson: whatever they are, they are unwrapped or refused.

use crate::superjson::{is_wrapped, unwrap};

pub fn run(bytes: &[u8]) {
    let Ok(input) = serde_json::from_slice(bytes) else {
        return;
    };
    if !is_wrapped(&input) {
        return;
    }
    let longest = 300;
    match unwrap(input) {
        Ok(Some(value)) => drop(value.to_string()),
        Ok(None) => {}
        Err(why) => assert!(why.len() <= longest, "the refusal is long: {why}"),
    }
}
