//! A service whose component can be exchanged while it runs.
//!
//! Invariant: a request takes the service once, when it arrives, and keeps it until it ends: so one component makes all
//! calls of a batch, and every part of a call.

use std::{
    mem,
    sync::{Arc, PoisonError, RwLock},
};

use crate::service::Service;

/// The current service. Clones share it.
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

    /// Compiles and tests another component while the current one serves, and then switches to it: requests that
    /// arrive afterwards use it. Earlier requests end in the old one.
    ///
    /// Fails, and changes nothing, if this host cannot run the file as a component, if the component does not run,
    /// or if its procedures differ from those of the current one.
    pub async fn exchange(&self, component: Vec<u8>) -> anyhow::Result<()> {
        let new = self.service().with_component(component).await?;
        // The last request that uses the old service drops it, with its warm instances.
        let old = mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), new);
        drop(old);
        Ok(())
    }
}
