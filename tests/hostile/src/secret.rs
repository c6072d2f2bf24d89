//! Leaves a secret in memory, and searches for a secret of another call.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

/// What secrets begin with. Each byte is one too high, so that the mark itself is not in the file.
const MARK: [u8; 8] = *b"ijeefo>>";
/// A static, which outlives a call if the instance does.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Leaves the secret in the heap, many times, and counts in a static.
pub fn hide(secret: &str) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    for _ in 0..64 {
        let mut bytes: Vec<u8> = MARK.iter().map(|byte| byte - 1).collect();
        bytes.extend(secret.bytes());
        bytes.resize(4096, b'.');
        core::mem::forget(core::hint::black_box(bytes));
    }
}

/// How much memory: as much as hashing a password takes.
const FAR: usize = 20 << 20;

/// Leaves the secret also in memory that only a large call has.
pub fn hide_far(secret: &str) {
    hide(secret);
    core::mem::forget(core::hint::black_box(Vec::<u8>::with_capacity(FAR)));
    hide(secret);
}

/// What is left of other calls, in the memory of a large call as well.
pub fn find_far() -> String {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::memory_grow::<0>(FAR.div_ceil(65_536) + 16);
    find()
}

/// What is left of other calls; empty if nothing is.
pub fn find() -> String {
    let calls = CALLS.load(Ordering::Relaxed);
    if calls > 0 {
        return format!("{calls} calls before this one in a static");
    }
    search()
}

/// The first secret in the whole memory.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "it reads what it does not own")]
pub fn search() -> String {
    /// How many bytes after the mark are read.
    const LENGTH: usize = 32;
    const PAGE: usize = 65_536;
    let end = core::arch::wasm32::memory_size::<0>() * PAGE;
    for start in 1..end - MARK.len() - LENGTH {
        let byte = |offset: usize| {
            // SAFETY: all of linear memory is readable, and nothing else runs that could write to it.
            unsafe { core::ptr::with_exposed_provenance::<u8>(start + offset).read_volatile() }
        };
        if (0..MARK.len()).all(|offset| byte(offset) == MARK[offset] - 1) {
            let found: Vec<u8> = (0..LENGTH).map(|offset| byte(MARK.len() + offset)).collect();
            return String::from_utf8_lossy(&found).into_owned();
        }
    }
    String::new()
}

/// Other targets have no linear memory.
#[cfg(not(target_arch = "wasm32"))]
pub fn search() -> String {
    String::new()
}
