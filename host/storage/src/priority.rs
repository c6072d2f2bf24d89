//! Threads of low priority.

use std::cell::Cell;
use std::thread::yield_now;

/// Added to the niceness of a thread: with 5 more it gets a third of the processor time of a thread that
/// competes with it, and all of a processor that is idle.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// A thread of low priority gives way after so many small steps: some tens of microseconds.
const STEPS: u32 = 64;

thread_local! {
    /// The steps until this thread gives way; 0 if its priority is not low.
    static STEPS_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// Lowers the priority of this thread. It cannot be raised again.
pub fn lower_priority() {
    STEPS_LEFT.set(STEPS);
    // Only on Linux: elsewhere this would lower the whole process. If it fails the priority just stays.
    #[cfg(target_os = "linux")]
    if let Ok(so_far) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, (so_far + NICENESS).min(19));
    }
}

/// Whether this thread has low priority.
pub fn is_low() -> bool {
    STEPS_LEFT.get() > 0
}

/// Lets threads that wait for its processor go first, if this one has low priority. For long work whose steps differ in
/// length: to be called every few tens of microseconds.
pub fn give_way() {
    if is_low() {
        yield_now();
    }
}

/// To be called after each small step of long work, such as a record of a list. A thread of low priority then gives
/// way to those that wait for its processor. Without this it would give way only when its slice ends, after milliseconds,
/// even to threads of higher priority.
#[inline]
pub fn end_step() {
    match STEPS_LEFT.get() {
        0 => {}
        1 => {
            STEPS_LEFT.set(STEPS);
            yield_now();
        }
        left => STEPS_LEFT.set(left - 1),
    }
}
