//! Threads whose work can wait for a processor.

/// A thread that is so much nicer gets a third as much of a processor as another that wants it, and all
/// of one that nobody wants.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// Lets other threads have the processor first, from here to the end of this thread: a thread that
/// has given way may not take its place back.
pub fn give_way() {
    // Elsewhere it would be the whole process. An error means that it does not give way, no more.
    #[cfg(target_os = "linux")]
    if let Ok(so_far) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, (so_far + NICENESS).min(19));
    }
}
