//! The ids of the records that a driver creates by itself.

use std::sync::Arc;

use crate::secrets::{Secrets, SystemRandom};
use portico_model::time::{Clock, SystemClock};

/// Makes the ids of the records that a driver creates by itself.
#[derive(Clone)]
pub struct Ids {
    secrets: Secrets,
    clock: Arc<dyn Clock>,
}

impl Ids {
    /// Makes ids from these random bytes and this time.
    pub fn new(secrets: Secrets, clock: Arc<dyn Clock>) -> Self {
        Self { secrets, clock }
    }

    /// A new id.
    pub fn next(&self) -> String {
        self.secrets.id(self.clock.now())
    }
}

/// Makes ids from the machine's random numbers and its clock.
impl Default for Ids {
    fn default() -> Self {
        Self::new(Secrets::new(Arc::new(SystemRandom)), Arc::new(SystemClock))
    }
}
