//! When a batch of reads may make its next answers.
//!
//! A batch is answered as a whole: its status depends on every answer, so all of them wait in memory
//! before the first byte is written. Only the making can be held back. Invariants:
//! - So many batch reads run at once ([`READING`]) that calls which are no batch find a place in the
//!   sandbox beside them.
//! - While the budget is pressed ([`Outgoing::is_pressed`]), a batch goes on without a turn only as
//!   long as its answers are small together, one call at a time. Beyond that it waits for one of
//!   [`FINISHING`] turns, in rotation among sizes and addresses, and keeps it until its last answer
//!   is made. A batch of more than [`FEW`] calls waits before its inputs are read.
//! - A batch that is streamed makes no answers while its client has not taken those before
//!   ([`WINDOW`]). Its turns are for one stretch of calls: a client that stops reading keeps none.
//! - Lists that are [`LARGE_LIST`] or more are made one after the other, in rotation among users, when
//!   there is room for one ([`Lists`]): one takes several times its size while it is made.
//! - Nothing that others may need is held while a batch waits here: its snapshot is let go of.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    pin::pin,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::poll;
use portico_model::error::{Code, Error};
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    identity::Identity,
    procedures::Procedure,
    throttle::Source,
};
use portico_storage::SharedSnapshot;
use tokio::{
    select,
    sync::{Mutex, OwnedMutexGuard},
    time::{Instant, sleep, timeout},
};

use super::outgoing::{Connection, Held, LARGE, Outgoing, STALLED};

/// Batch reads that run at once.
const READING: usize = 64;

/// Batches at once whose answers are finished while the budget is pressed.
const FINISHING: usize = 4;

/// A batch of no more calls is always begun.
const FEW: usize = 16;

/// What a call that waits to be made takes in memory, its input included: about so many bytes.
const CALL: usize = 1 << 10;

/// A path of more calls than this is refused anyway by the default limit, or counted as so many.
const MOST_CALLS: usize = 1 << 10;

/// A streamed batch goes on when fewer bytes of it wait for the client.
const WINDOW: usize = 256 << 10;

/// From this size on, in bytes, an answer with a list in it is a large one.
const LARGE_LIST: usize = 4 << 20;

/// How long a batch, or a large list, waits for a turn.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long one that has a turn waits for room at most: connections that stalled have been closed then.
const ROOM_WAIT: Duration = STALLED.saturating_add(Duration::from_secs(1));

/// How long it waits where the sockets are not ours, so that it is not known which clients read.
const BLIND_WAIT: Duration = Duration::from_secs(2);

/// The turns of a process's batches.
pub(super) struct GateTurns {
    reading: Arc<FairSemaphore<Option<Source>>>,
    finishing: Arc<FairSemaphore<Group>>,
    lists: Lists,
}

/// Which procedures answer large lists, and the turn to make one.
struct Lists {
    turn: Arc<FairSemaphore<u64>>,
    /// By procedure, about how large its answers are: half of what it was after each that is smaller.
    sizes: RwLock<HashMap<String, AtomicUsize>>,
    hasher: RandomState,
}

/// An answer with a list in it is made as long as this exists.
pub(super) struct List<'a> {
    outgoing: &'a Outgoing,
    procedure: &'a Procedure,
    _turn: Option<Permit<u64>>,
}

impl Outgoing {
    /// Whether answers of this procedure may be large lists. One that has not answered yet may.
    pub fn answers_large_list(&self, procedure: &Procedure) -> bool {
        procedure.output.holds_list() && procedure.just_reads() && {
            let sizes = self
                .turns
                .lists
                .sizes
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            let size = sizes.get(&procedure.name);
            size.is_none_or(|size| size.load(Ordering::Relaxed) >= LARGE_LIST)
        }
    }

    /// Begins an answer of this procedure, when it is its turn if it may be a large list.
    pub async fn begin<'a>(
        &'a self,
        procedure: &'a Procedure,
        identity: &Identity,
        snapshot: &SharedSnapshot,
    ) -> Result<List<'a>, Error> {
        let mut turn = None;
        if self.answers_large_list(procedure) {
            snapshot.let_go();
            let lists = &self.turns.lists;
            let user = identity.user_id();
            let address = identity.address.map(Source::from);
            let user = lists.hasher.hash_one((user, address));
            let taken = timeout(LONGEST_WAIT, lists.turn.take(user));
            let taken = select! {
                biased;
                () = self.stopping() => return Err(too_many()),
                taken = taken => taken,
            };
            turn = Some(taken.map_err(|_| too_many())?);
            // It was waited for behind the first answer, perhaps, which was small.
            if self.answers_large_list(procedure) {
                self.wait_for_room().await;
            } else {
                turn = None;
            }
        }
        Ok(List {
            outgoing: self,
            procedure,
            _turn: turn,
        })
    }

    /// Waits until there is room, as long as closing connections that stall may make some. When clients
    /// that read hold all of it, those that have a turn go on, up to the hard limit.
    async fn wait_for_room(&self) {
        let longest = if self.sees_sockets() {
            ROOM_WAIT
        } else {
            BLIND_WAIT
        };
        let until = Instant::now() + longest;
        while !self.make_room() && !self.is_held_by_readers() && Instant::now() < until {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl List<'_> {
    /// Ends it with an answer of this size.
    pub fn end(self, bytes: usize) {
        if !self.procedure.output.holds_list() {
            return;
        }
        let sizes = &self.outgoing.turns.lists.sizes;
        let is_known = {
            let sizes = sizes.read().unwrap_or_else(PoisonError::into_inner);
            sizes.get(&self.procedure.name).is_some_and(|size| {
                let before = size.load(Ordering::Relaxed);
                if bytes != before {
                    size.store(bytes.max(before / 2), Ordering::Relaxed);
                }
                true
            })
        };
        if !is_known {
            let mut sizes = sizes.write().unwrap_or_else(PoisonError::into_inner);
            sizes.insert(self.procedure.name.clone(), bytes.into());
        }
    }
}

/// Batches that wait for each other: of about one size, from one address.
type Group = (u32, Option<Source>);

impl Default for GateTurns {
    fn default() -> Self {
        Self {
            reading: FairSemaphore::new(READING),
            finishing: FairSemaphore::new(FINISHING),
            lists: Lists {
                turn: FairSemaphore::new(1),
                sizes: RwLock::default(),
                hasher: RandomState::new(),
            },
        }
    }
}

/// One batch, as far as it waits for others.
pub(super) struct Gate {
    connection: Arc<Connection>,
    group: Group,
    streams: bool,
    /// What the calls themselves take.
    calls: Held,
    finishing: Arc<Mutex<Finishing>>,
    has_turn: AtomicBool,
}

enum Finishing {
    NotYet,
    Turn { _turn: Permit<Group> },
    GivenUp,
}

/// Some calls of a batch may be made, one after the other, as long as this exists.
pub(super) struct Pass {
    _place: Permit<Option<Source>>,
    _turn: Option<Permit<Group>>,
    _alone: Option<OwnedMutexGuard<Finishing>>,
}

impl Gate {
    /// Begins a batch of so many calls, when there is room for it.
    pub async fn enter(
        connection: &Arc<Connection>,
        address: Option<IpAddr>,
        calls: usize,
        streams: bool,
    ) -> Result<Self, Error> {
        let group = (calls.max(1).ilog2(), address.map(Source::from));
        let mut turn = None;
        if calls > FEW && connection.outgoing().is_pressed() {
            turn = Some(finishing_turn(connection, group).await?);
        }
        let calls = connection.hold(calls.min(MOST_CALLS) * CALL);
        if streams {
            turn = None;
        }
        Ok(Self {
            connection: connection.clone(),
            group,
            streams,
            calls,
            has_turn: AtomicBool::new(turn.is_some()),
            finishing: Arc::new(Mutex::new(match turn {
                Some(turn) => Finishing::Turn { _turn: turn },
                None => Finishing::NotYet,
            })),
        })
    }

    /// Waits until the next calls may be made.
    pub async fn pass(&self, snapshot: &SharedSnapshot) -> Result<Pass, Error> {
        if self.streams && self.waiting() > WINDOW {
            snapshot.let_go();
            self.connection.drained(self.calls.bytes() + WINDOW).await;
        }
        let (mut turn, mut alone) = (None, None);
        if !self.may_go_on() {
            snapshot.let_go();
            let mut finishing = self.finishing.clone().lock_owned().await;
            match &*finishing {
                Finishing::Turn { .. } => {}
                Finishing::GivenUp => return Err(too_many()),
                Finishing::NotYet if self.waiting() < LARGE => alone = Some(finishing),
                Finishing::NotYet => match finishing_turn(&self.connection, self.group).await {
                    Err(error) => {
                        *finishing = Finishing::GivenUp;
                        return Err(error);
                    }
                    Ok(new) if self.streams => {
                        turn = Some(new);
                        alone = Some(finishing);
                    }
                    Ok(new) => {
                        *finishing = Finishing::Turn { _turn: new };
                        self.has_turn.store(true, Ordering::Relaxed);
                    }
                },
            }
        }
        let mut place = pin!(self.connection.outgoing().turns.reading.take(self.group.1));
        let place = match poll!(&mut place) {
            std::task::Poll::Ready(place) => place,
            std::task::Poll::Pending => {
                snapshot.let_go();
                place.await
            }
        };
        Ok(Pass {
            _place: place,
            _turn: turn,
            _alone: alone,
        })
    }

    /// Whether the next call may follow without another look.
    pub fn may_go_on(&self) -> bool {
        if self.streams && self.waiting() > WINDOW {
            return false;
        }
        self.has_turn.load(Ordering::Relaxed) || !self.connection.outgoing().is_pressed()
    }

    /// Its answers that wait for the client, in bytes.
    fn waiting(&self) -> usize {
        self.connection.held().saturating_sub(self.calls.bytes())
    }
}

/// Waits for a turn, and then for room.
async fn finishing_turn(connection: &Connection, group: Group) -> Result<Permit<Group>, Error> {
    let outgoing = connection.outgoing();
    let turn = async {
        let turn = timeout(LONGEST_WAIT, outgoing.turns.finishing.take(group));
        let turn = turn.await.map_err(|_| too_many())?;
        outgoing.wait_for_room().await;
        Ok(turn)
    };
    // Those that wait behind clients that do not read would keep the host from stopping.
    select! {
        biased;
        () = outgoing.stopping() => Err(too_many()),
        turn = turn => turn,
    }
}

fn too_many() -> Error {
    let message = "Too many answers wait for clients to read them; try again in a moment";
    Error::new(Code::ServiceUnavailable, message).retry_after(LONGEST_WAIT.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch on a connection of its own that has so many bytes of answers, and these.
    async fn batch(outgoing: &Arc<Outgoing>, bytes: usize, streams: bool) -> (Arc<Gate>, Held) {
        let connection = outgoing.connect();
        let gate = Gate::enter(&connection, None, 2, streams).await;
        (
            Arc::new(gate.unwrap_or_else(|error| panic!("{}", error.message))),
            connection.hold(bytes),
        )
    }

    #[tokio::test]
    async fn under_pressure_four_large_batches_go_on_and_all_small_ones() {
        let outgoing = Outgoing::new(1 << 20);
        let none = SharedSnapshot::default();
        let mut batches = Vec::new();
        for _ in 0..FINISHING + 1 {
            batches.push(batch(&outgoing, LARGE, false).await);
        }
        for (gate, _) in &batches {
            assert!(
                gate.pass(&none).await.is_ok() && gate.may_go_on(),
                "nothing presses"
            );
        }
        let _others = outgoing.connect().hold(512 << 10);
        for (gate, _) in &batches[..FINISHING] {
            assert!(!gate.may_go_on() && gate.pass(&none).await.is_ok() && gate.may_go_on());
        }
        let last = batches.pop().expect("one more");
        let mut waits = pin!(last.0.pass(&none));
        assert!(poll!(&mut waits).is_pending());
        for _ in 0..2 * FINISHING {
            let (small, _held) = batch(&outgoing, LARGE - 1, false).await;
            assert!(small.pass(&none).await.is_ok());
        }
        batches.pop();
        assert!(waits.await.is_ok(), "a turn has come back");
    }

    #[tokio::test]
    async fn what_waits_for_a_turn_is_refused_when_the_host_stops() {
        let outgoing = Outgoing::new(1 << 20);
        let none = SharedSnapshot::default();
        let _others = outgoing.connect().hold(512 << 10);
        let mut batches = Vec::new();
        for _ in 0..FINISHING {
            let (gate, held) = batch(&outgoing, LARGE, false).await;
            assert!(gate.pass(&none).await.is_ok());
            batches.push((gate, held));
        }
        let (last, _held) = batch(&outgoing, LARGE, false).await;
        let mut waits = pin!(last.pass(&none));
        assert!(poll!(&mut waits).is_pending());
        outgoing.stop();
        assert!(matches!(poll!(&mut waits), std::task::Poll::Ready(Err(_))));
    }

    #[tokio::test]
    async fn a_streamed_batch_waits_for_its_client() {
        let outgoing = Outgoing::new(64 << 20);
        let none = SharedSnapshot::default();
        let (gate, held) = batch(&outgoing, WINDOW + 1, true).await;
        assert!(!gate.may_go_on());
        let mut waits = pin!(gate.pass(&none));
        assert!(poll!(&mut waits).is_pending());
        drop(held);
        assert!(waits.await.is_ok() && gate.may_go_on());
    }

    #[tokio::test]
    async fn who_has_a_turn_waits_for_clients_that_stall_and_not_for_one_that_reads() {
        let outgoing = Outgoing::new(1 << 20);
        let [reader, silent] = [(); 2].map(|()| outgoing.connect());
        let held = silent.hold(1 << 20);
        silent.block();
        let mut waits = Box::pin(outgoing.wait_for_room());
        assert!(poll!(&mut waits).is_pending(), "it may be closed soon");
        outgoing.pass(STALLED);
        waits.await;
        assert!(silent.is_ended());
        drop(held);
        let _held = reader.hold(1 << 20);
        reader.block();
        reader.unblock();
        reader.block();
        for _ in 0..FINISHING + 1 {
            let turn = pin!(finishing_turn(&reader, (0, None)));
            assert!(poll!(turn).is_ready(), "nothing can be closed");
        }
    }

    #[tokio::test]
    async fn a_large_batch_is_begun_when_there_is_a_turn() {
        let outgoing = Outgoing::new(1 << 20);
        let _others = outgoing.connect().hold(512 << 10);
        let connection = outgoing.connect();
        let begun = async |calls| Gate::enter(&connection, None, calls, false).await.ok();
        let mut large = Vec::new();
        for _ in 0..FINISHING {
            large.push(begun(FEW + 1).await.expect("a turn"));
        }
        assert!(begun(FEW).await.is_some());
        let mut waits = pin!(begun(FEW + 1));
        assert!(poll!(&mut waits).is_pending());
        large.pop();
        assert!(waits.await.is_some());
    }
}
