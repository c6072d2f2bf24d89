//! What tests share: the service as a child process ([`Portico`]) or in the process of the test
//! ([`TestService`]); clients that are anonymous, signed in or have a key; their answers; a good input
//! for each procedure; a clock, and random choices that can be repeated.
//!
//! Every answer that a [`Client`] gets is checked against what must be true of all of them: it is no
//! 5xx, contains no stored hash, and is JSON if the path is under `/api`.

mod answer;
pub mod authenticator;
mod background;
pub mod callers;
mod client;
pub mod clock;
pub mod databases;
mod fixtures;
mod gate_proxy;
mod haproxy;
mod later;
mod namespace;
pub mod node;
mod pgbouncer;
mod portico;
pub mod postgresql;
pub mod procedures;
mod process;
pub mod proxy;
mod race;
mod random;
pub mod raw;
mod records;
pub mod second_factor;
mod seed;
mod service;
mod stream;
mod waiting;
mod world;

use std::path::Path;

pub use answer::{Answer, keys};
pub use background::free_port;
pub use client::{Anonymous, Client, Endpoint, Key, NO_INPUT, Session, agent, trpc_query_path};
pub use clock::TestClock;
pub use fixtures::{Fixtures, Invite, MISSING, PASSWORD, User, administrator, administrator_of, names};
pub use gate_proxy::{GatePorts, GateProxy};
pub use haproxy::Haproxy;
pub use later::later;
pub use namespace::{can_mount, mount_namespace, set_limit, under_limit, with_socket};
pub use pgbouncer::Pgbouncer;
pub use portico::{Builder, Portico, Starting, binary, cache, command, data_in, hostile_component};
pub use process::{Finished, run, wait_for_text};
pub use race::{count_statuses, race};
pub use random::{Random, SeededBytes, given_seed, new_seed, rounds_from_environment};
pub use records::{context_of, new_user, session_until, stored_app};
pub use service::{Listening, TestSandbox, TestService, router};
pub use stream::decode_stream;
pub use waiting::{PATIENCE, SetOnDrop, until, wait_until};
pub use world::{Target, World};

/// The repository's folder.
pub fn repository() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the folder above tests")
}

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
