//! A fair semaphore: it gives permits to sources in rotation, so that a source that requests many delays only itself.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

pub struct FairSemaphore<K: Ord + Copy> {
    state: Mutex<State<K>>,
}

struct State<K: Ord + Copy> {
    free: usize,
    /// The waiters, by source. No queue is empty.
    waiting: BTreeMap<K, VecDeque<oneshot::Sender<Permit<K>>>>,
    /// The sources with waiters; the first is next.
    rotation: VecDeque<K>,
}

/// A permit. When it is dropped, the next waiter gets it.
pub struct Permit<K: Ord + Copy>(Option<Arc<FairSemaphore<K>>>);

impl<K: Ord + Copy> FairSemaphore<K> {
    /// A semaphore with this many permits.
    pub fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: at_once,
                waiting: BTreeMap::new(),
                rotation: VecDeque::new(),
            }),
        })
    }

    /// A permit, if one is free.
    pub fn try_acquire(self: &Arc<Self>) -> Option<Permit<K>> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(Permit(Some(self.clone())))
    }

    /// Waits for a permit. A caller that stops waiting loses its place.
    pub async fn acquire(self: &Arc<Self>, source: K) -> Permit<K> {
        let given = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Permit(Some(self.clone()));
            }
            let (sender, given) = oneshot::channel();
            let queue = state.waiting.entry(source).or_default();
            queue.push_back(sender);
            if queue.len() == 1 {
                state.rotation.push_back(source);
            }
            given
        };
        // The sender stays in the queue until it sends, so it is not dropped earlier.
        given.await.unwrap_or(Permit(None))
    }

    /// How many callers wait.
    pub fn waiting(&self) -> usize {
        let state = self.state();
        let queues = state.waiting.values().flatten();
        queues.filter(|sender| !sender.is_closed()).count()
    }

    fn give(self: Arc<Self>) {
        let mut permit = Permit(Some(self.clone()));
        loop {
            let Some(sender) = self.state().next() else {
                permit.0 = None;
                return;
            };
            match sender.send(permit) {
                Ok(()) => return,
                // The waiter has gone.
                Err(returned) => permit = returned,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Copy> State<K> {
    /// The next waiter; `None` if the permit becomes free.
    fn next(&mut self) -> Option<oneshot::Sender<Permit<K>>> {
        let next = self.rotation.pop_front().and_then(|source| {
            let queue = self.waiting.get_mut(&source)?;
            let sender = queue.pop_front();
            if queue.is_empty() {
                self.waiting.remove(&source);
            } else {
                self.rotation.push_back(source);
            }
            sender
        });
        if next.is_none() {
            self.free += 1;
        }
        next
    }
}

impl<K: Ord + Copy> Drop for Permit<K> {
    fn drop(&mut self) {
        if let Some(semaphore) = self.0.take() {
            semaphore.give();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets every runnable task run.
    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Requests permits for these sources in this order, and returns the order in which the sources got them.
    async fn order(semaphore: &Arc<FairSemaphore<char>>, sources: &str) -> String {
        let only = semaphore.acquire('-').await;
        let served = Arc::new(Mutex::new(String::new()));
        let mut tasks = Vec::new();
        for source in sources.chars() {
            let (semaphore, served) = (semaphore.clone(), served.clone());
            tasks.push(tokio::spawn(async move {
                let _permit = semaphore.acquire(source).await;
                served.lock().unwrap().push(source);
                tokio::task::yield_now().await;
            }));
            settle().await;
        }
        drop(only);
        for task in tasks {
            task.await.unwrap();
        }
        served.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn a_source_that_asks_for_many_only_delays_itself() {
        let semaphore = FairSemaphore::new(1);
        assert_eq!(order(&semaphore, "aaaaabbc").await, "abcabaaa");
        assert_eq!(order(&semaphore, "aab").await, "aba", "every permit came back");
    }

    #[tokio::test]
    async fn permits_are_bounded_and_come_back() {
        let semaphore = FairSemaphore::new(2);
        let (first, second) = (semaphore.acquire(1).await, semaphore.acquire(1).await);
        let mut third = Box::pin(semaphore.acquire(2));
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(first);
        let third = third.await;
        drop((second, third));
        let state = semaphore.state();
        assert_eq!((state.free, state.waiting.len(), state.rotation.len()), (2, 0, 0));
    }

    #[tokio::test]
    async fn a_waiter_that_leaves_delays_no_other() {
        let semaphore = FairSemaphore::new(1);
        let first = semaphore.acquire(1).await;
        let mut gone = Box::pin(semaphore.acquire(2));
        assert!(futures_util::poll!(&mut gone).is_pending());
        let mut given = Box::pin(semaphore.acquire(3));
        assert!(futures_util::poll!(&mut given).is_pending());
        drop(gone);
        drop(first);
        // This waiter has been given the permit, and leaves before it takes it.
        drop(given);
        let state = semaphore.state();
        assert_eq!((state.free, state.waiting.len(), state.rotation.len()), (1, 0, 0));
    }
}
