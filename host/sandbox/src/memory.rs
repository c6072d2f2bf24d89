//! Linear memory over all instances: who may have how much at once.
//!
//! Every call has a small share without asking. One that needs more waits for one of a few medium
//! or large shares, and keeps it to its end; so memory is bounded as a whole, and large calls come
//! one after the other instead of failing.
//!
//! Invariants:
//! - Who has a large share never waits for another; who has a medium share waits only for a large
//!   one. So nobody waits in a circle.
//! - Who holds a write transaction, or is called inside one, does not wait at all: others wait for
//!   the transaction. Calls of one caller after each other keep the share, so they have it by then.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::limits::{Limits, Stop};

/// What there is for all instances of a sandbox.
pub(super) struct Memory {
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

/// What one call has of it.
pub(super) struct Share {
    memory: Arc<Memory>,
    size: Size,
    may_wait: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            limits: limits.clone(),
            medium: Arc::new(Semaphore::new(limits.medium_calls as usize)),
            large: Arc::new(Semaphore::new(limits.large_calls as usize)),
        })
    }

    /// What every call begins with.
    pub fn share(self: &Arc<Self>) -> Share {
        Share {
            memory: self.clone(),
            size: Size::Small,
            may_wait: true,
            _permit: None,
        }
    }

    fn size_for(&self, bytes: usize) -> Result<Size, Stop> {
        match bytes {
            _ if bytes <= self.limits.small => Ok(Size::Small),
            _ if bytes <= self.limits.medium => Ok(Size::Medium),
            _ if bytes <= self.limits.memory => Ok(Size::Large),
            _ => Err(Stop::Memory),
        }
    }
}

impl Share {
    /// One of the same sandbox, as every call begins with.
    pub fn another(&self) -> Self {
        Self {
            may_wait: self.may_wait,
            ..self.memory.share()
        }
    }

    /// From here on it does not wait, whoever asks.
    pub fn stop_waiting(&mut self) {
        self.may_wait = false;
    }

    /// Whether it is large enough for so much memory.
    pub fn fits(&self, bytes: usize) -> bool {
        self.memory.size_for(bytes).is_ok_and(|size| size <= self.size)
    }

    /// Makes it large enough for so much memory; waits for that if it may.
    pub async fn fit(&mut self, bytes: usize, may_wait: bool) -> Result<(), Stop> {
        let size = self.memory.size_for(bytes)?;
        if size <= self.size {
            return Ok(());
        }
        let shares = match size {
            Size::Large => &self.memory.large,
            Size::Medium | Size::Small => &self.memory.medium,
        };
        let patience = if may_wait && self.may_wait {
            self.memory.limits.wait
        } else {
            Duration::ZERO
        };
        let permit = timeout(patience, shares.clone().acquire_owned()).await;
        let permit = permit
            .map_err(|_| Stop::NoMemoryLeft)?
            .map_err(|_| Stop::NoMemoryLeft)?;
        self.size = size;
        self._permit = Some(permit);
        Ok(())
    }

    /// Whether it is what every call has without asking.
    pub fn is_small(&self) -> bool {
        self.size == Size::Small
    }

    /// What may cross to the host at once: what is lifted takes more room than the records that it
    /// is lifted from.
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
            large_calls: 1,
            wait: Duration::from_millis(20),
            ..Limits::default()
        })
    }

    #[tokio::test]
    async fn a_small_call_asks_nobody() {
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
        assert_eq!(second.fit(33 * MIB, true).await, Err(Stop::NoMemoryLeft));
        let (waited, ()) = tokio::join!(second.fit(33 * MIB, true), async { drop(first) });
        waited.unwrap();
    }

    #[tokio::test]
    async fn whoever_grows_from_medium_to_large_gives_the_medium_share_back() {
        let memory = memory();
        let mut first = memory.share();
        first.fit(3 * MIB, true).await.unwrap();
        first.fit(200 * MIB, true).await.unwrap();
        let mut others = [memory.share(), memory.share()];
        for other in &mut others {
            other.fit(3 * MIB, false).await.unwrap();
        }
        assert_eq!(memory.share().fit(3 * MIB, false).await, Err(Stop::NoMemoryLeft));
    }

    #[tokio::test]
    async fn whoever_stopped_waiting_keeps_what_they_have_and_hears_at_once_that_there_is_no_more() {
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
        assert_eq!(answer.expect("no wait"), Err(Stop::NoMemoryLeft));
    }

    #[tokio::test]
    async fn no_call_gets_more_than_one_instance_may_have() {
        assert_eq!(memory().share().fit(256 * MIB + 1, true).await, Err(Stop::Memory));
    }

    #[tokio::test]
    async fn what_may_cross_grows_with_the_share() {
        let mut share = memory().share();
        assert_eq!(share.transfer(), 4 * MIB);
        share.fit(3 * MIB, true).await.unwrap();
        assert_eq!(share.transfer(), 64 * MIB);
        share.fit(33 * MIB, true).await.unwrap();
        assert_eq!(share.transfer(), 256 * MIB);
    }
}
