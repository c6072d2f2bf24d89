//! Turns at something scarce, given to sources in rotation: one that asks for many waits for
//! itself, and not others for it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// So many turns at once.
pub struct FairSemaphore<K: Ord + Copy> {
    state: Mutex<State<K>>,
}

struct State<K: Ord + Copy> {
    free: usize,
    /// Who waits, by source. None of them is empty.
    waiting: BTreeMap<K, VecDeque<oneshot::Sender<Permit<K>>>>,
    /// The sources that have somebody waiting; the first is next.
    rotation: VecDeque<K>,
}

/// A turn. Dropped, it goes to the next.
pub struct Permit<K: Ord + Copy>(Option<Arc<FairSemaphore<K>>>);

impl<K: Ord + Copy> FairSemaphore<K> {
    /// So many at once.
    pub fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: at_once,
                waiting: BTreeMap::new(),
                rotation: VecDeque::new(),
            }),
        })
    }

    /// Waits for a turn. Whoever stops waiting gives up their place.
    pub async fn take(self: &Arc<Self>, source: K) -> Permit<K> {
        let given = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Permit(Some(self.clone()));
            }
            let (giver, given) = oneshot::channel();
            let queue = state.waiting.entry(source).or_default();
            queue.push_back(giver);
            if queue.len() == 1 {
                state.rotation.push_back(source);
            }
            given
        };
        // The giver stays in the queue until it gives.
        given.await.unwrap_or(Permit(None))
    }

    fn give(self: Arc<Self>) {
        let mut turn = Permit(Some(self.clone()));
        loop {
            let Some(giver) = self.state().next() else {
                turn.0 = None;
                return;
            };
            match giver.send(turn) {
                Ok(()) => return,
                // Whoever waited has gone.
                Err(unwanted) => turn = unwanted,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Copy> State<K> {
    /// Who is next; none: the turn is free.
    fn next(&mut self) -> Option<oneshot::Sender<Permit<K>>> {
        let next = self.rotation.pop_front().and_then(|source| {
            let queue = self.waiting.get_mut(&source)?;
            let giver = queue.pop_front();
            if queue.is_empty() {
                self.waiting.remove(&source);
            } else {
                self.rotation.push_back(source);
            }
            giver
        });
        if next.is_none() {
            self.free += 1;
        }
        next
    }
}

impl<K: Ord + Copy> Drop for Permit<K> {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.give();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets every task that can go on do so.
    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Takes turns for these sources, in this order, and gives the order in which they got them.
    async fn order(turns: &Arc<FairSemaphore<char>>, sources: &str) -> String {
        let all = turns.take('-').await;
        let served = Arc::new(Mutex::new(String::new()));
        let mut tasks = Vec::new();
        for source in sources.chars() {
            let (turns, served) = (turns.clone(), served.clone());
            tasks.push(tokio::spawn(async move {
                let _turn = turns.take(source).await;
                served.lock().unwrap().push(source);
                tokio::task::yield_now().await;
            }));
            settle().await;
        }
        drop(all);
        for task in tasks {
            task.await.unwrap();
        }
        served.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn a_source_that_asks_for_many_waits_for_itself() {
        let turns = FairSemaphore::new(1);
        assert_eq!(order(&turns, "aaaaabbc").await, "abcabaaa");
        assert_eq!(order(&turns, "aab").await, "aba", "all turns came back");
    }

    #[tokio::test]
    async fn no_more_are_given_than_there_are_and_each_comes_back() {
        let turns = FairSemaphore::new(2);
        let (first, second) = (turns.take(1).await, turns.take(1).await);
        let mut third = Box::pin(turns.take(2));
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(first);
        let third = third.await;
        drop((second, third));
        let state = turns.state();
        assert_eq!((state.free, state.waiting.len(), state.rotation.len()), (2, 0, 0));
    }

    #[tokio::test]
    async fn whoever_stops_waiting_holds_nobody_up() {
        let turns = FairSemaphore::new(1);
        let first = turns.take(1).await;
        let mut gone = Box::pin(turns.take(2));
        assert!(futures_util::poll!(&mut gone).is_pending());
        let mut given = Box::pin(turns.take(3));
        assert!(futures_util::poll!(&mut given).is_pending());
        drop(gone);
        drop(first);
        // It has its turn, and goes before it takes it.
        drop(given);
        let state = turns.state();
        assert_eq!((state.free, state.waiting.len(), state.rotation.len()), (1, 0, 0));
    }
}
