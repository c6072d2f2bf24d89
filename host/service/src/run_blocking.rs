//! Calls that occupy a processor for a millisecond or longer, each on a thread of its own.
//!
//! Invariants:
//! - A call starts its thread only with a permit, and the permit is released when the thread is done.
//!   So there are never more of these threads than permits.
//! - Calls with an address take permits in rotation among addresses. A call that has waited for
//!   [`LONGEST_WAIT`] is refused with 503 and `Retry-After`.
//! - When the caller leaves, the call is dropped at its next wait, and its transaction with it.
//! - When the system has no thread left, the call is refused with 503.
//!
//! A thread for each call needs no pool to size, to keep alive or to shut down: starting one takes
//! microseconds, and a hash tens of milliseconds (docs/performance.md). The runtime's threads for blocking
//! work are unsuitable: if the system has no thread left, the runtime panics or the work waits forever.

use std::{io, net::IpAddr, sync::Arc, thread, time::Duration};

use portico_model::error::{Code, Error};
use portico_storage::{SharedSnapshot, priority};
use tokio::{runtime::Handle, select, sync::oneshot, time::timeout};

use crate::{
    fair_semaphore::{FairSemaphore, Permit},
    resources::{Resources, too_long},
    throttle::Source,
};

/// How long a call waits for a permit before it is refused.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The right to hash a password, to make a long list, or to run a call that takes seconds.
pub type WorkPermit = Permit<Option<Source>>;

impl Resources {
    /// Waits for a permit to hash a password. There are [`Limits::hashing`](portico_sandbox::Limits::hashing)
    /// of them, given in rotation among addresses. A call that holds one does not wait for an instance,
    /// nor for the memory that a hash takes.
    pub async fn acquire_hash_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = "Too many passwords to hash at once; try again in a moment";
        acquire(&self.hashing, address, too_many).await
    }

    /// Waits for a permit to make a long list. If none is free, releases the snapshot first.
    pub(crate) async fn acquire_list_permit(
        &self,
        address: Option<IpAddr>,
        snapshot: &SharedSnapshot,
    ) -> Result<WorkPermit, Error> {
        if let Some(permit) = self.long_lists.try_acquire() {
            return Ok(permit);
        }
        snapshot.release();
        let too_many = "Too many long lists at once; try again in a moment";
        acquire(&self.long_lists, address, too_many).await
    }

    /// Waits for a permit of a call that may take seconds: as many as hash, and beside them.
    pub async fn acquire_long_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = "Too many long calls at once; try again in a moment";
        acquire(&self.long, address, too_many).await
    }
}

/// Waits for a permit, in rotation among addresses.
async fn acquire(
    permits: &Arc<FairSemaphore<Option<Source>>>,
    address: Option<IpAddr>,
    too_many: &str,
) -> Result<WorkPermit, Error> {
    let permit = timeout(LONGEST_WAIT, permits.acquire(address.map(Source::from))).await;
    let refusal = || Error::new(Code::ServiceUnavailable, too_many).retry_after(LONGEST_WAIT.as_secs());
    permit.map_err(|_| refusal())
}

/// Runs a call that hashes a password or makes a long list, on a thread of low priority.
pub(crate) async fn run_low_priority<T, F>(permit: WorkPermit, running: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let thread = thread::Builder::new().name("portico-low".into());
    run_blocking(permit, running, thread, priority::lower_priority).await
}

/// Runs a call that may take seconds. Its thread keeps its priority: it may hold the permit to write, and other
/// writes wait for that.
pub(crate) async fn run_long<T, F>(permit: WorkPermit, running: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let thread = thread::Builder::new().name("portico-long".into());
    run_blocking(permit, running, thread, || ()).await
}

/// Runs a future on this thread, which calls `prepare` first.
async fn run_blocking<T, F>(
    permit: WorkPermit,
    running: F,
    thread: thread::Builder,
    prepare: fn(),
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let runtime = Handle::current();
    let (waiting, caller_gone) = oneshot::channel::<()>();
    let (sender, answered) = oneshot::channel();
    let started = thread.spawn(move || {
        prepare();
        let answer = runtime.block_on(async {
            select! {
                biased;
                answer = running => answer,
                _ = caller_gone => Err(too_long()),
            }
        });
        drop(permit);
        let _ = sender.send(answer);
    });
    started.map_err(no_thread)?;
    // The thread sends no answer if it panics.
    let answer = answered.await.map_err(Error::internal)?;
    drop(waiting);
    answer
}

/// The system has no thread left: processes or memory are limited.
fn no_thread(error: io::Error) -> Error {
    let message = "Too much to do at once; try again in a moment";
    Error {
        cause: Some(anyhow::Error::new(error).context("cannot start a thread")),
        ..Error::new(Code::ServiceUnavailable, message).retry_after(LONGEST_WAIT.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn where_no_thread_can_be_started_the_call_is_refused_and_its_permit_is_free() {
        let permits = FairSemaphore::new(1);
        // No address space has room for this stack: the system refuses the thread.
        let impossible = thread::Builder::new().stack_size(1 << 60);
        let refused = run_blocking(permits.acquire(None).await, async { Ok(()) }, impossible, || ()).await;
        let refusal = refused.unwrap_err();
        assert_eq!(refusal.code, Code::ServiceUnavailable);
        assert_eq!(refusal.retry_after, Some(10));
        assert!(refusal.cause.is_some(), "the log says why");
        let answer = run_long(permits.acquire(None).await, async { Ok(7) }).await;
        assert_eq!(answer.unwrap(), 7);
    }
}
