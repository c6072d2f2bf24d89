//! When a batch of reads may make its next answers.
//!
//! A batch is answered as a whole: its status depends on every answer, so all of them wait in memory
//! before the first byte is written. Only the making can be held back. Invariants:
//! - At most [`READING`] batches read at once, so that single calls find a free instance in the
//!   sandbox.
//! - While the budget is pressed ([`Outgoing::is_pressed`](crate::outgoing::Outgoing::is_pressed)), a
//!   batch goes on without a finishing permit only as long as its answers are small together, one call
//!   at a time. Beyond that it waits for one of [`FINISHING`] permits, in rotation among addresses (and at
//!   each address between large and small batches), and keeps it until its last answer is made. A batch
//!   of more than [`FEW`] calls waits before its inputs are read, and after everything for which the
//!   request as a whole may be refused.
//! - A streamed batch makes no further answers while more than [`WINDOW`] bytes of it wait for its
//!   client. It holds a permit for one stretch of calls at a time, so a client that stops reading
//!   holds none.
//! - A batch that waits here holds nothing that others may need: it releases its snapshot first.

use std::{
    net::IpAddr,
    pin::pin,
    sync::{Arc, OnceLock},
    task::Poll,
};

use futures_util::poll;
use portico_model::error::Error;
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    throttle::Source,
};
use portico_storage::SharedSnapshot;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::{
    outgoing::{Connection, Held, LARGE},
    pressure::too_many,
};

/// Batch reads that run at once.
const READING: usize = 64;

/// Batches at once whose answers are finished while the budget is pressed.
const FINISHING: usize = 4;

/// A batch of at most this many calls begins without a permit.
const FEW: usize = 16;

/// The memory that a call takes before it is made, its input included: roughly, in bytes.
const CALL: usize = 1 << 10;

/// More calls than this are counted as this many. The default limit refuses them anyway.
const MOST_CALLS: usize = 1 << 10;

/// A streamed batch goes on when at most this many bytes of it wait for the client.
const WINDOW: usize = 256 << 10;

/// Batches that wait in one queue: from one address, and of more than [`FEW`] calls or not. A client that
/// sends large batches does not hold up small ones from its address, and sizes win it no more than one
/// further place in the rotation.
type Group = (Option<Source>, bool);

/// The permits that the batches of one router share.
#[derive(Clone)]
pub(crate) struct BatchPermits {
    reading: Arc<FairSemaphore<Option<Source>>>,
    finishing: Arc<FairSemaphore<Group>>,
}

impl Default for BatchPermits {
    fn default() -> Self {
        Self {
            reading: FairSemaphore::new(READING),
            finishing: FairSemaphore::new(FINISHING),
        }
    }
}

/// One batch and what it holds.
pub(crate) struct Gate {
    permits: BatchPermits,
    connection: Arc<Connection>,
    group: Group,
    streams: bool,
    /// Counts the calls themselves.
    calls: Held,
    /// Kept until the last answer is made; never set for a stream.
    finishing: OnceLock<Permit<Group>>,
    /// Locked by the one call that goes on under pressure without the permit above, or waits for one.
    /// True once that wait has failed: the other calls are then refused without waiting.
    has_given_up: Arc<Mutex<bool>>,
}

/// Calls of a batch may be made, one after the other, while this exists.
pub(crate) struct Pass {
    _reading: Permit<Option<Source>>,
    _finishing: Option<Permit<Group>>,
    _alone: Option<OwnedMutexGuard<bool>>,
}

impl Gate {
    /// Whether a batch of this many calls waits for a permit before it begins.
    pub fn waits(connection: &Connection, calls: usize) -> bool {
        calls > FEW && connection.outgoing().is_pressed()
    }

    /// Begins a batch of this many calls. If it [waits](Self::waits), it does so for a permit.
    pub async fn enter(
        permits: &BatchPermits,
        connection: &Arc<Connection>,
        address: Option<IpAddr>,
        calls: usize,
        streams: bool,
        waits: bool,
    ) -> Result<Self, Error> {
        let group = (address.map(Source::from), calls > FEW);
        let mut permit = None;
        if waits {
            permit = Some(finishing_permit(permits, connection, group).await?);
        }
        let calls = connection.hold(calls.min(MOST_CALLS) * CALL);
        Ok(Self {
            permits: permits.clone(),
            connection: connection.clone(),
            group,
            streams,
            calls,
            finishing: permit
                .filter(|_| !streams)
                .map(OnceLock::from)
                .unwrap_or_default(),
            has_given_up: Arc::default(),
        })
    }

    /// Waits until the next calls may be made.
    pub async fn pass(&self, snapshot: &SharedSnapshot) -> Result<Pass, Error> {
        if self.is_ahead_of_client() {
            snapshot.release();
            self.connection.drained(self.calls.bytes() + WINDOW).await;
        }
        let (mut permit, mut alone) = (None, None);
        if !self.may_go_on() {
            snapshot.release();
            let mut has_given_up = self.has_given_up.clone().lock_owned().await;
            // Another call of the batch may have obtained the permit, or given up, meanwhile.
            if self.finishing.get().is_none() {
                if *has_given_up {
                    return Err(too_many());
                }
                if self.unread() >= LARGE {
                    let new = finishing_permit(&self.permits, &self.connection, self.group).await;
                    permit = Some(new.inspect_err(|_| *has_given_up = true)?);
                }
                if self.streams || permit.is_none() {
                    alone = Some(has_given_up);
                } else if let Some(permit) = permit.take() {
                    // The lock is held, and nothing was set before.
                    let _ = self.finishing.set(permit);
                }
            }
        }
        let mut reading = pin!(self.permits.reading.acquire(self.group.0));
        let reading = match poll!(&mut reading) {
            Poll::Ready(reading) => reading,
            Poll::Pending => {
                snapshot.release();
                reading.await
            }
        };
        Ok(Pass {
            _reading: reading,
            _finishing: permit,
            _alone: alone,
        })
    }

    /// Whether the next call may follow without another [`pass`](Self::pass).
    pub fn may_go_on(&self) -> bool {
        let has_permit = || self.finishing.get().is_some();
        !self.is_ahead_of_client() && (has_permit() || !self.connection.outgoing().is_pressed())
    }

    /// Whether this is a stream whose client has yet to read enough of it.
    fn is_ahead_of_client(&self) -> bool {
        self.streams && self.unread() > WINDOW
    }

    /// The bytes of its answers that wait for the client.
    fn unread(&self) -> usize {
        self.connection.held().saturating_sub(self.calls.bytes())
    }
}

/// Waits for a permit, and then for room.
async fn finishing_permit(
    permits: &BatchPermits,
    connection: &Connection,
    group: Group,
) -> Result<Permit<Group>, Error> {
    let outgoing = connection.outgoing();
    let permit = outgoing.permit(&permits.finishing, group).await?;
    outgoing.unless_stopping(outgoing.wait_for_room()).await?;
    Ok(permit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::{Outgoing, STALLED};

    /// Batches that share permits and a budget of this many bytes.
    fn router(budget: usize) -> (BatchPermits, Arc<Outgoing>) {
        (BatchPermits::default(), Outgoing::new(budget))
    }

    /// A batch on a connection of its own, and answers of this many bytes that wait there.
    async fn batch(
        (permits, outgoing): &(BatchPermits, Arc<Outgoing>),
        bytes: usize,
        streams: bool,
    ) -> (Arc<Gate>, Held) {
        let connection = outgoing.connect();
        let gate = Gate::enter(permits, &connection, None, 2, streams, false).await;
        (
            Arc::new(gate.unwrap_or_else(|error| panic!("{}", error.message))),
            connection.hold(bytes),
        )
    }

    #[tokio::test]
    async fn under_pressure_four_large_batches_go_on_and_all_small_ones() {
        let router = router(1 << 20);
        let outgoing = &router.1;
        let none = SharedSnapshot::default();
        let mut batches = Vec::new();
        for _ in 0..FINISHING + 1 {
            batches.push(batch(&router, LARGE, false).await);
        }
        for (gate, _) in &batches {
            assert!(
                gate.pass(&none).await.is_ok() && gate.may_go_on(),
                "there is no pressure"
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
            let (small, _held) = batch(&router, LARGE - 1, false).await;
            assert!(small.pass(&none).await.is_ok());
        }
        batches.pop();
        assert!(waits.await.is_ok(), "a permit is free again");
    }

    #[tokio::test]
    async fn a_batch_that_waits_is_refused_when_the_host_stops() {
        let router = router(1 << 20);
        let outgoing = &router.1;
        let none = SharedSnapshot::default();
        let _others = outgoing.connect().hold(512 << 10);
        let mut batches = Vec::new();
        for _ in 0..FINISHING {
            let (gate, held) = batch(&router, LARGE, false).await;
            assert!(gate.pass(&none).await.is_ok());
            batches.push((gate, held));
        }
        let (last, _held) = batch(&router, LARGE, false).await;
        let mut waits = pin!(last.pass(&none));
        assert!(poll!(&mut waits).is_pending());
        outgoing.stop();
        assert!(matches!(poll!(&mut waits), Poll::Ready(Err(_))));
    }

    #[tokio::test]
    async fn a_batch_that_need_not_wait_is_finished_when_the_host_stops() {
        let router = router(1 << 20);
        let outgoing = &router.1;
        let _others = outgoing.connect().hold(512 << 10);
        let (small, _held) = batch(&router, LARGE, false).await;
        outgoing.stop();
        assert!(small.pass(&SharedSnapshot::default()).await.is_ok());
        let many = Gate::enter(&router.0, &outgoing.connect(), None, FEW + 1, false, true).await;
        assert!(many.is_ok(), "permits are free");
    }

    #[tokio::test]
    async fn a_streamed_batch_waits_for_its_client() {
        let router = router(64 << 20);
        let none = SharedSnapshot::default();
        let (gate, held) = batch(&router, WINDOW + 1, true).await;
        assert!(!gate.may_go_on());
        let mut waits = pin!(gate.pass(&none));
        assert!(poll!(&mut waits).is_pending());
        drop(held);
        assert!(waits.await.is_ok() && gate.may_go_on());
    }

    #[tokio::test]
    async fn a_batch_with_a_permit_waits_for_stalled_clients_but_not_for_readers() {
        let router = router(1 << 20);
        let outgoing = &router.1;
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
            let permit = pin!(finishing_permit(&router.0, &reader, (None, false)));
            assert!(poll!(permit).is_ready(), "nothing can be closed");
        }
    }

    #[tokio::test]
    async fn a_large_batch_begins_when_a_permit_is_free() {
        let router = router(1 << 20);
        let outgoing = &router.1;
        let _others = outgoing.connect().hold(512 << 10);
        let connection = outgoing.connect();
        let begin = async |calls| {
            let waits = Gate::waits(&connection, calls);
            let gate = Gate::enter(&router.0, &connection, None, calls, false, waits);
            gate.await.ok()
        };
        let mut large = Vec::new();
        for _ in 0..FINISHING {
            large.push(begin(FEW + 1).await.expect("a permit"));
        }
        assert!(begin(FEW).await.is_some());
        let mut waits = pin!(begin(FEW + 1));
        assert!(poll!(&mut waits).is_pending());
        large.pop();
        assert!(waits.await.is_some());
    }
}
