//! Large lists, made one after the other.
//!
//! A list takes several times its size while it is made. Lists of [`LARGE_LIST`] bytes or more
//! therefore wait for a single permit, in rotation among users. The service
//! [estimates](portico_service::lists) how large a list will be. Invariant: a call whose input bounds its
//! answer below [`LARGE_LIST`] never waits, whatever others have asked for.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use portico_model::error::Error;
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    identity::Identity,
    lists::Lists,
    procedures::Procedure,
    throttle::Source,
};
use portico_storage::SharedSnapshot;
use serde_json::Value;

use crate::{budget::Transfer, trpc::turns::wait_unless_stopping};

/// Answers that hold a list are large from this size on, in bytes.
const LARGE_LIST: usize = 4 << 20;

/// The permit for large lists.
pub(crate) struct LargeLists {
    semaphore: Arc<FairSemaphore<u64>>,
    hasher: RandomState,
}

/// The permit of a large list, held until its answer is counted among those that are sent; none for other answers.
pub(crate) type ListPermit = Option<Permit<u64>>;

impl Default for LargeLists {
    fn default() -> Self {
        Self {
            semaphore: FairSemaphore::new(1),
            hasher: RandomState::new(),
        }
    }
}

/// Whether the answer of this call may be a large list.
pub(crate) fn may_be_large(lists: &Lists, procedure: &Procedure, input: Option<&Value>) -> bool {
    lists.size(procedure, input) >= LARGE_LIST
}

impl LargeLists {
    /// Before an answer is made: waits for the permit if it may be a large list.
    pub async fn wait(
        &self,
        is_large: impl Fn() -> bool,
        transfer: Option<&Transfer>,
        identity: &Identity,
        snapshot: &SharedSnapshot,
    ) -> Result<ListPermit, Error> {
        if !is_large() {
            return Ok(None);
        }
        snapshot.release();
        let address = identity.address.map(Source::from);
        let user = self.hasher.hash_one((identity.user_id(), address));
        let permit = wait_unless_stopping(self.semaphore.acquire(user), transfer).await?;
        // The procedure's first answer may have been made meanwhile, and been small.
        if !is_large() {
            return Ok(None);
        }
        Ok(Some(permit))
    }
}
