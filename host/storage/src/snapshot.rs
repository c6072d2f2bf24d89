//! One state of the storage for all reads of a request.
//!
//! The host makes a [`Snapshot`] for a request that only reads, and puts a [`SharedSnapshot`] of it
//! into the context of each transaction. A driver may keep its open read transaction in there: the
//! next read of the request then goes on in it and sees the same state. Where each statement takes a
//! round trip, a driver may read the app that the request is [expected](Snapshot::expecting_app) to ask
//! for with the look-up of the caller, and keep that. A driver may also ignore all of this.
//! Invariants:
//! - At most one transaction uses what is kept, and only transactions of this request do.
//! - The host empties the snapshot before the request waits for something that others hold, and
//!   before it writes. Once the `Snapshot` is dropped its copies keep nothing.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lives as long as the request; dropping it drops what is kept.
pub struct Snapshot(Arc<Mutex<Slot>>);

struct Slot {
    kept: Option<Box<dyn Any + Send>>,
    expected_app: Option<String>,
    is_open: bool,
}

impl Snapshot {
    /// The same, of a request that probably reads the app with this id next, and may do so even if its caller is
    /// unknown.
    pub fn expecting_app(self, id: Option<String>) -> Self {
        if let Some(mut slot) = self.share().slot() {
            slot.expected_app = id;
        }
        self
    }

    /// The handle for the contexts of the request's transactions.
    pub fn share(&self) -> SharedSnapshot {
        SharedSnapshot(Some(self.0.clone()))
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Slot {
            kept: None,
            expected_app: None,
            is_open: true,
        })))
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let shared = self.share();
        shared.close();
        shared.release();
    }
}

/// A handle to the snapshot of a request. The default is a handle to none: every read then sees the
/// newest state.
#[derive(Clone, Default)]
pub struct SharedSnapshot(Option<Arc<Mutex<Slot>>>);

impl SharedSnapshot {
    /// A handle to this snapshot, or to none.
    pub fn of(snapshot: Option<&Snapshot>) -> Self {
        snapshot.map(Snapshot::share).unwrap_or_default()
    }

    /// For drivers: takes what the previous read kept. A value of another type is dropped.
    pub fn take<T: Send + 'static>(&self) -> Option<T> {
        let kept = self.slot()?.kept.take();
        kept?.downcast().ok().map(|kept| *kept)
    }

    /// For drivers: the id of the app that the request probably reads next. Answers it once.
    pub fn take_expected_app(&self) -> Option<String> {
        self.slot()?.expected_app.take()
    }

    /// For drivers: keeps this for the next read. Drops it if there is no next read, or if something
    /// is kept already.
    pub fn keep<T: Send + 'static>(&self, kept: T) {
        if let Some(mut slot) = self.slot()
            && slot.is_open
            && slot.kept.is_none()
        {
            slot.kept = Some(Box::new(kept));
        }
    }

    /// The next read is the last: it may use what is kept, and keeps nothing itself. No app is expected any more.
    pub fn close(&self) {
        if let Some(mut slot) = self.slot() {
            slot.is_open = false;
            slot.expected_app = None;
        }
    }

    /// Drops what is kept: the next read sees the newest state. To be called before the request waits
    /// for something that others may hold, and before it writes.
    pub fn release(&self) {
        // Dropped after the lock is released: ending a read takes time.
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
    fn what_is_kept_can_be_taken_once() {
        let snapshot = Snapshot::default();
        snapshot.share().keep(1_u8);
        assert_eq!(snapshot.share().take::<u8>(), Some(1));
        assert_eq!(snapshot.share().take::<u8>(), None);
    }

    #[test]
    fn a_value_of_another_type_is_not_taken() {
        let snapshot = Snapshot::default();
        snapshot.share().keep(1_u8);
        assert_eq!(snapshot.share().take::<u16>(), None);
    }

    #[test]
    fn a_handle_to_none_and_a_handle_of_a_dropped_snapshot_keep_nothing() {
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
    fn the_expected_app_is_answered_once() {
        let snapshot = Snapshot::default().expecting_app(Some("id".into()));
        assert_eq!(snapshot.share().take_expected_app().as_deref(), Some("id"));
        assert_eq!(snapshot.share().take_expected_app(), None);
        let snapshot = Snapshot::default().expecting_app(Some("id".into()));
        let shared = snapshot.share();
        drop(snapshot);
        assert_eq!(shared.take_expected_app(), None, "the request has ended");
        assert_eq!(SharedSnapshot::default().take_expected_app(), None);
    }

    #[test]
    fn after_close_what_is_kept_can_still_be_taken() {
        let snapshot = Snapshot::default();
        let shared = snapshot.share();
        shared.keep(1_u8);
        shared.close();
        assert_eq!(shared.take::<u8>(), Some(1));
        shared.keep(1_u8);
        assert_eq!(shared.take::<u8>(), None);
    }

    #[test]
    fn after_release_another_value_can_be_kept() {
        let (first, second) = (Arc::new(()), Arc::new(()));
        let snapshot = Snapshot::default();
        let shared = snapshot.share();
        shared.keep(first.clone());
        shared.keep(second.clone());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        shared.release();
        assert_eq!(Arc::strong_count(&first), 1);
        shared.keep(second.clone());
        assert_eq!(Arc::strong_count(&second), 2);
    }
}
