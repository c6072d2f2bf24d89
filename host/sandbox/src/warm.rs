//! Instances that wait for the next call of the user they have served: making one costs more than most calls.
//!
//! Invariants:
//! - An instance serves one user, from its first call to its end. Anonymous calls, and calls that sign
//!   in or create an account, get a fresh one that ends with the call.
//! - An instance is reused only if all of its calls returned, it holds no transaction, and it has no more memory than a
//!   call starts with.
//! - A bounded number of instances waits, for a bounded time and number of calls. When all places are taken, an
//!   instance that has served a second call takes the place of one that has served only one, or else of the one that
//!   was idle longest. After its first call, an instance takes another's place only if its user was one of the most
//!   recent users for whom there was no place.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use wasmtime::Store;

use crate::{exports::Exports, limits::Limits, state::State};

/// How many calls an instance serves, so that what its calls leave in its memory is bounded.
const MOST_CALLS: u32 = 1000;

/// An instance between two calls of its user.
pub(crate) struct Warm {
    pub user: String,
    pub store: Store<State>,
    pub exports: Exports,
    /// How many calls it has served.
    pub calls: u32,
}

/// Kept small, because every call searches all of them.
struct Waiting {
    user: u64,
    since: Instant,
    served_again: bool,
    warm: Box<Warm>,
}

/// The instances that wait for a call.
pub(crate) struct WarmInstances {
    kept: Mutex<Kept>,
    hashes: RandomState,
    most: usize,
    time: Duration,
}

#[derive(Default)]
struct Kept {
    /// In the order in which their last calls ended.
    waiting: VecDeque<Waiting>,
    /// Hashes of the last users who found no place: as many as there are places.
    called: VecDeque<u64>,
}

impl WarmInstances {
    pub fn new(limits: &Limits) -> Self {
        Self {
            kept: Mutex::default(),
            hashes: RandomState::new(),
            most: limits.warm as usize,
            time: limits.warm_time,
        }
    }

    /// The instance of this user that was used last.
    pub fn take(&self, user: &str) -> Option<Warm> {
        let hash = self.hashes.hash_one(user);
        let waiting = &mut self.lock().waiting;
        let is_theirs = |waiting: &Waiting| {
            waiting.user == hash && waiting.warm.user == user && waiting.since.elapsed() <= self.time
        };
        let index = waiting.iter().rposition(is_theirs)?;
        waiting.remove(index).map(|waiting| *waiting.warm)
    }

    /// Stores an instance whose call returned, if there is a place for it.
    pub fn put_back(&self, warm: Warm) {
        if self.most == 0 || warm.calls >= MOST_CALLS {
            return;
        }
        let new = Waiting {
            user: self.hashes.hash_one(&warm.user),
            since: Instant::now(),
            served_again: warm.calls > 1,
            warm: Box::new(warm),
        };
        // Dropped after the lock is released: ending an instance takes longer than others should wait.
        let _no_place_for = {
            let kept = &mut *self.lock();
            if kept.waiting.len() < self.most {
                kept.waiting.push_back(new);
                None
            } else if new.served_again || self.has_called(&mut kept.called, new.user) {
                let once = kept.waiting.iter().position(|waiting| !waiting.served_again);
                kept.waiting.push_back(new);
                kept.waiting.remove(once.unwrap_or(0))
            } else {
                Some(new)
            }
        };
    }

    /// Whether this user is among the last ones who found no place. If not, adds the user to them.
    fn has_called(&self, called: &mut VecDeque<u64>, user: u64) -> bool {
        if called.contains(&user) {
            return true;
        }
        if called.len() >= self.most {
            called.pop_front();
        }
        called.push_back(user);
        false
    }

    /// Ends the instances that have waited for too long.
    pub fn sweep(&self) {
        loop {
            let mut kept = self.lock();
            let is_old = |waiting: &Waiting| waiting.since.elapsed() > self.time;
            if !kept.waiting.front().is_some_and(is_old) {
                return;
            }
            let old = kept.waiting.pop_front();
            drop(kept);
            drop(old);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
