//! Threads that yield the processor to those that serve requests.

/// Added to the niceness of a thread: with 5 more it gets a third of the processor time of a thread that competes with it,
/// and all of a processor that is idle.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// Lowers the priority of this thread. It cannot be raised again.
pub fn lower_priority() {
    // Only on Linux: elsewhere this would lower the whole process. If it fails, the priority stays as it is.
    #[cfg(target_os = "linux")]
    if let Ok(so_far) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, (so_far + NICENESS).min(19));
    }
}
