//! Portico's own drivers satisfy every rule.

#[path = "../../tests/support/postgresql.rs"]
mod postgresql;
mod support;

use std::sync::Arc;

use portico_postgres::PostgresStorage;
use portico_sqlite::SqliteStorage;
use portico_storage::DashboardStorage;
use portico_storage_kit::{InProcess, Need, Report, all, run};
use support::Dashboard;

/// Runs every case twice: the second run finds what the first has left behind.
#[track_caller]
fn assert_kept(storage: &Arc<dyn DashboardStorage>, dashboard: impl Fn() -> Dashboard, skipped: Need) {
    for _ in 0..2 {
        let mut target = InProcess::new(storage.clone(), dashboard());
        let report: Report = run(&mut target, &all(), |_| {});
        assert!(report.is_kept(), "{report}");
        assert_eq!(report.outcomes.len(), all().len());
        assert!(
            report.skipped().all(|(case, _)| case.needs == Some(skipped)),
            "{report}"
        );
        assert!(report.skipped().next().is_some(), "{report}");
    }
}

#[track_caller]
fn assert_kept_in_one_view(storage: &Arc<dyn DashboardStorage>) {
    assert_kept(storage, || Dashboard::new(storage.clone()), Need::AppsByBoard);
}

#[test]
fn the_driver_in_memory_keeps_every_rule() {
    assert_kept_in_one_view(&support::memory());
}

#[test]
fn the_driver_in_memory_keeps_every_rule_with_apps_by_board() {
    let storage = support::memory_with_apps_by_board();
    let dashboard = || Dashboard::new(storage.clone()).with_apps_by_board();
    assert_kept(&storage, dashboard, Need::OneView);
}

#[test]
fn the_sqlite_driver_keeps_every_rule() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    assert_kept_in_one_view(&support::sqlite(&directory));
}

#[test]
fn the_sqlite_driver_keeps_every_rule_with_apps_by_board() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let storage = SqliteStorage::open(&directory.path().join("portico.db")).expect("a database");
    let storage: Arc<dyn DashboardStorage> = Arc::new(storage.with_apps_by_board(true));
    let dashboard = || Dashboard::new(storage.clone()).with_apps_by_board();
    assert_kept(&storage, dashboard, Need::OneView);
}

#[test]
#[ignore = "make test-all"]
fn the_postgresql_driver_keeps_every_rule() {
    let server = postgresql::Postgresql::shared();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let open = |name: &str| {
        let opened = runtime.block_on(PostgresStorage::open(&server.create_database(name)));
        opened.expect("a database")
    };
    let one: Arc<dyn DashboardStorage> = Arc::new(open("one"));
    let views: Arc<dyn DashboardStorage> = Arc::new(open("views").with_apps_by_board(true));
    let dashboard = || Dashboard::new(views.clone()).with_apps_by_board();
    // At once, because most of the time they wait: for transactions that wait for each other.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_kept_in_one_view(&one));
        assert_kept(&views, dashboard, Need::OneView);
    });
}
