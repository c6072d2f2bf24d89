//! The runtime of calls that hash a password or grow with the data, and of what grows with a request or a page. Calls
//! run on it from beginning to end, up to their answer's JSON, so threads that serve requests never wait for them.
//!
//! Invariants:
//! - It has a thread for each core, of low priority. Nothing runs there without a permit. There are
//!   [`Limits::hashing`](portico_sandbox::Limits::hashing) permits to hash and as many for all other calls:
//!   `state.apply` hashes while it holds one of the latter. What only computes, and so waits for nothing and is soon
//!   done, has permits of its own, one for each core: it does not wait for calls that take seconds.
//! - Callers get permits in rotation among addresses. A caller that has waited for too long, by default 10 s, is refused
//!   with 503 and `Retry-After`.
//! - When the client disconnects, the call is dropped at its next wait, and its transaction with it. (A client that only
//!   ended its own side may still read: its call goes on for some seconds.)

use std::{
    io,
    net::IpAddr,
    num::NonZero,
    sync::{Arc, LazyLock},
    thread,
    time::{Duration, Instant},
};

use portico_metrics::Waits;
use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_storage::nice::lower_priority;
use tokio::{
    runtime::{Builder, Runtime},
    task::AbortHandle,
    time::timeout,
};

use crate::{
    fair_semaphore::{FairSemaphore, Permit},
    metrics,
    throttle::Source,
};

/// How long a computation waits for a permit before it is refused.
const LONGEST_COMPUTING_WAIT: Duration = Duration::from_secs(10);

/// One for the whole process, until it ends: a task of another runtime cannot drop a runtime.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(cores())
        .thread_name("portico-second")
        .on_thread_start(lower_priority)
        .enable_all()
        .build()
});

/// The permits of what only computes.
static COMPUTING: LazyLock<Permits> = LazyLock::new(|| FairSemaphore::new(cores()));

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The permits of calls that share these limits.
pub(crate) type Permits = Arc<FairSemaphore<Option<Source>>>;

/// The right to hash a password, or to run a call that grows with the data.
pub type WorkPermit = Permit<Option<Source>>;

/// Starts the runtime if it does not run yet. Fails if the system cannot start its threads.
pub(crate) fn start() -> anyhow::Result<()> {
    runtime().map(drop).map_err(Into::into)
}

fn runtime() -> io::Result<&'static Runtime> {
    let copied = |error: &io::Error| io::Error::new(error.kind(), error.to_string());
    RUNTIME.as_ref().map_err(copied)
}

/// Waits for a permit at most this long, in rotation among addresses.
pub(crate) async fn acquire(
    permits: &Permits,
    waits: &Waits,
    longest: Duration,
    address: Option<IpAddr>,
    too_many: Refusal,
) -> Result<WorkPermit, Error> {
    if let Some(permit) = permits.try_acquire() {
        return Ok(permit);
    }
    let started = Instant::now();
    match timeout(longest, permits.acquire(address.map(Source::from))).await {
        Ok(permit) => {
            waits.time.observe(started.elapsed());
            Ok(permit)
        }
        Err(_) => {
            waits.refused.increment();
            Err(Error::from(too_many).retry_after(longest.as_secs().max(1)))
        }
    }
}

/// Runs this on the second runtime, until it is done or its caller drops it.
pub(crate) async fn run<T, F>(permit: WorkPermit, running: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let task = runtime().map_err(Error::internal)?.spawn(async move {
        let answer = running.await;
        drop(permit);
        answer
    });
    let _aborted = AbortOnDrop(task.abort_handle());
    task.await.map_err(Error::internal)?
}

/// Computes something whose time grows with a request or a page, and which waits for nothing: reading a long input,
/// writing a long page. Addresses take turns.
pub async fn compute<T: Send + 'static>(
    address: Option<IpAddr>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let permit = acquire(
        &COMPUTING,
        &metrics::COMPUTING,
        LONGEST_COMPUTING_WAIT,
        address,
        Refusal::TooMuchAtOnce,
    )
    .await?;
    run(permit, async { Ok(work()) }).await
}

/// Stops a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use portico_model::error::Code;

    use std::future::pending;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn a_call_runs_on_a_thread_of_its_own_and_gives_its_permit_back() {
        let permits: Permits = FairSemaphore::new(1);
        let name = async { Ok(thread::current().name().map(ToOwned::to_owned)) };
        let name = run(permits.acquire(None).await, name).await;
        assert_eq!(name.unwrap().as_deref(), Some("portico-second"));
        permits.acquire(None).await;
    }

    #[tokio::test]
    async fn a_computation_runs_there_too_and_does_not_wait_for_calls() {
        let permits: Permits = FairSemaphore::new(1);
        let call = run(permits.acquire(None).await, pending::<Result<(), _>>());
        let mut call = Box::pin(call);
        assert!(poll!(&mut call).is_pending());
        let name = compute(None, || thread::current().name().map(ToOwned::to_owned)).await;
        assert_eq!(name.unwrap().as_deref(), Some("portico-second"));
    }

    #[tokio::test]
    async fn a_call_whose_caller_leaves_or_that_panics_gives_its_permit_back() {
        let permits: Permits = FairSemaphore::new(1);
        let mut left = Box::pin(run(permits.acquire(None).await, pending::<Result<(), _>>()));
        assert!(poll!(&mut left).is_pending());
        drop(left);
        let panics = async { panic!("expected in this test") };
        let panicked: Result<(), _> = run(permits.acquire(None).await, panics).await;
        assert_eq!(panicked.unwrap_err().code, Code::InternalServerError);
        permits.acquire(None).await;
    }
}
