//! The runtime of calls that hash a password or grow with the data. They run on it from beginning to end, up to their
//! answer's JSON, so threads that serve requests never wait for them.
//!
//! Invariants:
//! - It has a thread for each core, of low priority. Nothing runs there without a permit. There are
//!   [`Limits::hashing`](portico_sandbox::Limits::hashing) permits to hash and as many for everything else:
//!   `state.apply` hashes while it holds one of the latter.
//! - Callers get permits in rotation among addresses. A caller that has waited for
//!   [`Limits::wait`](portico_sandbox::Limits::wait) is refused with 503 and `Retry-After`.
//! - When the client disconnects, the call is dropped at its next wait, and its transaction with it.

use std::{
    io,
    net::IpAddr,
    num::NonZero,
    sync::{Arc, LazyLock},
    thread,
};

use portico_model::error::{Code, Error};
use portico_storage::nice::lower_priority;
use tokio::{
    runtime::{Builder, Runtime},
    task::AbortHandle,
    time::timeout,
};

use crate::{
    fair_semaphore::{FairSemaphore, Permit},
    resources::Resources,
    throttle::Source,
};

/// One for the whole process, until it ends: a task of another runtime cannot drop a runtime.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    Builder::new_multi_thread()
        .worker_threads(cores)
        .thread_name("portico-second")
        .on_thread_start(lower_priority)
        .enable_all()
        .build()
});

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

impl Resources {
    /// Waits for a permit to hash a password. A call that holds one waits neither for an instance nor for the memory
    /// that a hash needs.
    pub async fn acquire_hash_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = "Too many passwords to hash at once; try again in a moment";
        self.acquire(&self.hashing, address, too_many).await
    }

    /// Waits for a permit of a call that grows with the data.
    pub async fn acquire_large_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = "Too many long calls at once; try again in a moment";
        self.acquire(&self.large, address, too_many).await
    }

    /// Waits for a permit, in rotation among addresses.
    async fn acquire(
        &self,
        permits: &Permits,
        address: Option<IpAddr>,
        too_many: &str,
    ) -> Result<WorkPermit, Error> {
        let longest = self.sandbox.limits().wait;
        let permit = timeout(longest, permits.acquire(address.map(Source::from))).await;
        let refusal = || Error::new(Code::ServiceUnavailable, too_many).retry_after(longest.as_secs().max(1));
        permit.map_err(|_| refusal())
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

/// Stops a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
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
