//! Where calls that hash a password run. Each needs 19 MiB. Getting that memory from the kernel and giving it back
//! would cost half as much as the hash.
//!
//! Invariants:
//! - Each call has a fresh instance, whose memory is as the component's file says. Only the memory underneath stays
//!   with the place in the pool, cleared.
//! - There are [`Limits::hashing`] places. The service gives out as many permits to hash (`acquire_hash_permit`),
//!   so a place is always free: a call that finds none is an internal error.
//! - The pool is created when the first call hashes, and dropped when no call has hashed for a while.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::warn;

use crate::{compiled, engine, limits::Limits, prepared::Prepared};
use portico_model::error::Error;

pub(crate) struct Hashing {
    limits: Limits,
    /// For other calls.
    ordinary: Arc<Prepared>,
    places: Arc<Semaphore>,
    /// `None` until a call hashes.
    pool: Mutex<Option<Pool>>,
}

struct Pool {
    prepared: Arc<Prepared>,
    used: Instant,
}

impl Hashing {
    /// Prepares nothing yet.
    pub fn new(ordinary: Arc<Prepared>, limits: &Limits) -> Self {
        Self {
            ordinary,
            places: Arc::new(Semaphore::new(limits.hashing as usize)),
            limits: limits.clone(),
            pool: Mutex::default(),
        }
    }

    /// A place for a call that holds a permit to hash, and the component to run there.
    pub fn enter(&self) -> Result<(OwnedSemaphorePermit, Arc<Prepared>), Error> {
        let place = self.places.clone().try_acquire_owned();
        let without_permit =
            |error| anyhow::Error::new(error).context("a call hashes without a hashing permit");
        let place = place.map_err(|error| Error::internal(without_permit(error)))?;
        Ok((place, self.prepared()))
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
                    "cannot set up the hashing pool; calls that hash use the ordinary one"
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

    /// Drops the pool if no call has hashed for a while.
    pub fn sweep(&self) {
        let mut pool = self.pool();
        let all_free = self.places.available_permits() == self.limits.hashing as usize;
        let is_idle = |pool: &mut Pool| pool.used.elapsed() > self.limits.warm_time;
        if all_free {
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

    use wasmtime::component::Component;

    use super::*;
    use crate::component::COMPONENT;
    use portico_model::error::Code;

    fn hashing() -> Hashing {
        let limits = Limits {
            hashing: 1,
            warm_time: Duration::from_millis(1),
            ..Limits::default()
        };
        let engine = engine::new(&limits).unwrap();
        let component = Component::new(&engine, &*COMPONENT).unwrap();
        let ordinary = Prepared::new(engine, component).unwrap();
        Hashing::new(Arc::new(ordinary), &limits)
    }

    #[test]
    fn the_pool_is_dropped_when_no_call_has_hashed_for_a_while() {
        let hashing = hashing();
        assert!(hashing.pool().is_none(), "no call has hashed");
        let place = hashing.enter().unwrap();
        std::thread::sleep(Duration::from_millis(5));
        hashing.sweep();
        assert!(hashing.pool().is_some(), "a call hashes");
        drop(place);
        hashing.sweep();
        assert!(hashing.pool().is_none());
        drop(hashing.enter().unwrap());
        assert!(hashing.pool().is_some(), "it is made anew");
    }

    #[test]
    fn a_call_without_a_permit_is_refused_at_once() {
        let hashing = hashing();
        let place = hashing.enter().unwrap();
        let Err(refusal) = hashing.enter() else {
            panic!("there is one place")
        };
        assert_eq!(refusal.code, Code::InternalServerError);
        drop(place);
        drop(hashing.enter().unwrap());
    }
}
