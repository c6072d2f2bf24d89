//! Portico's own drivers keep every rule.

mod support;

use std::sync::Arc;

use portico_storage::DashboardStorage;
use portico_storage_kit::{InProcess, Report, all, run};
use support::Dashboard;

/// Runs every case twice: the second run finds what the first has left behind.
#[track_caller]
fn assert_kept(storage: Arc<dyn DashboardStorage>) {
    for _ in 0..2 {
        let mut target = InProcess::new(storage.clone(), Dashboard::new(storage.clone()));
        let report: Report = run(&mut target, &all(), |_| {});
        assert!(report.is_kept(), "{report}");
        assert_eq!(report.outcomes.len(), all().len());
        assert_eq!(report.skipped().count(), 0, "{report}");
    }
}

#[test]
fn the_driver_in_memory_keeps_every_rule() {
    assert_kept(support::memory());
}

#[test]
fn the_sqlite_driver_keeps_every_rule() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    assert_kept(support::sqlite(&directory));
}
