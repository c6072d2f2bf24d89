//! The log is bounded: by age, by number of rows, and under a flood of refusals.

use std::sync::Arc;
use std::time::Duration;

use portico_model::time::Clock;
use portico_service::audit::{Audit, AuditSettings};
use portico_service::identity::Identity;
use portico_storage::{Access, AuditEntry, DashboardStorage, MemoryRecords};
use portico_tests::clock::DAY;
use portico_tests::{Client, Fixtures, Portico, administrator, administrator_of};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::harness::{Host, rows, rows_where};

/// Longer than any of these tests: refusals are written when a caller reads the log.
const NEVER: Duration = Duration::from_secs(60 * 60);

fn settings() -> AuditSettings {
    AuditSettings {
        window: NEVER,
        settling: Duration::ZERO,
        ..AuditSettings::default()
    }
}

#[test]
fn rows_go_when_they_are_too_old() {
    let host = Host::start(AuditSettings {
        retention: Some(Duration::from_millis(30 * DAY)),
        ..settings()
    });
    let session = administrator_of(&host.client);
    let app = session.app("old");
    // A key, because the session would end.
    let root = session.key_of(&session.user_id);
    let prune = || host.runtime.block_on(host.service.audit.prune()).unwrap();
    host.clock.advance(29 * DAY);
    root.app("new");
    prune();
    assert!(rows(&root).iter().any(|row| row["target"] == app.as_str()));
    host.clock.advance(2 * DAY);
    prune();
    let left = rows(&root);
    assert_eq!(left.len(), 1, "{left:#?}");
    assert_eq!(left[0]["procedure"], "app.create");
    assert_ne!(left[0]["target"], app.as_str());
}

#[test]
fn a_clock_that_jumps_ahead_removes_nothing_within_an_hour() {
    let host = Host::start(AuditSettings {
        settling: AuditSettings::default().settling,
        ..settings()
    });
    let session = administrator_of(&host.client);
    let app = session.app("old");
    let root = session.key_of(&session.user_id);
    let prune = || host.runtime.block_on(host.service.audit.prune()).unwrap();
    host.clock.advance(100 * DAY);
    root.app("new");
    prune();
    // Nor the next time.
    prune();
    // Nor after a restart: the newest row is of the same clock.
    let _runtime = host.runtime.enter();
    let shared = Arc::new(MemoryRecords::new(host.clock.clone()));
    let settings = AuditSettings {
        window: NEVER,
        ..AuditSettings::default()
    };
    let restarted = Audit::new(host.storage.clone(), shared, host.clock.clone(), settings);
    host.runtime.block_on(restarted.prune()).unwrap();
    assert!(rows(&root).iter().any(|row| row["target"] == app.as_str()));
}

#[test]
fn where_there_are_too_many_refusals_go_first_and_then_the_oldest() {
    let host = Host::start(AuditSettings {
        most_rows: 600,
        ..settings()
    });
    let root = administrator_of(&host.client);
    fill(&host, 1, 500, "OK");
    fill(&host, 501, 500, "FORBIDDEN");
    // With the two rows of onboarding and sign-in there are 1,002.
    let prune = || host.runtime.block_on(host.service.audit.prune()).unwrap();
    let count = |filter: Value| rows_where(&root, &filter).len();
    prune();
    assert_eq!(count(json!({})), 600);
    assert_eq!(count(json!({"outcome": "FORBIDDEN"})), 98);
    // The refusals that are left are the newest.
    let youngest = rows_where(&root, &json!({"outcome": "FORBIDDEN"}));
    assert!(
        youngest
            .iter()
            .all(|row| row["requestId"].as_str().unwrap() >= "row-0903")
    );
    fill(&host, 2001, 300, "OK");
    prune();
    assert_eq!(count(json!({})), 600);
    assert_eq!(count(json!({"outcome": "FORBIDDEN"})), 0);
    let rows = rows(&root);
    assert_eq!(
        rows.iter()
            .filter(|row| row["requestId"].as_str().unwrap() >= "row-2001")
            .count(),
        300
    );
}

/// Writes this many rows, each a millisecond later than the one before, shortly before now.
fn fill(host: &Host, first: u64, count: u64, outcome: &str) {
    let context = Identity::operator().context("fill");
    let start = host.clock.now() - 10_000;
    host.runtime.block_on(async {
        let mut transaction = host
            .storage
            .begin_dashboard(Access::Write, &context)
            .await
            .unwrap();
        for number in first..first + count {
            let entry = AuditEntry {
                time: start + number,
                outcome: outcome.into(),
                ..AuditEntry::new("app.create", &format!("row-{number:04}"))
            };
            transaction.insert_audit(&entry).await.unwrap();
        }
        transaction.commit().await.unwrap();
    });
}

#[test]
fn a_flood_from_everywhere_is_counted_and_hides_no_sign_in() {
    let host = Host::start(settings());
    let root = administrator_of(&host.client);
    for number in 0..1000_u32 {
        let [_, _, high, low] = number.to_be_bytes();
        let address = format!("198.18.{high}.{low}");
        host.client
            .send("GET", "/api/apps", &[("x-forwarded-for", &address)], None)
            .assert_status(401);
    }
    let body = json!({"username": "root", "password": "a wrong password"});
    host.client.post("/api/auth/sign-in", &body).assert_status(401);
    let refused = rows_where(&root, &json!({"procedure": "app.all"}));
    assert_eq!(refused.len(), 100);
    let not_recorded = rows_where(&root, &json!({"outcome": "NOT_RECORDED"}));
    assert_eq!(not_recorded.len(), 1);
    assert_eq!(not_recorded[0]["times"], 900);
    let sign_ins = rows_where(&root, &json!({"procedure": "sign-in", "outcome": "UNAUTHORIZED"}));
    assert_eq!(sign_ins[0]["target"], root.user_id.as_str());
}

#[test]
fn where_it_is_off_nothing_is_recorded_and_what_is_there_stays() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let key = root.key_of(&root.user_id);
    let there = rows(&key);
    assert!(server.stop().status.success());
    server.start_again_with(&["--audit-retention=off"]);
    key.app("unseen");
    server.anonymous().get("/api/apps").assert_status(401);
    server.sign_in("root", portico_tests::PASSWORD);
    assert_eq!(rows(&key), there);
}

#[test]
fn a_row_cannot_be_changed() {
    let host = Host::start(settings());
    administrator_of(&host.client);
    let database = Connection::open(host.folder.path().join("portico.db")).unwrap();
    let error = database
        .execute("UPDATE audit SET actor_id = 'another user'", [])
        .unwrap_err();
    assert!(error.to_string().contains("never changed"), "{error}");
}
