//! What the reads of one request have in common.
//!
//! Whoever answers a request that only reads has a [`Snapshot`] for so long, and hands out
//! [`SharedSnapshot`]s of it in the contexts of its transactions. A driver may keep in it what it
//! has read with, for the next read: that one need not begin anew, and sees the same state. It may
//! as well keep nothing. Invariants:
//! - What is kept is used by one transaction at a time, and only by those of this request.
//! - Nothing is kept while the request waits for what others hold, nor when it begins to write, nor
//!   after its snapshot was dropped, wherever shared ones still lie about.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What one request has in common, for as long as it is there.
pub struct Snapshot(Arc<Mutex<Slot>>);

struct Slot {
    kept: Option<Box<dyn Any + Send>>,
    takes_more: bool,
}

impl Snapshot {
    /// What goes into the contexts of the request's transactions.
    pub fn share(&self) -> SharedSnapshot {
        SharedSnapshot(Some(self.0.clone()))
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Slot {
            kept: None,
            takes_more: true,
        })))
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let shared = self.share();
        shared.keep_no_more();
        shared.let_go();
    }
}

/// A request's snapshot as its transactions have it; by default there is none, and each begins anew.
#[derive(Clone, Default)]
pub struct SharedSnapshot(Option<Arc<Mutex<Slot>>>);

impl SharedSnapshot {
    /// That of a request that may have one.
    pub fn of(snapshot: Option<&Snapshot>) -> Self {
        snapshot.map(Snapshot::share).unwrap_or_default()
    }

    /// What the transaction before has read with, for a driver that keeps this type.
    pub fn take<T: Send + 'static>(&self) -> Option<T> {
        let kept = self.slot()?.kept.take();
        kept?.downcast().ok().map(|kept| *kept)
    }

    /// Keeps it for the next transaction, if there may be one and nothing else is kept; drops it
    /// otherwise.
    pub fn keep<T: Send + 'static>(&self, kept: T) {
        if let Some(mut slot) = self.slot()
            && slot.takes_more
            && slot.kept.is_none()
        {
            slot.kept = Some(Box::new(kept));
        }
    }

    /// The next transaction is the last that may use what is kept.
    pub fn keep_no_more(&self) {
        if let Some(mut slot) = self.slot() {
            slot.takes_more = false;
        }
    }

    /// Lets go of what is kept: the next transaction begins anew, and sees what was written meanwhile.
    /// Before every wait for what others may hold, and before every write.
    pub fn let_go(&self) {
        // Others should not wait for the lock until it is dropped.
        let _kept = self.slot().and_then(|mut slot| slot.kept.take());
    }

    fn slot(&self) -> Option<MutexGuard<'_, Slot>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_once() {
        let snapshot = Snapshot::default();
        snapshot.share().keep(1_u8);
        assert_eq!(snapshot.share().take::<u8>(), Some(1));
        assert_eq!(snapshot.share().take::<u8>(), None);
    }

    #[test]
    fn another_drivers_is_nothing_to_this_one() {
        let snapshot = Snapshot::default();
        snapshot.share().keep(1_u8);
        assert_eq!(snapshot.share().take::<u16>(), None);
    }

    #[test]
    fn nothing_is_kept_in_none_nor_after_the_end() {
        let kept = Arc::new(());
        SharedSnapshot::default().keep(kept.clone());
        let snapshot = Snapshot::default();
        let shared = snapshot.share();
        shared.keep(kept.clone());
        drop(snapshot);
        assert_eq!(Arc::strong_count(&kept), 1);
        shared.keep(kept.clone());
        assert_eq!(Arc::strong_count(&kept), 1);
        assert!(shared.take::<Arc<()>>().is_none());
    }

    #[test]
    fn the_last_that_is_kept_may_still_be_taken() {
        let snapshot = Snapshot::default();
        let shared = snapshot.share();
        shared.keep(1_u8);
        shared.keep_no_more();
        assert_eq!(shared.take::<u8>(), Some(1));
        shared.keep(1_u8);
        assert_eq!(shared.take::<u8>(), None);
    }

    #[test]
    fn what_is_let_go_makes_room_for_the_next() {
        let (first, second) = (Arc::new(()), Arc::new(()));
        let snapshot = Snapshot::default();
        let shared = snapshot.share();
        shared.keep(first.clone());
        shared.keep(second.clone());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        shared.let_go();
        assert_eq!(Arc::strong_count(&first), 1);
        shared.keep(second.clone());
        assert_eq!(Arc::strong_count(&second), 2);
    }
}
