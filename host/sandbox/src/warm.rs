//! Instances kept warm for the users whom they served: making one costs more than most calls.
//!
//! Invariants:
//! - An instance serves one user, from its first call to its end. Whoever is not signed in, and
//!   whatever signs in or makes an account, gets a fresh one that ends with the call.
//! - Only an instance whose calls all came to an answer is kept, and only one that holds no
//!   transaction and no more memory than a call has without asking.
//! - A bounded number is kept, for a bounded time and number of calls. Once they are so many, whoever
//!   calls for the second time takes the place of a user who called once, or of the one who was idle
//!   longest; whoever calls once, as many users in turn do, takes nobody's.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use wasmtime::Store;

use super::{State, exports::Exports, limits::Limits};

/// How many calls an instance serves: what it leaves lying about in its memory is bounded, too.
const MOST_CALLS: u32 = 1000;

/// An instance between two calls of its user.
pub(super) struct Warm {
    pub user: String,
    pub store: Store<State>,
    pub exports: Exports,
    /// How many calls it has served.
    pub calls: u32,
}

/// Small, because every call looks through them.
struct Waiting {
    /// The user's hash.
    user: u64,
    since: Instant,
    served_again: bool,
    warm: Box<Warm>,
}

/// The instances that wait.
pub(super) struct WarmInstances {
    kept: Mutex<Kept>,
    hashes: RandomState,
    most: usize,
    time: Duration,
}

#[derive(Default)]
struct Kept {
    /// In the order in which their last calls ended.
    waiting: VecDeque<Waiting>,
    /// Hashes of the users who called last and had no place: as many as there are places.
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

    /// Keeps an instance whose call ended well, if there is a place for it.
    pub fn keep(&self, warm: Warm) {
        if self.most == 0 || warm.calls >= MOST_CALLS {
            return;
        }
        let new = Waiting {
            user: self.hashes.hash_one(&warm.user),
            since: Instant::now(),
            served_again: warm.calls > 1,
            warm: Box::new(warm),
        };
        // Ending an instance takes longer than others should wait: what there is no place for is dropped
        // when the lock is free again.
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

    /// Whether this user is among those who called last and had no place; is so from now on.
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

    /// Ends those that waited for too long.
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
