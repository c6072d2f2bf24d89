//! The sender of a request, and how long a check of their access holds.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::identity::Identity;

/// How long a check of access holds. A call that starts later than this after its check, because it waited for its
/// body, for a permit, for an instance or for other calls of its batch, is checked again. A call that starts sooner is
/// not checked again, and neither is one that then waits for storage (for up to 10 seconds).
const CHECK_HOLDS: Duration = Duration::from_secs(1);

/// Whether a check, or a look-up, at this moment still holds.
pub(crate) fn is_fresh(checked_at: Instant) -> bool {
    checked_at.elapsed() < CHECK_HOLDS
}

/// The sender of a request, as last looked up. The calls of a batch share it, so that those of a long batch look
/// the sender up once a second, and not each.
pub struct Sender(Mutex<(Arc<Identity>, Instant)>);

impl Sender {
    /// A sender who was looked up just now.
    pub fn new(identity: Arc<Identity>) -> Arc<Self> {
        Arc::new(Self(Mutex::new((identity, Instant::now()))))
    }

    /// The identity that was looked up last, and when.
    pub(crate) fn latest(&self) -> (Arc<Identity>, Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The sender was looked up again just now.
    pub(crate) fn renew(&self, identity: Arc<Identity>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (identity, Instant::now());
    }
}
