//! The processor time of one call: that of the threads on which it runs.
//!
//! Invariants:
//! - The clock runs from the moment in which the component is entered until it is left, so it also counts what the host
//!   does for the component in between.
//! - While the call waits, the clock stands still, and then it goes on with the time of the thread on which the call
//!   goes on. So every wait inside of a call is wrapped in [`Meter::wait`].
//! - Most calls take less time than asking the kernel for the time of a thread a few dozen times. So the first
//!   [`CHEAP`] are measured by the clock on the wall. No time is lost by that; some is added if the machine is busy.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

/// How much of a call is measured by the clock on the wall.
const CHEAP: Duration = Duration::from_millis(10);

/// Measures one call. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Reading>>);

#[derive(Default)]
struct Reading {
    /// Until the clock stopped last.
    used: Duration,
    /// `None` while it stands still.
    since: Option<Start>,
    /// How deep in the component the call is: the host enters it again to get memory for a result.
    depth: u32,
}

/// What the clock showed when it started.
#[derive(Clone, Copy)]
enum Start {
    Wall(Instant),
    Thread(Duration),
}

impl Meter {
    /// The host enters the component.
    pub fn enter(&self) {
        let mut reading = self.lock();
        reading.depth += 1;
        reading.start();
    }

    /// The component returns to the host that entered it.
    pub fn leave(&self) {
        let mut reading = self.lock();
        reading.depth = reading.depth.saturating_sub(1);
        if reading.depth == 0 {
            reading.stop();
        }
    }

    /// The processor time until now.
    pub fn used(&self) -> Duration {
        let reading = self.lock();
        reading.used + reading.running()
    }

    /// Waits for something, without counting the time in which this thread does other work.
    pub async fn wait<F: Future>(self, something: F) -> F::Output {
        let mut something = pin!(something);
        let was_running = self.lock().since.is_some();
        poll_fn(|context| {
            self.lock().start();
            let polled = something.as_mut().poll(context);
            if polled.is_pending() || !was_running {
                self.lock().stop();
            }
            polled
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    fn start(&mut self) {
        self.since.get_or_insert_with(|| match self.used < CHEAP {
            true => Start::Wall(Instant::now()),
            false => Start::Thread(time_of_thread()),
        });
    }

    fn stop(&mut self) {
        self.used += self.running();
        self.since = None;
    }

    fn running(&self) -> Duration {
        match self.since {
            None => Duration::ZERO,
            Some(Start::Wall(since)) => since.elapsed(),
            Some(Start::Thread(since)) => time_of_thread().saturating_sub(since),
        }
    }
}

/// The processor time that this thread has used.
fn time_of_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        task::{Context, Poll, Waker},
        thread,
    };

    use tokio::task::yield_now;

    use super::*;

    const WHILE: Duration = Duration::from_millis(30);

    /// Uses this much processor time.
    fn work(time: Duration) {
        let began = time_of_thread();
        while time_of_thread() - began < time {}
    }

    /// Of a call that has used some time already, and how much.
    fn later() -> (Meter, Duration) {
        let meter = Meter::default();
        meter.enter();
        work(CHEAP);
        meter.leave();
        let used = meter.used();
        assert!(used >= CHEAP);
        (meter, used)
    }

    #[test]
    fn work_counts_from_the_first_entry_to_the_last_return() {
        let meter = Meter::default();
        work(WHILE);
        assert_eq!(meter.used(), Duration::ZERO);
        meter.enter();
        meter.enter();
        work(WHILE);
        assert!(meter.used() >= WHILE);
        meter.leave();
        work(WHILE);
        meter.leave();
        let used = meter.used();
        assert!(used >= 2 * WHILE);
        work(WHILE);
        assert_eq!(meter.used(), used);
    }

    #[test]
    fn a_thread_that_does_not_run_uses_no_time() {
        let (meter, used) = later();
        meter.enter();
        thread::sleep(WHILE);
        assert!(meter.used() < used + WHILE);
    }

    #[tokio::test]
    async fn what_others_do_during_a_wait_does_not_count_and_the_work_of_the_wait_does() {
        let (meter, before) = later();
        meter.enter();
        let waiting = meter.clone().wait(async {
            work(WHILE);
            yield_now().await;
            work(WHILE);
        });
        let others = async { work(4 * WHILE) };
        tokio::join!(waiting, others);
        let used = meter.used() - before;
        assert!(used >= 2 * WHILE && used < 4 * WHILE, "{used:?}");
        work(WHILE);
        assert!(meter.used() - before >= used + WHILE);
    }

    #[test]
    fn a_call_that_goes_on_on_another_thread_goes_on_with_the_time_of_that_one() {
        let (meter, _) = later();
        let mut context = Context::from_waker(Waker::noop());
        meter.enter();
        let mut waiting = Box::pin(meter.clone().wait(pending::<()>()));
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
        let used = meter.used();
        work(WHILE);
        let other = thread::spawn(move || {
            work(2 * WHILE);
            let mut context = Context::from_waker(Waker::noop());
            assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
        });
        other.join().unwrap();
        assert!(meter.used() < used + WHILE);
    }

    #[tokio::test]
    async fn a_wait_before_the_component_is_entered_leaves_the_clock_standing() {
        let meter = Meter::default();
        meter.clone().wait(yield_now()).await;
        let used = meter.used();
        work(WHILE);
        assert_eq!(meter.used(), used);
    }
}
