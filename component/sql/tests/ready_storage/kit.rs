//! The ready storage keeps every rule of the contract.

use std::sync::Arc;

use portico_storage_kit::{InProcess, Report, all, run};

use crate::bridge::{Boards, KitBridge};
use crate::databases::{Postgres, Sqlite};
use crate::host::{Dashboard, Database};
use crate::postgresql::Postgresql;
use crate::storage::Ready;

/// Runs every case. The dashboard has boards and search engines of its own, in tables next to those of Portico.
#[track_caller]
fn assert_kept(database: Arc<dyn Database>, run_sql: &dyn Fn(&str), by_board: bool) {
    let mut dashboard = Dashboard::new(database.clone());
    dashboard.surroundings = Arc::new(Boards::new(database, by_board));
    let ready = Ready::new(dashboard);
    run_sql(&Boards::tables(&ready.dashboard.prefix));
    let bridge = KitBridge::new(ready.clone(), by_board);
    let report: Report = run(&mut InProcess::new(Arc::new(ready), bridge), &all(), |_| {});
    assert!(report.is_kept(), "{report}");
    let skipped: Vec<_> = report
        .skipped()
        .filter(|(case, _)| case.needs.is_none())
        .collect();
    assert!(skipped.is_empty(), "{report}");
}

#[test]
fn over_sqlite_it_keeps_every_rule() {
    let sqlite = Arc::new(Sqlite::new());
    assert_kept(sqlite.clone(), &|sql| sqlite.run(sql), false);
}

#[test]
fn over_sqlite_it_keeps_every_rule_with_apps_by_board() {
    let sqlite = Arc::new(Sqlite::new());
    assert_kept(sqlite.clone(), &|sql| sqlite.run(sql), true);
}

#[test]
#[ignore = "make test-all"]
fn over_postgresql_it_keeps_every_rule_with_apps_by_board() {
    let server = Postgresql::shared();
    let postgres = Arc::new(Postgres::new(server.create_database("boards")));
    assert_kept(postgres.clone(), &|sql| postgres.run(sql), true);
}
