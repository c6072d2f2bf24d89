//! What the host provides: the time, random bytes, and its log.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use uuid::Builder;

use crate::bindings::log::{self, Level};
use crate::bindings::types::{Id, Timestamp};
use crate::bindings::wasi::clocks::wall_clock;
use crate::bindings::wasi::random::random;

/// The time now.
pub fn now() -> Timestamp {
    let now = wall_clock::now();
    now.seconds
        .saturating_mul(1000)
        .saturating_add(u64::from(now.nanoseconds / 1_000_000))
}

/// Random bytes, fit for secrets.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let bytes = random::get_random_bytes(N as u64);
    bytes
        .try_into()
        .unwrap_or_else(|bytes: Vec<u8>| panic!("{} random bytes, not {N}", bytes.len()))
}

/// A new id: a UUIDv7.
pub fn new_id() -> Id {
    id_of(now(), &random_bytes())
}

/// This many new ids, at most 4,096. Each sorts after the previous one, so records that are created together keep their
/// order if their names are equal.
pub fn new_ids(count: usize) -> Vec<Id> {
    let now = now();
    let id = |index: usize| {
        let mut random = random_bytes::<10>();
        // A counter replaces the 12 random bits after the time (RFC 9562, 6.2).
        random[..2].copy_from_slice(&(index as u16).to_be_bytes());
        id_of(now, &random)
    };
    (0..count).map(id).collect()
}

/// Logs a failure. Never a secret.
pub fn log_error(message: &str) {
    log::write(Level::Error, message);
}

/// Logs what an operator may have to look into. Never a secret.
pub fn log_warning(message: &str) {
    log::write(Level::Warn, message);
}

fn id_of(now: Timestamp, random: &[u8; 10]) -> String {
    Builder::from_unix_timestamp_millis(now, random)
        .into_uuid()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_version_7() {
        assert_eq!(
            id_of(0x0190_1234_5678, &[0xff; 10]),
            "01901234-5678-7fff-bfff-ffffffffffff"
        );
    }

    #[test]
    fn a_later_id_sorts_after_an_earlier_one() {
        assert!(id_of(1_700_000_000_000, &[0xff; 10]) < id_of(1_700_000_000_001, &[0; 10]));
    }
}
