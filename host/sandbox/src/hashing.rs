//! Where calls run that hash a password: each needs 19 MiB, and for the kernel to give and take
//! them costs half as much as the hash.
//!
//! Invariants:
//! - Each call has a fresh instance, whose memory is as the component's file says. Only the room for
//!   it stays with its place in the pool, emptied.
//! - There are few places, so little stays; and none once nobody has hashed for a while.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::warn;

use super::{
    compiled, engine,
    limits::{Limits, Stop, trapped},
    prepared::Prepared,
};
use portico_model::error::Error;

pub(super) struct Hashing {
    limits: Limits,
    ordinary: Arc<Prepared>,
    places: Arc<Semaphore>,
    /// None while nobody hashes.
    pool: Mutex<Option<Pool>>,
}

struct Pool {
    prepared: Arc<Prepared>,
    used: Instant,
}

impl Hashing {
    /// For the component that is prepared for other calls; nothing is made before it is needed.
    pub fn new(ordinary: Arc<Prepared>, limits: &Limits) -> Self {
        Self {
            ordinary,
            places: Arc::new(Semaphore::new(limits.hashing as usize)),
            limits: limits.clone(),
            pool: Mutex::default(),
        }
    }

    /// Waits for a place.
    pub async fn enter(&self) -> Result<(OwnedSemaphorePermit, Arc<Prepared>), Error> {
        let place = timeout(self.limits.wait, self.places.clone().acquire_owned());
        let place = place.await.map_err(|_| trapped(Stop::NoMemoryLeft.into()))?;
        Ok((place.map_err(Error::internal)?, self.prepared()))
    }

    fn prepared(&self) -> Arc<Prepared> {
        let mut pool = self.pool();
        if let Some(pool) = &mut *pool {
            pool.used = Instant::now();
            return pool.prepared.clone();
        }
        match self.prepare() {
            Ok(prepared) => {
                let prepared = Arc::new(prepared);
                *pool = Some(Pool {
                    prepared: prepared.clone(),
                    used: Instant::now(),
                });
                prepared
            }
            Err(error) => {
                warn!(
                    error = format!("{error:#}"),
                    "no room of their own for calls that hash; they take longer"
                );
                self.ordinary.clone()
            }
        }
    }

    fn prepare(&self) -> anyhow::Result<Prepared> {
        let engine = engine::for_hashing(&self.limits)?;
        let component = compiled::load_again(&engine, &self.ordinary.component)?;
        engine::keep_time(&engine, || {})?;
        Prepared::new(engine, component)
    }

    /// Gives the room back if nobody has hashed for a while.
    pub fn sweep(&self) {
        let mut pool = self.pool();
        let nobody_hashes = self.places.available_permits() == self.limits.hashing as usize;
        let is_idle = |pool: &mut Pool| pool.used.elapsed() > self.limits.warm_time;
        if nobody_hashes {
            let idle = pool.take_if(is_idle);
            drop(pool);
            drop(idle);
        }
    }

    fn pool(&self) -> MutexGuard<'_, Option<Pool>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{COMPONENT, Compiled};
    use portico_model::error::Code;

    fn hashing() -> Hashing {
        let limits = Limits {
            hashing: 1,
            warm_time: Duration::from_millis(1),
            wait: Duration::from_millis(20),
            ..Limits::default()
        };
        let compiled = Compiled::new(COMPONENT, None, limits.clone()).unwrap();
        Hashing::new(Arc::new(compiled.prepared), &limits)
    }

    #[tokio::test]
    async fn the_room_is_given_back_when_nobody_has_hashed_for_a_while() {
        let hashing = hashing();
        assert!(hashing.pool().is_none(), "nobody has hashed");
        let place = hashing.enter().await.unwrap();
        std::thread::sleep(Duration::from_millis(5));
        hashing.sweep();
        assert!(hashing.pool().is_some(), "somebody hashes");
        drop(place);
        hashing.sweep();
        assert!(hashing.pool().is_none());
        drop(hashing.enter().await.unwrap());
        assert!(hashing.pool().is_some(), "it is made anew");
    }

    #[tokio::test]
    async fn whoever_finds_no_place_in_time_is_told_to_come_again() {
        let hashing = hashing();
        let place = hashing.enter().await.unwrap();
        let Err(refusal) = hashing.enter().await else {
            panic!("there is one place")
        };
        assert_eq!(refusal.code, Code::ServiceUnavailable);
        drop(place);
        drop(hashing.enter().await.unwrap());
    }
}
