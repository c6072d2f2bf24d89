//! Instances kept warm for the users whom they served: making one costs more than most calls.
//!
//! Invariants:
//! - An instance serves one user, from its first call to its end. Whoever is not signed in, and
//!   whatever signs in or makes an account, gets a fresh one that ends with the call.
//! - Only an instance whose calls all came to an answer is kept, and only one that holds no
//!   transaction and no more memory than a call has without asking.
//! - A bounded number is kept, for a bounded time and number of calls. Who was idle longest goes
//!   first.

use std::{
    collections::VecDeque,
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

/// The instances that wait, in the order in which their last calls ended.
pub(super) struct WarmInstances {
    waiting: Mutex<VecDeque<(Instant, Warm)>>,
    most: usize,
    time: Duration,
}

impl WarmInstances {
    pub fn new(limits: &Limits) -> Self {
        Self {
            waiting: Mutex::default(),
            most: limits.warm as usize,
            time: limits.warm_time,
        }
    }

    /// The instance of this user that was used last.
    pub fn take(&self, user: &str) -> Option<Warm> {
        let mut waiting = self.lock();
        let is_theirs = |(since, warm): &(Instant, Warm)| warm.user == user && since.elapsed() <= self.time;
        let index = waiting.iter().rposition(is_theirs)?;
        waiting.remove(index).map(|(_, warm)| warm)
    }

    /// Keeps an instance whose call ended well.
    pub fn keep(&self, warm: Warm) {
        if self.most == 0 || warm.calls >= MOST_CALLS {
            return;
        }
        let mut waiting = self.lock();
        let too_many = if waiting.len() >= self.most {
            waiting.pop_front()
        } else {
            None
        };
        waiting.push_back((Instant::now(), warm));
        // Ending an instance takes longer than others should wait.
        drop(waiting);
        drop(too_many);
    }

    /// Ends those that waited for too long.
    pub fn sweep(&self) {
        loop {
            let mut waiting = self.lock();
            let is_old = |(since, _): &(Instant, Warm)| since.elapsed() > self.time;
            if !waiting.front().is_some_and(is_old) {
                return;
            }
            let old = waiting.pop_front();
            drop(waiting);
            drop(old);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, Warm)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
