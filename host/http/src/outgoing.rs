//! Answers that wait to be written, over all connections of the process.
//!
//! Memory is freed only as fast as clients read, and a client may not read at all. So every answer, or
//! part of one, of [`LARGE`] bytes or more is counted from the moment it is made until its last byte
//! was given to the socket, or its connection ended. Invariants:
//! - A part is counted exactly as long as it exists: [`Held`] lies in the buffer that hyper drops.
//! - Smaller answers are not counted, wait for nothing and are never given up: a connection has one
//!   at a time. In a batch, smaller answers are counted as well while they wait for the others
//!   (`trpc/answer.rs`).
//! - When more is counted than [`HttpLimits::unsent`](crate::HttpLimits), connections that have taken
//!   nothing for [`STALLED`] are closed, the longest stalled first, but only as many as it takes until
//!   the rest fits, and none if closing all of them is not enough. At [`HARD`] times as much, those
//!   whose last progress is longest ago are closed in any case, until less than that is counted.
//! - While half of the budget is used, batches wait before they make further answers (`gate.rs`).
//! - A lock is taken for each write that blocks, not for each answer.
//!
//! A connection whose socket is not ours (an embedding dashboard serves it) is counted but never
//! closed.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Waker,
    time::{Duration, Instant},
};

use futures_util::task::AtomicWaker;
use tokio::sync::{Notify, watch};

/// From this size on, in bytes, an answer is counted, and its parts are not copied.
pub(crate) const LARGE: usize = 16 << 10;

/// A connection that has taken nothing for this long may be closed to make room. The kernel takes more only
/// after it has sent 64 KiB or more, so a client that reads steadily at 40 KB a second shows progress
/// every 1.5 to 3.3 seconds.
pub(crate) const STALLED: Duration = Duration::from_secs(5);

/// The hard limit, as a multiple of the budget. Above it, connections that take nothing at the moment are closed
/// even if they have not stalled.
const HARD: usize = 4;

/// The least time between two searches for connections to close, in milliseconds. Beyond the hard
/// limit it does not apply.
const LOOK: u64 = 10;

/// The answers of one process that wait to be written.
pub(crate) struct Outgoing {
    budget: usize,
    held: AtomicUsize,
    /// The part of `held` that belongs to connections that were told to end.
    ending: AtomicUsize,
    /// The connections whose socket takes nothing at the moment, and since when.
    blocked: Mutex<HashMap<u64, (Arc<Connection>, Instant)>>,
    next_id: AtomicU64,
    /// Whether the sockets are ours: set when the first one blocks.
    sees_sockets: AtomicBool,
    began: Instant,
    /// When connections to close may be looked for next, in milliseconds since it began.
    next_look: AtomicU64,
    /// Whether the host stops.
    stop: watch::Sender<bool>,
}

/// The answers of one connection.
pub(crate) struct Connection {
    outgoing: Arc<Outgoing>,
    id: u64,
    held: AtomicUsize,
    /// The part of `held` that counts as ending.
    ending: AtomicUsize,
    is_ended: AtomicBool,
    /// When its socket last took something after it had been blocked.
    took: Mutex<Option<Instant>>,
    writer: AtomicWaker,
    freed: Notify,
}

/// Bytes of a connection, counted while this exists.
pub(crate) struct Held {
    connection: Arc<Connection>,
    bytes: usize,
}

impl Outgoing {
    /// With a budget of this many bytes.
    pub fn new(budget: usize) -> Arc<Self> {
        Arc::new(Self {
            budget,
            held: AtomicUsize::new(0),
            ending: AtomicUsize::new(0),
            blocked: Mutex::default(),
            next_id: AtomicU64::new(0),
            sees_sockets: AtomicBool::new(false),
            began: Instant::now(),
            next_look: AtomicU64::new(0),
            stop: watch::Sender::new(false),
        })
    }

    /// A new connection, or a new request where the socket is not ours.
    pub fn connect(self: &Arc<Self>) -> Arc<Connection> {
        Arc::new(Connection {
            outgoing: self.clone(),
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            held: AtomicUsize::new(0),
            ending: AtomicUsize::new(0),
            is_ended: AtomicBool::new(false),
            took: Mutex::default(),
            writer: AtomicWaker::new(),
            freed: Notify::new(),
        })
    }

    /// The bytes that wait, without those of connections that are ending.
    pub fn load(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        held.saturating_sub(self.ending.load(Ordering::Relaxed))
    }

    /// Whether batches should wait before they make more answers.
    pub fn is_pressed(&self) -> bool {
        self.load() >= self.budget / 2
    }

    /// Closes stalled connections if the budget needs their room. Returns whether the rest fits.
    pub fn make_room(&self) -> bool {
        let (load, hard) = (self.load(), self.budget.saturating_mul(HARD));
        if load < self.budget {
            return true;
        }
        let now = Instant::now();
        let millis = now.duration_since(self.began).as_millis() as u64;
        let is_recent = millis < self.next_look.load(Ordering::Relaxed);
        if is_recent && load < hard {
            return false;
        }
        self.next_look.store(millis + LOOK, Ordering::Relaxed);
        let mut blocked = self.blocked();
        let mut candidates: Vec<_> = blocked
            .values()
            .map(|(connection, since)| (*since, connection.id, connection.held()))
            .filter(|(_, _, held)| *held > 0)
            .collect();
        candidates.sort_unstable();
        let is_stalled = |since: Instant| now.saturating_duration_since(since) >= STALLED;
        let stalled = candidates.partition_point(|(since, _, _)| is_stalled(*since));
        let ids = match enough(&candidates[..stalled], load - self.budget + 1) {
            Some(ids) => ids,
            None if load < hard => Vec::new(),
            None => enough(&candidates, load - hard + 1)
                .unwrap_or_else(|| candidates.iter().map(|(_, id, _)| *id).collect()),
        };
        for id in ids {
            if let Some((connection, _)) = blocked.remove(&id) {
                tracing::debug!(
                    bytes = connection.held(),
                    "a client that does not read makes room"
                );
                connection.end();
            }
        }
        self.load() < self.budget
    }

    /// Announces that the host stops.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the host stops.
    pub async fn stopping(&self) {
        // It cannot fail: the sender lives as long as this.
        let _ = self.stop.subscribe().wait_for(|stops| *stops).await;
    }

    /// Closes every connection that has had something to take and has taken nothing for this long.
    pub fn end_stalled(&self, longest: Duration) {
        let now = Instant::now();
        self.blocked().retain(|_, (connection, since)| {
            let is_stalled = now.saturating_duration_since(*since) >= longest;
            if is_stalled {
                connection.end();
            }
            !is_stalled
        });
    }

    /// Whether it is known which clients read.
    pub fn sees_sockets(&self) -> bool {
        self.sees_sockets.load(Ordering::Relaxed)
    }

    /// Whether clients that read hold the whole budget, so that closing stalled connections makes no room.
    pub fn is_held_by_readers(&self) -> bool {
        let now = Instant::now();
        let reading = |connection: &Connection| {
            let took = connection.took();
            took.is_some_and(|took| now.saturating_duration_since(took) < STALLED)
        };
        let held: usize = self
            .blocked()
            .values()
            .filter(|(connection, _)| reading(connection))
            .map(|(connection, _)| connection.held())
            .sum();
        held >= self.budget
    }

    fn blocked(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, Instant)>> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Selects connections (their time, id and bytes), the first ones first, that together hold at least
/// this many bytes, and leaves out those that the others make unnecessary. None if all together hold less.
fn enough(candidates: &[(Instant, u64, usize)], bytes: usize) -> Option<Vec<u64>> {
    let mut freed = 0;
    let last = candidates.iter().position(|(_, _, held)| {
        freed += held;
        freed >= bytes
    })?;
    let mut spare = freed - bytes;
    let needed = candidates[..=last].iter().rev().filter(|(_, _, held)| {
        let is_needed = *held > spare;
        if !is_needed {
            spare -= held;
        }
        is_needed
    });
    Some(needed.map(|(_, id, _)| *id).collect())
}

impl Connection {
    /// The budget that it is counted in.
    pub fn outgoing(&self) -> &Arc<Outgoing> {
        &self.outgoing
    }

    /// Counts bytes of this connection, and makes room for them if there is none.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.outgoing.held.fetch_add(bytes, Ordering::Relaxed);
        self.outgoing.make_room();
        Held {
            connection: self.clone(),
            bytes,
        }
    }

    /// Its bytes that are counted.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Waits until at most this many bytes wait for this client.
    pub async fn drained(&self, most: usize) {
        loop {
            let freed = self.freed.notified();
            if self.held() <= most {
                return;
            }
            freed.await;
        }
    }

    /// The socket has stopped taking bytes.
    pub fn block(self: &Arc<Self>) {
        self.outgoing.sees_sockets.store(true, Ordering::Relaxed);
        let entry = (self.clone(), Instant::now());
        self.outgoing.blocked().insert(self.id, entry);
    }

    /// The socket has taken bytes again, or is gone.
    pub fn unblock(&self) {
        *self.took.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.outgoing.blocked().remove(&self.id);
    }

    fn took(&self) -> Option<Instant> {
        *self.took.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was told to end; if not, the waker is woken when that happens.
    pub fn poll_ended(&self, waker: &Waker) -> bool {
        self.writer.register(waker);
        self.is_ended()
    }

    /// Whether it was told to end.
    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    /// Ends it: nothing more of it is written.
    pub fn end(&self) {
        if self.is_ended.swap(true, Ordering::AcqRel) {
            return;
        }
        let bytes = self.held.load(Ordering::Relaxed);
        self.ending.store(bytes, Ordering::Relaxed);
        self.outgoing.ending.fetch_add(bytes, Ordering::Relaxed);
        self.writer.wake();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let bytes = *self.ending.get_mut();
        self.outgoing.ending.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Held {
    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let connection = &self.connection;
        let outgoing = &connection.outgoing;
        outgoing.held.fetch_sub(self.bytes, Ordering::Relaxed);
        connection.held.fetch_sub(self.bytes, Ordering::Relaxed);
        if connection.is_ended() {
            let less = |ending: usize| Some(ending.saturating_sub(self.bytes));
            let before = connection
                .ending
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            let freed = before.map_or(0, |before| before.min(self.bytes));
            outgoing.ending.fetch_sub(freed, Ordering::Relaxed);
        }
        connection.freed.notify_waiters();
    }
}

#[cfg(test)]
impl Outgoing {
    /// Moves all times back, as if this much time had passed.
    pub fn pass(&self, time: Duration) {
        self.next_look.store(0, Ordering::Relaxed);
        for (connection, since) in self.blocked().values_mut() {
            *since -= time;
            if let Some(took) = &mut *connection.took.lock().expect("no other user") {
                *took -= time;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_beyond_the_budget_the_connection_that_stalled_first_is_closed() {
        let outgoing = Outgoing::new(100);
        let [stuck, slow, fast, idle] = [(); 4].map(|()| outgoing.connect());
        let held: Vec<_> = [&stuck, &slow, &fast]
            .map(|connection| connection.hold(90))
            .into_iter()
            .collect();
        stuck.block();
        slow.block();
        idle.block();
        let ended = || [&stuck, &slow, &fast, &idle].map(|connection| connection.is_ended());
        let more = fast.hold(90);
        assert_eq!(ended(), [false; 4], "none has stalled for long enough");
        let most = fast.hold(90);
        assert_eq!(ended(), [true, false, false, false]);
        assert_eq!(outgoing.load(), 4 * 90, "what ends does not count");
        drop((held, more, most));
        assert_eq!(outgoing.load(), 0);
    }

    #[test]
    fn a_client_that_takes_nothing_for_five_seconds_makes_room() {
        let outgoing = Outgoing::new(100);
        let [stuck, fast] = [(); 2].map(|()| outgoing.connect());
        let mut held = vec![stuck.hold(90), fast.hold(5)];
        stuck.block();
        outgoing.pass(Duration::from_secs(4));
        held.push(fast.hold(5));
        assert!(!stuck.is_ended(), "it may read slowly");
        outgoing.pass(Duration::from_secs(1));
        held.push(fast.hold(5));
        assert!(stuck.is_ended() && !fast.is_ended());
    }

    #[test]
    fn no_connection_is_closed_when_closing_all_that_stall_is_not_enough() {
        let outgoing = Outgoing::new(100);
        let [slow, slower, fast] = [(); 3].map(|()| outgoing.connect());
        let _held = (slow.hold(40), slower.hold(40));
        slow.block();
        slower.block();
        outgoing.pass(STALLED);
        let large = fast.hold(100);
        let ended = || [&slow, &slower, &fast].map(|connection| connection.is_ended());
        assert_eq!(ended(), [false; 3], "the large one does not fit alone");
        drop(large);
        outgoing.pass(Duration::from_secs(1));
        let _less = fast.hold(99);
        assert_eq!(ended(), [true, true, false], "now it does");
    }

    #[test]
    fn no_more_connections_are_closed_than_are_needed() {
        let outgoing = Outgoing::new(100);
        let sizes = [10, 60, 20];
        let stalled = sizes.map(|_| outgoing.connect());
        let mut held = Vec::new();
        for (connection, bytes) in stalled.iter().zip(sizes) {
            held.push(connection.hold(bytes));
            connection.block();
            outgoing.pass(Duration::from_secs(1));
        }
        outgoing.pass(STALLED);
        let fast = outgoing.connect();
        held.push(fast.hold(60));
        let ended = || [0, 1, 2].map(|number| stalled[number].is_ended());
        assert_eq!(
            ended(),
            [false, true, false],
            "closing the one of 60 is enough, the one of 10 is not"
        );
    }

    #[test]
    fn a_connection_that_is_ended_twice_is_counted_once() {
        let outgoing = Outgoing::new(100);
        let connection = outgoing.connect();
        let held = connection.hold(40);
        connection.end();
        connection.end();
        drop((held, connection));
        let _more = outgoing.connect().hold(40);
        assert_eq!(outgoing.load(), 40);
    }

    #[test]
    fn readers_hold_the_budget_as_long_as_they_take_something() {
        let outgoing = Outgoing::new(100);
        let [reader, other] = [(); 2].map(|()| outgoing.connect());
        let _held = (reader.hold(100), other.hold(100));
        reader.block();
        other.block();
        assert!(!outgoing.is_held_by_readers(), "they have taken nothing yet");
        reader.unblock();
        reader.block();
        assert!(outgoing.is_held_by_readers());
        outgoing.pass(STALLED);
        assert!(!outgoing.is_held_by_readers());
    }
}
