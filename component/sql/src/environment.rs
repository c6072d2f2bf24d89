//! What the host provides: the time, random bytes, and its log.

use std::sync::Arc;

use portico_model::Timestamp;
use portico_model::time::{Clock, LATEST};
use portico_storage::Ids;
use portico_storage::secrets::{Random, Secrets};

use crate::bindings::log::{self, Level};
use crate::bindings::wasi::clocks::wall_clock;
use crate::bindings::wasi::random::random;

struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        let now = wall_clock::now();
        let millis = now.seconds.saturating_mul(1000);
        millis
            .saturating_add(u64::from(now.nanoseconds / 1_000_000))
            .min(LATEST)
    }
}

struct HostRandom;

impl Random for HostRandom {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&random::get_random_bytes(buffer.len() as u64));
    }
}

/// The time now.
pub fn now() -> Timestamp {
    HostClock.now()
}

/// Makes tokens, keys and ids.
pub fn secrets() -> Secrets {
    Secrets::new(Arc::new(HostRandom))
}

/// Makes the ids of records that storage creates by itself.
pub fn ids() -> Ids {
    Ids::new(secrets(), Arc::new(HostClock))
}

/// Logs that something is not as it should be. Never a secret.
pub fn log_warning(message: &str) {
    log::write(Level::Warn, message);
}

/// Logs a failure. Never a secret.
pub fn log_error(message: &str) {
    log::write(Level::Error, message);
}

/// For code of others that asks the operating system: here that is the host. (`.cargo/config.toml` chooses it.)
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
#[expect(unsafe_code, reason = "the crate getrandom asks for this function by name")]
// SAFETY: the name belongs to the crate getrandom, and nothing else here has it.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    buffer: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    let bytes = random::get_random_bytes(length as u64);
    // SAFETY: the caller gives a buffer of this length.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, length.min(bytes.len())) };
    Ok(())
}
