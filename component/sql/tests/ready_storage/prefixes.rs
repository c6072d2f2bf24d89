//! The tables: their prefix, and how they are made.

use std::sync::Arc;
use std::thread;

use portico_model::ErrorCode;

use crate::databases::{Postgres, Sqlite};
use crate::host::{Dashboard, Database};
use crate::plugin::{PASSWORD, Plugin, anonymous, call};
use crate::postgresql::Postgresql;

const LONGEST: &str = "abcdefghijklmnopqrs_";

/// Several at once make the tables, and two prefixes are two dashboards.
fn assert_tables_are_made(database: Arc<dyn Database>) {
    let plugin = Plugin::without_tables(Dashboard::new(database));
    thread::scope(|scope| {
        let making: Vec<_> = (0..4).map(|_| scope.spawn(|| plugin.migrate())).collect();
        for made in making {
            assert_eq!(made.join().unwrap(), Ok(()));
        }
    });
    plugin.init("ada");
    let other = plugin.on(plugin.dashboard.with_prefix(LONGEST));
    other.migrate().unwrap();
    other.migrate().unwrap();
    // It has no users yet.
    other.init("bob");
    assert!(other.sign_in("ada", PASSWORD).is_err() && plugin.sign_in("bob", PASSWORD).is_err());
    plugin.sign_in("ada", PASSWORD).unwrap();
    other.sign_in("bob", PASSWORD).unwrap();
}

#[test]
fn the_tables_are_made_once_for_each_prefix() {
    assert_tables_are_made(Arc::new(Sqlite::new()));
}

#[test]
#[ignore = "make test-all"]
fn on_postgresql_the_tables_are_made_once_for_each_prefix() {
    let server = Postgresql::shared();
    assert_tables_are_made(Arc::new(Postgres::new(server.create_database("prefixes"))));
}

#[test]
fn another_prefix_or_session_time_is_refused_by_every_function() {
    let plugin = Plugin::without_tables(Dashboard::new(Arc::new(Sqlite::new())));
    let refuses = |dashboard: Dashboard, field: &str| {
        let plugin = plugin.on(dashboard);
        let codes = [
            plugin.migrate().unwrap_err().code,
            call!(
                plugin,
                portico_dashboard_apps.call_by_id(&anonymous(), &"x".into())
            )
            .unwrap_err()
            .code,
            call!(plugin, portico_sql_people.call_list_groups())
                .unwrap_err()
                .code,
        ];
        assert_eq!(codes, [(); 3].map(|()| ErrorCode::Unavailable), "{field}");
        assert!(plugin.dashboard.log.lock().unwrap().concat().contains(field));
        assert_eq!(plugin.dashboard.counts.take(), [0, 0, 0]);
    };
    for prefix in [
        "",
        "A_",
        "a1",
        "a b",
        "p_; DROP TABLE x --",
        "abcdefghijklmnopqrstu",
    ] {
        refuses(plugin.dashboard.with_prefix(prefix), "configuration.prefix");
    }
    let dashboard = plugin.dashboard.clone();
    refuses(
        Dashboard {
            session_idle: 0,
            ..dashboard
        },
        "configuration.session-idle",
    );
}

#[test]
fn tables_that_a_newer_component_made_are_refused() {
    let sqlite = Arc::new(Sqlite::new());
    let plugin = Plugin::new(Dashboard::new(sqlite.clone()));
    sqlite.run("UPDATE portico_schema_version SET version = 99");
    let refusal = plugin.migrate().unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Conflict);
    assert!(refusal.message.contains("version 99"), "{}", refusal.message);
}
