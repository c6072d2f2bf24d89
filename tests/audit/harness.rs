//! Reading the log, and a service whose clock and bounds are the test's.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

use portico_http::{self as http, HttpSettings};
use portico_model::{
    Timestamp,
    time::{Clock, SystemClock},
};
use portico_sandbox::{COMPONENT, Imports, Limits, Sandbox, icons::NoIcons};
use portico_service::{
    audit::AuditSettings,
    service::{Service, ServiceParts},
    throttle::Throttle,
};
use portico_sqlite::SqliteStorage;
use portico_storage::secrets::{Secrets, SystemRandom};
use portico_tests::{Anonymous, Client};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};

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

/// What is new since there were so many, oldest first.
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

/// A clock that the test sets.
pub struct ManualClock(AtomicU64);

impl ManualClock {
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.load(Ordering::SeqCst)
    }
}

/// The service in this process, on SQLite.
pub struct Host {
    pub service: Arc<Service>,
    pub storage: Arc<SqliteStorage>,
    pub clock: Arc<ManualClock>,
    pub client: Anonymous,
    pub runtime: Runtime,
    pub folder: TempDir,
}

impl Host {
    pub fn start(settings: AuditSettings) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = tempfile::tempdir().expect("a folder");
        let storage = SqliteStorage::open(&folder.path().join("portico.db")).expect("a database");
        let storage = Arc::new(storage);
        let clock = Arc::new(ManualClock(AtomicU64::new(SystemClock.now())));
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(NoIcons::new("/icon.svg")),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        };
        let cache = Some(portico_tests::cache());
        let sandbox = Sandbox::new(COMPONENT, cache, Limits::default(), imports).expect("the component");
        let (service, address) = runtime.block_on(async {
            let parts: ServiceParts = ServiceParts {
                storage: storage.clone(),
                sandbox,
                clock: clock.clone(),
                secrets: Secrets::new(Arc::new(SystemRandom)),
                call_time: Duration::from_secs(60),
                throttle: Throttle::off(),
                audit: settings,
            };
            let service = Service::new(parts).await.expect("the service");
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let settings = HttpSettings {
                trusted_proxies: "127.0.0.1".parse().expect("an address"),
                ..HttpSettings::default()
            };
            let limits = settings.limits.clone();
            let router = http::router(service.clone(), settings);
            tokio::spawn(async move { http::serve(listener, router, &limits, std::future::pending()).await });
            (service, address.to_string())
        });
        Self {
            service,
            storage,
            clock,
            client: Anonymous::at(&address),
            runtime,
            folder,
        }
    }
}
