//! A service whose component can be exchanged while it serves.
//!
//! Invariant: a request takes the service once, when it comes, and keeps it to its end: all calls
//! of a batch, and all that one call does, meet one component.

use std::{
    mem,
    sync::{Arc, PoisonError, RwLock},
};

use crate::service::Service;

/// The service as it is now.
#[derive(Clone)]
pub struct HotSwap(Arc<RwLock<Arc<Service>>>);

impl From<Arc<Service>> for HotSwap {
    fn from(service: Arc<Service>) -> Self {
        Self(Arc::new(RwLock::new(service)))
    }
}

impl HotSwap {
    /// The service, for one request.
    pub fn service(&self) -> Arc<Service> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tries another component beside the one that serves, and has it serve from the next request
    /// on. What runs in the old one ends there. It is compiled beside the calls.
    ///
    /// Fails, and changes nothing, if the file is no component that this host can run, if the
    /// component does not run, or if its procedures are not those that are served now.
    pub async fn exchange(&self, component: Vec<u8>) -> anyhow::Result<()> {
        let new = self.service().with_component(component).await?;
        // The old one ends with the last request that has it; with it, its instances that wait.
        let old = mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), new);
        drop(old);
        Ok(())
    }
}
