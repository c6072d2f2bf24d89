//! Linear memory over all instances: how much each call may have.
//!
//! Every call starts with a small share. A call that needs more waits for one of a few medium or large
//! shares, and keeps it to its end. So memory is bounded as a whole, and large calls run one after the
//! other instead of failing.
//!
//! Invariants:
//! - A call with a large share never waits for another share; a call with a medium share waits only for a
//!   large one. So there is no deadlock.
//! - A call that hashes does not wait for a medium share: one is reserved for each ([`Limits::hashing`]).
//! - A call that holds a write transaction, or runs inside one, does not wait at all, because others wait
//!   for that transaction. A caller that makes several calls keeps its share, so that a call inside the
//!   transaction need not ask for a larger one.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::limits::{AbortReason, Limits};

/// The shares of all instances of a sandbox.
pub(crate) struct Memory {
    limits: Limits,
    medium: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    Small,
    Medium,
    Large,
}

/// How much one call may have.
pub(crate) struct Share {
    memory: Arc<Memory>,
    size: Size,
    may_wait: bool,
    /// Whether a medium share is reserved for this call.
    hashes: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            limits: limits.clone(),
            medium: Arc::new(Semaphore::new(limits.ordinary_medium_calls() as usize)),
            large: Arc::new(Semaphore::new(limits.large_calls as usize)),
        })
    }

    /// The share that a call starts with.
    pub fn share(self: &Arc<Self>) -> Share {
        Share {
            memory: self.clone(),
            size: Size::Small,
            may_wait: true,
            hashes: false,
            _permit: None,
        }
    }

    /// The share that a call that hashes starts with.
    pub fn share_to_hash(self: &Arc<Self>) -> Share {
        Share {
            hashes: true,
            ..self.share()
        }
    }

    fn size_for(&self, bytes: usize) -> Result<Size, AbortReason> {
        match bytes {
            _ if bytes <= self.limits.small => Ok(Size::Small),
            _ if bytes <= self.limits.medium => Ok(Size::Medium),
            _ if bytes <= self.limits.memory => Ok(Size::Large),
            _ => Err(AbortReason::Memory),
        }
    }
}

impl Share {
    /// Another share of the same sandbox, of the size that a call starts with.
    pub fn sibling(&self) -> Self {
        Self {
            may_wait: self.may_wait,
            ..self.memory.share()
        }
    }

    /// Lets it never wait from now on.
    pub fn stop_waiting(&mut self) {
        self.may_wait = false;
    }

    /// Makes it large enough for this much memory. Waits for a larger share if it may wait.
    pub async fn fit(&mut self, bytes: usize, may_wait: bool) -> Result<(), AbortReason> {
        let size = self.memory.size_for(bytes)?;
        if size <= self.size {
            return Ok(());
        }
        let shares = match size {
            Size::Large => &self.memory.large,
            Size::Medium | Size::Small if self.hashes => {
                self.size = size;
                return Ok(());
            }
            Size::Medium | Size::Small => &self.memory.medium,
        };
        let patience = if may_wait && self.may_wait {
            self.memory.limits.wait
        } else {
            Duration::ZERO
        };
        let permit = timeout(patience, shares.clone().acquire_owned()).await;
        let permit = permit
            .map_err(|_| AbortReason::NoMemoryLeft)?
            .map_err(|_| AbortReason::NoMemoryLeft)?;
        self.size = size;
        self._permit = Some(permit);
        Ok(())
    }

    /// Whether it is the share that every call starts with.
    pub fn is_small(&self) -> bool {
        self.size == Size::Small
    }

    /// How much may be passed to the host in one call. Records take more memory in the host than in the component.
    pub fn transfer(&self) -> usize {
        let limits = &self.memory.limits;
        let memory = match self.size {
            Size::Small => limits.small,
            Size::Medium => limits.medium,
            Size::Large => limits.memory,
        };
        (2 * memory).min(limits.transfer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn memory() -> Arc<Memory> {
        Memory::new(&Limits {
            medium_calls: 2,
            hashing: 0,
            large_calls: 1,
            wait: Duration::from_millis(20),
            ..Limits::default()
        })
    }

    #[tokio::test]
    async fn a_small_call_does_not_wait() {
        let memory = memory();
        let mut shares: Vec<_> = (0..100).map(|_| memory.share()).collect();
        for share in &mut shares {
            share.fit(2 * MIB, false).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_large_call_waits_until_another_has_ended() {
        let memory = memory();
        let mut first = memory.share();
        first.fit(200 * MIB, true).await.unwrap();
        let mut second = memory.share();
        assert_eq!(second.fit(33 * MIB, true).await, Err(AbortReason::NoMemoryLeft));
        let (waited, ()) = tokio::join!(second.fit(33 * MIB, true), async { drop(first) });
        waited.unwrap();
    }

    #[tokio::test]
    async fn a_call_that_grows_from_medium_to_large_gives_the_medium_share_back() {
        let memory = memory();
        let mut first = memory.share();
        first.fit(3 * MIB, true).await.unwrap();
        first.fit(200 * MIB, true).await.unwrap();
        let mut others = [memory.share(), memory.share()];
        for other in &mut others {
            other.fit(3 * MIB, false).await.unwrap();
        }
        assert_eq!(
            memory.share().fit(3 * MIB, false).await,
            Err(AbortReason::NoMemoryLeft)
        );
    }

    #[tokio::test]
    async fn a_call_that_stopped_waiting_keeps_its_share_and_is_refused_a_larger_one_at_once() {
        let memory = memory();
        let _large = {
            let mut share = memory.share();
            share.fit(200 * MIB, true).await.unwrap();
            share
        };
        let mut share = memory.share();
        share.fit(3 * MIB, true).await.unwrap();
        share.stop_waiting();
        share.fit(32 * MIB, true).await.unwrap();
        let answer = timeout(Duration::from_millis(5), share.fit(33 * MIB, true)).await;
        assert_eq!(answer.expect("no wait"), Err(AbortReason::NoMemoryLeft));
    }

    #[tokio::test]
    async fn a_call_that_hashes_takes_no_medium_share_from_others_and_waits_for_a_large_one() {
        let memory = memory();
        let mut others = [memory.share(), memory.share()];
        for other in &mut others {
            other.fit(20 * MIB, false).await.unwrap();
        }
        let mut hashing = memory.share_to_hash();
        assert_eq!(hashing.transfer(), 4 * MIB);
        hashing.fit(20 * MIB, false).await.unwrap();
        assert_eq!(hashing.transfer(), 64 * MIB);
        let mut large = memory.share();
        large.fit(33 * MIB, true).await.unwrap();
        assert_eq!(hashing.fit(33 * MIB, true).await, Err(AbortReason::NoMemoryLeft));
        drop(large);
        hashing.fit(33 * MIB, true).await.unwrap();
    }

    #[tokio::test]
    async fn no_call_gets_more_than_the_limit_of_one_instance() {
        assert_eq!(
            memory().share().fit(256 * MIB + 1, true).await,
            Err(AbortReason::Memory)
        );
    }

    #[tokio::test]
    async fn the_limit_of_what_crosses_to_the_host_grows_with_the_share() {
        let mut share = memory().share();
        assert_eq!(share.transfer(), 4 * MIB);
        share.fit(3 * MIB, true).await.unwrap();
        assert_eq!(share.transfer(), 64 * MIB);
        share.fit(33 * MIB, true).await.unwrap();
        assert_eq!(share.transfer(), 256 * MIB);
    }
}
