//! Reading the log, and a service whose clock and bounds are the test's.

use std::sync::Arc;

use portico_service::{audit::AuditSettings, service::Service};
use portico_sqlite::SqliteStorage;
use portico_tests::{Anonymous, Client, Listening, TestClock, TestService};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The rows that fit, newest first.
#[track_caller]
pub fn rows_where(admin: &dyn Client, filter: &Value) -> Vec<Value> {
    let mut rows = Vec::new();
    for page in 1.. {
        let mut input = json!({"page": page, "pageSize": 100});
        let filter = filter.as_object().expect("an object").clone();
        input.as_object_mut().expect("an object").extend(filter);
        let answer = admin.query("audit.getPaginated", &input).data();
        let items = answer["items"].as_array().expect("rows");
        rows.extend(items.iter().cloned());
        if items.is_empty() {
            assert_eq!(answer["totalCount"], rows.len(), "{input}");
            break;
        }
    }
    rows
}

/// All rows, newest first.
#[track_caller]
pub fn rows(admin: &dyn Client) -> Vec<Value> {
    rows_where(admin, &json!({}))
}

/// The rows after the row of this number, oldest first.
#[track_caller]
pub fn new_rows(admin: &dyn Client, number: u64) -> Vec<Value> {
    let mut rows = rows(admin);
    rows.retain(|row| row["number"].as_u64().expect("a number") > number);
    rows.reverse();
    rows
}

/// The number of the newest row.
#[track_caller]
pub fn last_number(admin: &dyn Client) -> u64 {
    let rows = rows(admin);
    rows.iter()
        .filter_map(|row| row["number"].as_u64())
        .max()
        .unwrap_or(0)
}

/// The service in this process, on SQLite.
pub struct Host {
    pub service: Arc<Service>,
    pub storage: Arc<SqliteStorage>,
    pub clock: Arc<TestClock>,
    pub client: Anonymous,
    pub runtime: Runtime,
    pub folder: TempDir,
}

impl Host {
    pub fn start(settings: AuditSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let storage = SqliteStorage::open(&folder.path().join("portico.db")).expect("a database");
        let storage = Arc::new(storage);
        let clock = TestClock::stopped_now();
        let service = TestService::over(storage.clone())
            .clock(clock.clone())
            .audit(settings);
        let Listening {
            service,
            client,
            runtime,
        } = service.listen();
        Self {
            service,
            storage,
            clock,
            client,
            runtime,
            folder,
        }
    }
}
