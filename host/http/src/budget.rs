//! Bytes in memory that wait for clients: answers that clients have not read yet, and bodies that they have not
//! completely sent yet.
//!
//! Memory is freed only as fast as clients move, and a client may not move at all. Invariants:
//! - A transfer that holds less than [`FREE`] bytes is not counted.
//! - All transfers except the one that grew last together hold at most the budget. When they hold more, the owner who
//!   holds most loses the transfer that moved least recently: it is cut. Transfers without a user are cut first. So one
//!   answer that is larger than the budget does not cut others by itself.
//! - A transfer whose client is behind the minimum rate by the grace period is cut. Only time in which something waits
//!   for the client counts.
//! - While the host stops, a client that does nothing for [`STOP_PATIENCE`] is cut.
//! - A client that sends no more gets the answer to what it has sent. It may also be gone, which shows only when the host
//!   writes. So if nothing is written for [`END_PATIENCE`], it is cut, and the work for it ends.
//! - A transfer that is cut stops counting immediately. Its bytes are dropped as soon as its task has noticed.

use std::{
    cmp::Reverse,
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::{Instant, interval},
};
use tracing::debug;

/// From this size on, in bytes, a transfer is counted.
pub(crate) const FREE: usize = 16 << 10;

/// While the host stops, it disconnects a client that for this long reads nothing, or sends nothing more of its
/// request.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// How long the host works for a client that has ended its side of the connection, while it writes nothing.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// The interval at which we look for clients that are too slow.
const LOOK: Duration = Duration::from_millis(250);

/// The longest grace period, so that adding it to the clock does not overflow.
const LONGEST_GRACE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How slowly a client may move.
#[derive(Clone, Copy)]
pub(crate) struct LeastRate {
    /// Grace period below `rate` before we disconnect.
    pub grace: Duration,
    /// Bytes per second; with 0 any movement is enough.
    pub rate: u64,
}

/// The bytes that all transfers in one direction may hold.
pub(crate) struct Budget {
    most: usize,
    least_rate: LeastRate,
    transfers: Mutex<Transfers>,
    stop: watch::Sender<Option<Instant>>,
}

#[derive(Default)]
struct Transfers {
    counted: usize,
    next_id: u64,
    open: HashMap<u64, State>,
}

struct State {
    owner: Owner,
    held: usize,
    /// When the client, or the host for it, last did something.
    moved: Instant,
    /// When something began to wait for the client.
    waits_since: Option<Instant>,
    /// What remained of the grace period at that time.
    grace: Duration,
    /// The number of [`Work`]s.
    works: usize,
    /// When the client ended its side of the connection.
    ended: Option<Instant>,
    /// Dropped when the transfer is cut.
    _cut: oneshot::Sender<Infallible>,
}

/// The owners among whom a budget is shared fairly. All answers have one owner.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    /// Whether no user is known. Such transfers make room first: anyone can have as many addresses as they like.
    pub is_anonymous: bool,
    /// Distinguishes owners.
    pub id: u64,
}

/// What goes to, or comes from, one client.
pub(crate) struct Transfer {
    budget: Arc<Budget>,
    id: u64,
}

/// Completes when the transfer is cut.
pub(crate) type Cut = oneshot::Receiver<Infallible>;

/// Bytes that a transfer holds while this exists.
pub(crate) struct Held {
    transfer: Arc<Transfer>,
    bytes: usize,
}

/// While this exists, the host works for the client, and does not wait for the client's next request.
pub(crate) struct Work(Arc<Transfer>);

impl Budget {
    pub fn new(most: usize, least_rate: LeastRate) -> Arc<Self> {
        Arc::new(Self {
            most,
            least_rate: LeastRate {
                grace: least_rate.grace.min(LONGEST_GRACE),
                ..least_rate
            },
            transfers: Mutex::default(),
            stop: watch::Sender::new(None),
        })
    }

    pub fn open(self: &Arc<Self>, owner: Owner) -> (Arc<Transfer>, Cut) {
        let (sender, cut) = oneshot::channel();
        let mut transfers = self.transfers();
        let id = transfers.next_id;
        transfers.next_id += 1;
        let state = State {
            owner,
            held: 0,
            moved: Instant::now(),
            waits_since: None,
            grace: self.least_rate.grace,
            works: 0,
            ended: None,
            _cut: sender,
        };
        transfers.open.insert(id, state);
        let budget = self.clone();
        (Arc::new(Transfer { budget, id }), cut)
    }

    /// Cuts transfers that are too slow, forever.
    pub async fn watch(&self) {
        let mut look = interval(LOOK);
        loop {
            look.tick().await;
            self.cut_slow(Instant::now());
        }
    }

    fn cut_slow(&self, now: Instant) {
        let stops = *self.stop.borrow();
        let reason = |state: &State| {
            if state.is_behind(now) || stops.is_some_and(|stops| state.is_silent(stops, now)) {
                Some("a client that is too slow is disconnected")
            } else if state.is_gone(stops, now) {
                Some("a client that has ended its side, and may be gone, is disconnected")
            } else {
                None
            }
        };
        let mut transfers = self.transfers();
        let slow: Vec<_> = transfers
            .open
            .iter()
            .filter_map(|(id, state)| Some((*id, reason(state)?)))
            .collect();
        for (id, reason) in slow {
            debug!("{reason}");
            transfers.close(id);
        }
    }

    /// Announces that the host stops.
    pub fn stop(&self) {
        self.stop.send_replace(Some(Instant::now()));
    }

    pub async fn stopping(&self) {
        // It cannot fail: the sender lives as long as this.
        let _ = self.stop.subscribe().wait_for(Option::is_some).await;
    }

    fn transfers(&self) -> MutexGuard<'_, Transfers> {
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transfers {
    fn set_held(&mut self, id: u64, change: impl FnOnce(usize) -> usize) {
        if let Some(state) = self.open.get_mut(&id) {
            self.counted -= state.counted();
            state.held = change(state.held);
            self.counted += state.counted();
        }
    }

    fn close(&mut self, id: u64) {
        self.counted -= self.open.remove(&id).map_or(0, |state| state.counted());
    }

    /// Cuts transfers of the owner who holds most, anonymous owners first and the transfer that moved least recently
    /// first, until all except this transfer hold at most this many bytes.
    fn make_room(&mut self, most: usize, newest: u64) {
        let own = self.open.get(&newest).map_or(0, State::counted);
        while self.counted - own > most {
            let mut of_owner = HashMap::new();
            for state in self.open.values() {
                *of_owner.entry(state.owner).or_insert(0) += state.counted();
            }
            let others = self
                .open
                .iter()
                .filter(|(id, state)| **id != newest && state.counted() > 0);
            let Some((&id, state)) = others.max_by_key(|(_, state)| {
                (
                    state.owner.is_anonymous,
                    of_owner[&state.owner],
                    Reverse(state.moved),
                )
            }) else {
                return;
            };
            debug!(bytes = state.held, "a client that does not move makes room");
            self.close(id);
        }
    }
}

impl State {
    fn counted(&self) -> usize {
        if self.held < FREE { 0 } else { self.held }
    }

    fn is_behind(&self, now: Instant) -> bool {
        self.waits_since.is_some_and(|since| now >= since + self.grace)
    }

    /// Whether the host, which has been stopping since then, waits in vain for the client to read, or to send a whole
    /// request.
    fn is_silent(&self, stops: Instant, now: Instant) -> bool {
        let idle_since = (self.works == 0).then_some(self.moved);
        let since = self.waits_since.or(idle_since);
        since.is_some_and(|since| now >= since.max(stops) + STOP_PATIENCE)
    }

    /// Whether the client has ended its side, and nothing was written to it for so long that it may not be there.
    fn is_gone(&self, stops: Option<Instant>, now: Instant) -> bool {
        let Some(ended) = self.ended.filter(|_| self.waits_since.is_none()) else {
            return false;
        };
        let since = ended.max(self.moved);
        match stops {
            Some(stops) => now >= since.max(stops) + STOP_PATIENCE,
            None => now >= since + END_PATIENCE,
        }
    }
}

impl Transfer {
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Adds bytes, and makes room for them if necessary.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        let mut held = Held {
            transfer: self.clone(),
            bytes: 0,
        };
        held.grow(bytes);
        held
    }

    /// Begins to wait for the client.
    pub fn wait(&self) {
        self.change(|state| {
            state.waits_since.get_or_insert_with(Instant::now);
        });
    }

    /// The client has read, or sent, this many bytes.
    pub fn advance(&self, bytes: usize) {
        let LeastRate { grace, rate } = self.budget.least_rate;
        self.change(|state| {
            state.moved = Instant::now();
            let waited = state
                .waits_since
                .take()
                .map_or(Duration::ZERO, |since| since.elapsed());
            let earned = match rate {
                0 => grace,
                rate => Duration::from_secs_f64(bytes as f64 / rate as f64),
            };
            state.grace = state
                .grace
                .saturating_sub(waited)
                .saturating_add(earned)
                .min(grace);
        });
    }

    /// Begins to work for the client.
    pub fn begin_work(self: &Arc<Self>) -> Work {
        self.change(|state| state.works += 1);
        Work(self.clone())
    }

    /// The client has ended its side of the connection.
    pub fn end(&self) {
        self.change(|state| state.ended = Some(Instant::now()));
    }

    pub fn is_cut(&self) -> bool {
        !self.budget.transfers().open.contains_key(&self.id)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some(state) = self.budget.transfers().open.get_mut(&self.id) {
            change(state);
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.budget.transfers().close(self.id);
    }
}

impl Held {
    /// Adds more bytes, and makes room for them if necessary.
    pub fn grow(&mut self, bytes: usize) {
        self.bytes += bytes;
        let Transfer { budget, id } = &*self.transfer;
        let mut transfers = budget.transfers();
        transfers.set_held(*id, |held| held + bytes);
        if let Some(state) = transfers.open.get_mut(id) {
            state.moved = Instant::now();
        }
        transfers.make_room(budget.most, *id);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Transfer { budget, id } = &*self.transfer;
        budget.transfers().set_held(*id, |held| held - self.bytes);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.works -= 1;
            state.moved = Instant::now();
        });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const RATE: LeastRate = LeastRate {
        grace: Duration::from_secs(10),
        rate: 1024,
    };

    /// The unit of the budgets in these tests.
    const SIZE: usize = FREE;

    pub(crate) fn budget(most: usize) -> Arc<Budget> {
        Budget::new(most, RATE)
    }

    impl Budget {
        pub(crate) fn counted(&self) -> usize {
            self.transfers().counted
        }

        /// Moves all times back, as if this much time had passed, and looks for slow transfers.
        fn pass(&self, time: Duration) {
            self.stop
                .send_modify(|stops| *stops = stops.map(|stops| stops - time));
            for state in self.transfers().open.values_mut() {
                state.moved -= time;
                state.waits_since = state.waits_since.map(|since| since - time);
                state.ended = state.ended.map(|ended| ended - time);
            }
            self.cut_slow(Instant::now());
        }
    }

    fn are_cut<const N: usize>(transfers: [&Arc<Transfer>; N]) -> [bool; N] {
        transfers.map(|transfer| transfer.is_cut())
    }

    #[tokio::test]
    async fn when_the_budget_is_full_what_moved_least_recently_is_cut_and_counts_no_more() {
        let budget = budget(3 * SIZE);
        let [stuck, slow, idle, fast] = [(); 4].map(|()| budget.open(Owner::default()));
        let [stuck, slow, idle, fast] = [&stuck, &slow, &idle, &fast].map(|(transfer, _)| transfer);
        let held = [stuck, slow].map(|transfer| transfer.hold(SIZE));
        let small = idle.hold(SIZE - 1);
        budget.pass(Duration::from_secs(1));
        stuck.wait();
        slow.wait();
        slow.advance(1);
        let mut more = fast.hold(2 * SIZE);
        assert_eq!(are_cut([stuck, slow, idle, fast]), [false; 4], "the rest fits");
        let another = budget.open(Owner::default());
        let another_held = another.0.hold(SIZE);
        assert_eq!(are_cut([stuck, slow, idle, fast]), [true, false, false, false]);
        assert_eq!(budget.counted(), 4 * SIZE);
        drop(held);
        assert_eq!(budget.counted(), 3 * SIZE, "it was counted once");
        more.grow(100 * SIZE);
        assert_eq!(are_cut([slow, idle, fast]), [false; 3], "the others fit");
        drop((more, another_held, small));
        assert_eq!(budget.counted(), 0);
    }

    #[tokio::test]
    async fn one_transfer_that_is_larger_than_the_budget_is_the_first_to_go_when_it_does_not_move() {
        let budget = budget(SIZE);
        let [large, small] = [(); 2].map(|()| budget.open(Owner::default()));
        let _held = (large.0.hold(5 * SIZE), small.0.hold(SIZE));
        assert_eq!(are_cut([&large.0, &small.0]), [true, false]);
        assert!(large.1.await.is_err(), "its task hears of it");
    }

    #[tokio::test]
    async fn who_holds_most_makes_room() {
        let budget = budget(3 * SIZE);
        let owner = |id| Owner {
            id,
            ..Owner::default()
        };
        let [honest, first, second, third] = [1, 2, 2, 2].map(|id| budget.open(owner(id)).0);
        let _held = [&honest, &first, &second].map(|transfer| {
            let held = transfer.hold(SIZE);
            budget.pass(Duration::from_secs(1));
            held
        });
        let _more = third.hold(SIZE);
        let _last = honest.hold(SIZE);
        assert_eq!(
            are_cut([&honest, &first, &second, &third]),
            [false; 4],
            "the others fit"
        );
        let _most = third.hold(SIZE);
        assert_eq!(
            are_cut([&honest, &first, &second, &third]),
            [false, true, false, false]
        );
    }

    #[tokio::test]
    async fn what_is_sent_without_a_user_makes_room_first() {
        let budget = budget(3 * SIZE);
        let owner = |is_anonymous, id| Owner { is_anonymous, id };
        let user = budget.open(owner(false, 0)).0;
        let strangers = [1, 2].map(|id| budget.open(owner(true, id)).0);
        let _upload = user.hold(2 * SIZE);
        let _held = strangers.each_ref().map(|stranger| stranger.hold(SIZE));
        let _more = budget.open(owner(true, 3)).0.hold(SIZE);
        assert!(!user.is_cut());
        assert_eq!(are_cut([&strangers[0], &strangers[1]]), [true, false]);
    }

    #[tokio::test]
    async fn a_client_at_the_least_rate_is_served_to_the_end_and_a_slower_one_is_cut() {
        let steps = |bytes: usize| {
            let budget = budget(1 << 20);
            let (transfer, _cut) = budget.open(Owner::default());
            (0..100).find(|_| {
                transfer.wait();
                budget.pass(Duration::from_secs(8));
                transfer.advance(bytes);
                transfer.is_cut()
            })
        };
        assert_eq!(steps(8 * 1024), None);
        assert!(steps(6 * 1024).is_some_and(|steps| steps > 0));
        assert_eq!(steps(0), Some(1));
    }

    #[tokio::test]
    async fn time_in_which_nothing_waits_for_the_client_does_not_count() {
        let budget = budget(1 << 20);
        let (transfer, _cut) = budget.open(Owner::default());
        for _ in 0..10 {
            budget.pass(Duration::from_secs(100));
            transfer.wait();
            budget.pass(Duration::from_secs(1));
            transfer.advance(512);
        }
        assert!(!transfer.is_cut(), "it is 5 s behind");
        transfer.wait();
        budget.pass(Duration::from_secs(5));
        assert!(transfer.is_cut());
    }

    #[tokio::test]
    async fn without_a_least_rate_a_client_that_moves_is_not_cut() {
        let rate = LeastRate { rate: 0, ..RATE };
        let budget = Budget::new(1 << 20, rate);
        let (transfer, _cut) = budget.open(Owner::default());
        for _ in 0..10 {
            transfer.wait();
            budget.pass(Duration::from_secs(9));
            transfer.advance(1);
        }
        assert!(!transfer.is_cut());
        transfer.wait();
        budget.pass(Duration::from_secs(10));
        assert!(transfer.is_cut());
    }

    #[tokio::test]
    async fn a_grace_period_beyond_the_clock_is_a_long_one() {
        let grace = Duration::MAX;
        let budget = Budget::new(1 << 20, LeastRate { grace, ..RATE });
        let (transfer, _cut) = budget.open(Owner::default());
        transfer.wait();
        budget.pass(Duration::from_secs(24 * 60 * 60));
        assert!(!transfer.is_cut());
    }

    #[tokio::test]
    async fn when_the_host_stops_it_waits_for_its_own_work_but_not_for_silent_clients() {
        let budget = budget(1 << 20);
        let [works, reads_not, asks_nothing, reads] = [(); 4].map(|()| budget.open(Owner::default()));
        let [works, reads_not, asks_nothing, reads] =
            [&works, &reads_not, &asks_nothing, &reads].map(|(transfer, _)| transfer);
        let _works = [works, reads_not, reads].map(|transfer| transfer.begin_work());
        reads_not.wait();
        budget.pass(Duration::from_secs(8));
        budget.stop();
        reads.wait();
        budget.pass(Duration::from_secs(1));
        assert_eq!(are_cut([works, reads_not, asks_nothing, reads]), [false; 4]);
        reads.advance(1);
        reads.wait();
        budget.pass(Duration::from_secs(1));
        assert_eq!(
            are_cut([works, reads_not, asks_nothing, reads]),
            [false, true, true, false]
        );
    }

    #[tokio::test]
    async fn a_client_that_sends_no_more_is_worked_for_as_long_as_it_may_still_be_there() {
        let budget = budget(1 << 20);
        let [waits, reads, is_there] = [(); 3].map(|()| budget.open(Owner::default()));
        let [waits, reads, is_there] = [&waits, &reads, &is_there].map(|(transfer, _)| transfer);
        let _works = [waits, reads, is_there].map(|transfer| transfer.begin_work());
        waits.end();
        reads.end();
        budget.pass(END_PATIENCE - Duration::from_secs(1));
        reads.advance(1);
        budget.pass(Duration::from_secs(1));
        assert_eq!(are_cut([waits, reads, is_there]), [true, false, false]);
        budget.stop();
        budget.pass(Duration::from_secs(2));
        assert_eq!(are_cut([waits, reads, is_there]), [true, true, false]);
    }
}
