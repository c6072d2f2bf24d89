//! A change and its row are one commit: a kill leaves both or neither.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use portico_tests::{Client, Fixtures, Portico, SetOnDrop, administrator, wait_until};
use serde_json::json;

use super::harness::rows_where;

#[test]
fn a_kill_leaves_a_change_and_its_row_or_neither() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let key = root.key_of(&root.user_id);
    let answered = AtomicU64::new(0);
    for round in 1..=4 {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let _stop = SetOnDrop(&stop);
            for _ in 0..4 {
                scope.spawn(|| {
                    let app = json!({"name": "An app", "iconUrl": "/icon.svg"}).to_string();
                    let headers = [("content-type", "application/json")];
                    // Until the service is gone.
                    while !stop.load(Ordering::Relaxed)
                        && key
                            .try_send("POST", "/api/apps", &headers, Some(app.as_bytes()))
                            .is_ok()
                    {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            wait_until("thirty more answers", || {
                answered.load(Ordering::Relaxed) >= 30 * round
            });
            server.kill();
        });
        server.start_again();
        let apps = key.query("app.all", &json!(null)).data();
        let apps = apps.as_array().unwrap().iter();
        let apps: BTreeSet<_> = apps.map(|app| app["id"].to_string()).collect();
        let rows = rows_where(&key, &json!({"procedure": "app.create", "outcome": "OK"}));
        let targets: BTreeSet<_> = rows.iter().map(|row| row["target"].to_string()).collect();
        assert!(apps.len() as u64 >= answered.load(Ordering::Relaxed));
        assert_eq!(targets.len(), rows.len(), "one row for each");
        assert_eq!(apps, targets);
    }
}

#[test]
fn refusals_are_in_the_log_after_a_stop() {
    let mut server = Portico::start();
    let root = administrator(&server);
    let key = root.key_of(&root.user_id);
    server
        .anonymous()
        .query("app.all", &json!(null))
        .assert_status(401);
    // Nothing is lost that waits to be written.
    server.restart();
    let rows = rows_where(&key, &json!({"outcome": "UNAUTHORIZED"}));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["procedure"], "app.all");
}
