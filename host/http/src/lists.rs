//! Large lists, made one after the other.
//!
//! A list takes several times its size while it is made. Lists of [`LARGE_LIST`] bytes or more
//! therefore wait for a single permit, in rotation among users, and for room in the budget. How large
//! a list will be is estimated from the earlier answers of the same procedure.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portico_model::error::Error;
use portico_service::{
    fair_semaphore::{FairSemaphore, Permit},
    identity::Identity,
    procedures::Procedure,
    throttle::Source,
};
use portico_storage::SharedSnapshot;

use crate::outgoing::Outgoing;

/// Answers that hold a list are large from this size on, in bytes.
const LARGE_LIST: usize = 4 << 20;

/// The permit for large lists, and the procedures that answer them.
pub(crate) struct Lists {
    semaphore: Arc<FairSemaphore<u64>>,
    /// By procedure, the estimated size of its answers. It follows larger answers at once, and halves
    /// at most with each smaller one.
    sizes: Mutex<HashMap<String, usize>>,
    hasher: RandomState,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            semaphore: FairSemaphore::new(1),
            sizes: Mutex::default(),
            hasher: RandomState::new(),
        }
    }
}

/// An answer is being made while this exists.
pub(crate) struct List<'a> {
    lists: &'a Lists,
    procedure: &'a Procedure,
    _permit: Option<Permit<u64>>,
}

impl Lists {
    /// Whether answers of this procedure may be large lists; true before its first answer.
    pub fn may_be_large(&self, procedure: &Procedure) -> bool {
        procedure.output.holds_list() && procedure.just_reads() && {
            let sizes = self.sizes();
            let size = sizes.get(&procedure.name);
            size.is_none_or(|size| *size >= LARGE_LIST)
        }
    }

    /// Begins an answer of this procedure; one that may be a large list first waits for the permit.
    pub async fn begin<'a>(
        &'a self,
        outgoing: &Outgoing,
        procedure: &'a Procedure,
        identity: &Identity,
        snapshot: &SharedSnapshot,
    ) -> Result<List<'a>, Error> {
        let mut permit = None;
        if self.may_be_large(procedure) {
            snapshot.let_go();
            let address = identity.address.map(Source::from);
            let user = self.hasher.hash_one((identity.user_id(), address));
            permit = Some(outgoing.permit(&self.semaphore, user).await?);
            // The procedure's first answer may have been made meanwhile, and been small.
            if self.may_be_large(procedure) {
                outgoing.wait_for_room().await;
            } else {
                permit = None;
            }
        }
        Ok(List {
            lists: self,
            procedure,
            _permit: permit,
        })
    }

    fn sizes(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List<'_> {
    /// Ends it with an answer of this size.
    pub fn end(self, bytes: usize) {
        if !self.procedure.output.holds_list() {
            return;
        }
        let mut sizes = self.lists.sizes();
        match sizes.get_mut(&self.procedure.name) {
            Some(size) => *size = bytes.max(*size / 2),
            None => {
                sizes.insert(self.procedure.name.clone(), bytes);
            }
        }
    }
}
