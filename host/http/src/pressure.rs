//! Waiting while many answers wait for clients to read them.
//!
//! Invariants:
//! - Every wait ends: with a permit, with room, or with the refusal of [`too_many`].
//! - Waits for permits end when the host stops: clients that do not read would hold it up. A permit that
//!   is free is given even then.

use std::{sync::Arc, time::Duration};

use portico_model::error::{Code, Error};
use portico_service::fair_semaphore::{FairSemaphore, Permit};
use tokio::{
    select,
    time::{Instant, sleep, timeout},
};

use crate::outgoing::{Outgoing, STALLED};

/// How long a batch, or a large list, waits for a permit.
const PERMIT_WAIT: Duration = Duration::from_secs(30);

/// The longest wait for room: connections that stalled have been closed by then.
const ROOM_WAIT: Duration = STALLED.saturating_add(Duration::from_secs(1));

/// The same where the sockets are not ours, so that stalled clients are not known.
const BLIND_WAIT: Duration = Duration::from_secs(2);

/// How often a wait for room looks again.
const LOOK: Duration = Duration::from_millis(20);

impl Outgoing {
    /// Waits for a permit. Refuses after [`PERMIT_WAIT`], or when the host stops and none is free.
    pub async fn permit<K: Ord + Copy>(
        &self,
        semaphore: &Arc<FairSemaphore<K>>,
        source: K,
    ) -> Result<Permit<K>, Error> {
        let permit = timeout(PERMIT_WAIT, semaphore.acquire(source));
        self.unless_stopping(permit).await?.map_err(|_| too_many())
    }

    /// Waits for this; refuses when the host stops, unless it is ready by then.
    pub async fn unless_stopping<T>(&self, waiting: impl Future<Output = T>) -> Result<T, Error> {
        select! {
            biased;
            done = waiting => Ok(done),
            () = self.stopping() => Err(too_many()),
        }
    }

    /// Waits for room as long as closing stalled connections may make some. When clients that read
    /// hold the whole budget, the holder of a permit goes on, up to the hard limit.
    pub async fn wait_for_room(&self) {
        let longest = if self.sees_sockets() {
            ROOM_WAIT
        } else {
            BLIND_WAIT
        };
        let until = Instant::now() + longest;
        while !self.make_room() && !self.is_held_by_readers() && Instant::now() < until {
            sleep(LOOK).await;
        }
    }
}

/// The refusal of a call whose answer would have to wait too long.
pub(crate) fn too_many() -> Error {
    let message = "Too many answers wait for clients to read them; try again in a moment";
    Error::new(Code::ServiceUnavailable, message).retry_after(PERMIT_WAIT.as_secs())
}
