//! Waiting for what happens in another thread or process, always with an end.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for everything that compiles the component while other tests do the same.
pub const PATIENCE: Duration = Duration::from_secs(120);

const PAUSE: Duration = Duration::from_millis(2);

/// Waits until the condition holds. Panics if it does not hold after [`PATIENCE`]: `what`, such as "the first
/// answer", did not happen.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "{what} did not happen within {PATIENCE:?}");
        thread::sleep(PAUSE);
    }
}

/// The same in asynchronous code.
#[track_caller]
pub fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    let caller = Location::caller();
    async move {
        let end = Instant::now() + PATIENCE;
        while !condition().await {
            assert!(
                Instant::now() < end,
                "{caller}: {what} did not happen within {PATIENCE:?}"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Sets a flag when it is dropped, also when a test fails. [`thread::scope`] waits for its threads even then:
/// made first in the scope, this ends the ones that go on until the flag is set.
pub struct SetOnDrop<'a>(pub &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
