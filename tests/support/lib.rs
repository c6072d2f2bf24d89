//! What the tests of the running service share: the service as a child process, clients who are
//! nobody, somebody signed in or somebody with a key, their answers, and the things that a
//! scenario needs to begin with.
//!
//! The tests know the service only from outside, so nothing in here uses the `portico` library.
//! Every answer that a [`Client`] gets is held against what must be true of all of them: never
//! a 5xx, never a stored hash, and JSON under `/api`.

mod answer;
mod client;
mod fixtures;
mod namespace;
pub mod node;
mod portico;
pub mod procedures;
mod random;
pub mod raw;
mod stream;

pub use answer::{Answer, keys};
pub use client::{Anonymous, Client, Door, Key, NO_INPUT, Session, trpc_query_path};
pub use fixtures::{Fixtures, Invite, MISSING, PASSWORD, User, administrator, administrator_of};
pub use namespace::{can_mount, mount_namespace, set_limit, under_limit};
pub use portico::{Builder, Finished, Portico, binary, cache, command, data_in, run};
pub use random::Random;
pub use stream::decode_stream;

/// A component with a text in it changed throughout, to one of the same length.
#[track_caller]
pub fn renamed(component: &[u8], old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut bytes = component.to_vec();
    let mut count = 0;
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(old.as_bytes()) {
            bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
            count += 1;
        }
    }
    assert!(count > 0, "{old} is not in the component");
    bytes
}

/// Escapes a text for one part of a path or of a query string.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
