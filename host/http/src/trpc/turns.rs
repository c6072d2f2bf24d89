//! Turns of large batches of queries.
//!
//! The status of a batch depends on every answer in it, so all of them are made before the first byte is written. A
//! batch whose answers exceed [`SMALL`] takes a turn before it makes more, so that only a few large batches grow at the
//! same time and fit into the budget. Invariant: every wait ends, with a turn or with the refusal of [`too_many`]; a
//! turn that is free is given even while the host stops.

use std::{future::pending, net::IpAddr, sync::Arc, time::Duration};

use portico_model::error::Error;
use portico_model::refusal::Refusal;
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    throttle::Source,
};
use tokio::{select, time::timeout};

use crate::budget::Transfer;

/// A batch of at most this many bytes takes no turn.
pub(crate) const SMALL: usize = 256 << 10;

/// How many large batches grow at the same time.
const AT_ONCE: usize = 4;

/// How long a batch waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The turns of one router, which addresses take in rotation.
pub(crate) struct Turns(Arc<FairSemaphore<Option<Source>>>);

/// A turn, which lasts until the last answer of the batch is made.
pub(crate) type Turn = Permit<Option<Source>>;

impl Default for Turns {
    fn default() -> Self {
        Self(FairSemaphore::new(AT_ONCE))
    }
}

impl Turns {
    pub async fn take(&self, address: Option<IpAddr>, transfer: Option<&Transfer>) -> Result<Turn, Error> {
        wait_unless_stopping(self.0.acquire(address.map(Source::from)), transfer).await
    }
}

/// Waits for a permit. Refuses after [`LONGEST_WAIT`], or when the host stops and no permit is free.
async fn wait_unless_stopping<T>(
    permit: impl Future<Output = T>,
    transfer: Option<&Transfer>,
) -> Result<T, Error> {
    let stopping = async {
        match transfer {
            Some(transfer) => transfer.budget().stopping().await,
            None => pending().await,
        }
    };
    select! {
        biased;
        given = timeout(LONGEST_WAIT, permit) => given.map_err(|_| too_many()),
        () = stopping => Err(too_many()),
    }
}

/// The refusal of what waited for its turn in vain.
pub(crate) fn too_many() -> Error {
    Error::from(Refusal::TooManyAnswers).retry_after(LONGEST_WAIT.as_secs())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;

    use super::*;
    use crate::budget::{Owner, tests::budget};

    #[tokio::test]
    async fn who_waits_for_a_turn_is_refused_when_the_host_stops_and_who_need_not_wait_is_not() {
        let budget = budget(1 << 20);
        let (transfer, _cut) = budget.open(Owner::default());
        let turns = Turns::default();
        let mut taken = Vec::new();
        for _ in 1..AT_ONCE {
            taken.push(turns.take(None, Some(&transfer)).await.expect("a turn"));
        }
        budget.stop();
        taken.push(turns.take(None, Some(&transfer)).await.expect("the last turn"));
        assert!(turns.take(None, Some(&transfer)).await.is_err());
        let mut waits = pin!(turns.take(None, None));
        assert!(poll!(&mut waits).is_pending());
        taken.pop();
        assert!(waits.await.is_ok(), "a turn is free again");
    }
}
