//! The one clock of tests.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};
use std::thread;

use portico_model::Timestamp;
use portico_model::time::{Clock, SystemClock};

/// 2026-01-01T00:00:00Z.
pub const NEW_YEAR: Timestamp = 1_767_225_600_000;
/// Times are in milliseconds.
pub const SECOND: Timestamp = 1000;
/// 60 seconds.
pub const MINUTE: Timestamp = 60 * SECOND;
/// 24 hours.
pub const DAY: Timestamp = 24 * 60 * MINUTE;

type Work = Box<dyn FnOnce() + Send>;

/// A clock that moves only when a test moves it.
pub struct TestClock {
    now: AtomicU64,
    when_read: Mutex<Option<(u32, Work)>>,
}

impl TestClock {
    /// A clock that shows this time.
    pub fn at(now: Timestamp) -> Arc<Self> {
        Arc::new(Self {
            now: AtomicU64::new(now),
            when_read: Mutex::default(),
        })
    }

    /// A clock that shows [`NEW_YEAR`].
    pub fn at_new_year() -> Arc<Self> {
        Self::at(NEW_YEAR)
    }

    /// A clock that stopped at the moment of this call.
    pub fn stopped_now() -> Arc<Self> {
        Self::at(SystemClock.now())
    }

    /// Moves the clock forward by this many milliseconds.
    pub fn advance(&self, by: Timestamp) {
        self.now.fetch_add(by, Ordering::SeqCst);
    }

    /// Sets the clock to this time.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now, Ordering::SeqCst);
    }

    /// Does this work when the clock is read for the given time from now on: 1 means the next time.
    pub fn on_read(&self, times: u32, work: impl FnOnce() + Send + 'static) {
        *self.when_read.lock().expect("the lock") = Some((times, Box::new(work)));
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let mut when_read = self.when_read.lock().expect("the lock");
        if let Some((times, _)) = when_read.as_mut() {
            *times -= 1;
            if *times == 0
                && let Some((_, work)) = when_read.take()
            {
                drop(when_read);
                // The work waits for storage, which a thread of the service must not do.
                thread::spawn(work).join().expect("the work succeeds");
            }
        }
        self.now.load(Ordering::SeqCst)
    }
}
