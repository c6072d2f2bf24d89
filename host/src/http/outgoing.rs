//! Answers that wait to be written, over all connections of the process.
//!
//! Memory is freed as fast as clients read, and a client may not read at all. So every answer, or
//! part of one, of [`LARGE`] bytes or more is counted from when it is made until its last byte was
//! given to the socket, or its connection ended. Invariants:
//! - A part is counted exactly as long as it exists: [`Held`] lies in the buffer that hyper drops.
//! - Smaller answers are not counted, wait for nothing and are never given up: a connection has one
//!   at a time.
//! - When more is counted than [`HttpLimits::unsent`](super::HttpLimits), the connections that have
//!   taken nothing for [`STALLED`] are closed, the longest first, until the rest fits. At
//!   [`HARD`] times as much, the one whose last progress is longest ago is closed in any case.
//! - A batch makes no further answers while half of the budget is used ([`Gate`]): a few batches at
//!   a time go on, in rotation among sizes and addresses. What has less than [`LARGE`] bytes goes on.
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
use tokio::sync::Notify;

/// From this size on, in bytes, an answer is counted. Larger parts are not copied either.
pub(super) const LARGE: usize = 16 << 10;

/// A connection that has taken nothing for so long may be closed to make room.
pub(super) const STALLED: Duration = Duration::from_secs(1);

/// So many times the budget are never exceeded by what fast clients have not read yet.
const HARD: usize = 4;

/// Connections to close are looked for once in so many milliseconds, unless there is far too much.
const LOOK: u64 = 10;

/// The answers of one process that wait to be written.
pub(super) struct Outgoing {
    most: usize,
    held: AtomicUsize,
    /// What belongs to connections that were told to end.
    ending: AtomicUsize,
    /// The connections whose socket takes nothing at the moment, and since when.
    blocked: Mutex<HashMap<u64, (Arc<Connection>, Instant)>>,
    next: AtomicU64,
    began: Instant,
    /// When connections to close were looked for last, in milliseconds since it began.
    looked: AtomicU64,
    pub(super) turns: super::gate::GateTurns,
}

/// A connection, as far as its answers are concerned.
pub(super) struct Connection {
    outgoing: Arc<Outgoing>,
    id: u64,
    held: AtomicUsize,
    /// What of `held` was counted as ending.
    ending: AtomicUsize,
    is_ended: AtomicBool,
    writer: AtomicWaker,
    freed: Notify,
}

/// So many bytes of a connection are counted as long as this exists.
pub(super) struct Held {
    connection: Arc<Connection>,
    bytes: usize,
}

impl Outgoing {
    /// A budget of so many bytes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            held: AtomicUsize::new(0),
            ending: AtomicUsize::new(0),
            blocked: Mutex::default(),
            next: AtomicU64::new(0),
            began: Instant::now(),
            looked: AtomicU64::new(0),
            turns: super::gate::GateTurns::default(),
        })
    }

    /// A new connection, or, where the socket is not ours, a request.
    pub fn connect(self: &Arc<Self>) -> Arc<Connection> {
        Arc::new(Connection {
            outgoing: self.clone(),
            id: self.next.fetch_add(1, Ordering::Relaxed),
            held: AtomicUsize::new(0),
            ending: AtomicUsize::new(0),
            is_ended: AtomicBool::new(false),
            writer: AtomicWaker::new(),
            freed: Notify::new(),
        })
    }

    /// The bytes that wait, not counting those of connections that are just ending.
    pub(super) fn load(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        held.saturating_sub(self.ending.load(Ordering::Relaxed))
    }

    /// Whether batches should make no more answers.
    pub fn is_pressed(&self) -> bool {
        self.load() >= self.most / 2
    }

    /// Closes connections that read nothing, as far as the budget needs it. Answers whether what
    /// is left fits.
    pub fn make_room(&self) -> bool {
        let load = self.load();
        if load < self.most {
            return true;
        }
        let now = Instant::now();
        let millis = now.duration_since(self.began).as_millis() as u64;
        let is_recent = millis < self.looked.load(Ordering::Relaxed) + LOOK;
        if is_recent && load < self.most.saturating_mul(HARD) {
            return false;
        }
        self.looked.store(millis, Ordering::Relaxed);
        let mut blocked = self.blocked();
        let mut candidates: Vec<_> = blocked
            .values()
            .filter(|(connection, _)| connection.held.load(Ordering::Relaxed) > 0)
            .map(|(connection, since)| (*since, connection.id))
            .collect();
        candidates.sort_unstable();
        for (since, id) in candidates {
            let load = self.load();
            let is_stalled = now.saturating_duration_since(since) >= STALLED;
            if load < self.most || !is_stalled && load < self.most.saturating_mul(HARD) {
                break;
            }
            if let Some((connection, _)) = blocked.remove(&id) {
                tracing::debug!(
                    bytes = connection.held.load(Ordering::Relaxed),
                    "a client that does not read makes room"
                );
                connection.end();
            }
        }
        self.load() < self.most
    }

    /// Closes every connection that has taken nothing for so long though something waits for it.
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

    fn blocked(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, Instant)>> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// The budget that it is counted in.
    pub fn outgoing(&self) -> &Arc<Outgoing> {
        &self.outgoing
    }

    /// Counts so many bytes of this connection, and makes room for them if there is none.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.outgoing.held.fetch_add(bytes, Ordering::Relaxed);
        self.outgoing.make_room();
        Held {
            connection: self.clone(),
            bytes,
        }
    }

    /// The bytes of it that are counted.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Waits until no more than so many bytes wait for this client.
    pub async fn drained(&self, most: usize) {
        loop {
            let freed = self.freed.notified();
            if self.held() <= most {
                return;
            }
            freed.await;
        }
    }

    /// The socket takes nothing since now; this is who tries to write.
    pub fn block(self: &Arc<Self>) {
        let entry = (self.clone(), Instant::now());
        self.outgoing.blocked().insert(self.id, entry);
    }

    /// The socket has taken something, or is gone.
    pub fn unblock(&self) {
        self.outgoing.blocked().remove(&self.id);
    }

    /// Whether it is to end; if not, the waker is woken when it is.
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
    /// How many.
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
mod tests {
    use super::*;

    #[test]
    fn far_beyond_the_budget_the_one_without_progress_for_longest_is_closed() {
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
        assert_eq!(
            ended(),
            [false; 4],
            "it reads no less than others, as far as is known"
        );
        let most = fast.hold(90);
        assert_eq!(ended(), [true, false, false, false]);
        assert_eq!(outgoing.load(), 4 * 90, "what ends does not count");
        drop((held, more, most));
        assert_eq!(outgoing.load(), 0);
    }

    #[test]
    fn whoever_reads_nothing_for_a_second_makes_room() {
        let outgoing = Outgoing::new(100);
        let [stuck, fast] = [(); 2].map(|()| outgoing.connect());
        let _held = (stuck.hold(90), fast.hold(5));
        stuck.block();
        std::thread::sleep(STALLED);
        assert!(!stuck.is_ended(), "there is room");
        let _more = fast.hold(5);
        assert!(stuck.is_ended() && !fast.is_ended());
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
}
