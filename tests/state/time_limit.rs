//! A document that takes too long: its caller hears so, and nothing of it stays.

use std::sync::Arc;
use std::time::Duration;

use portico_model::{error::Code, time::SystemClock};
use portico_sandbox::{COMPONENT, Imports, Limits, Sandbox, icons::NoIcons};
use portico_server::icons::IconSettings;
use portico_service::{
    audit::AuditSettings,
    identity::Identity,
    service::{Service, ServiceParts},
    throttle::Throttle,
};
use portico_storage::{
    Access, DashboardStorage,
    memory::MemoryStorage,
    secrets::{Secrets, SystemRandom},
};
use serde_json::json;

/// A service over empty memory, with these limits of a call's instance and of its time.
pub async fn service(limits: Limits, call_time: Duration) -> (Arc<Service>, Arc<MemoryStorage>) {
    let storage = Arc::new(MemoryStorage::new());
    let imports = Imports {
        storage: storage.clone(),
        icons: Arc::new(NoIcons::new(IconSettings::default().default_icon)),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let cache = tempfile::tempdir().expect("a temporary folder");
    let sandbox = Sandbox::new(COMPONENT, Some(cache.path().into()), limits, imports);
    let secrets = Secrets::new(Arc::new(SystemRandom));
    let parts: ServiceParts = ServiceParts {
        storage: storage.clone(),
        sandbox: sandbox.expect("a sandbox"),
        clock: Arc::new(SystemClock),
        secrets,
        call_time,
        throttle: Throttle::off(),
        audit: AuditSettings::default(),
    };
    (Service::new(parts).await.expect("a service"), storage)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_takes_too_long_is_not_applied_later_either() {
    let limit = Duration::from_millis(100);
    let (service, storage) = service(Limits::default(), limit).await;
    let procedure = service.table.find("state.apply").expect("the procedure");
    // Each password takes tens of milliseconds to hash: all of them some seconds.
    let users: Vec<_> = (0..40)
        .map(|number| json!({"name": format!("user {number}"), "provider": "credentials", "password": "correct horse", "groups": ["admins"]}))
        .collect();
    let document = json!({"groups": [{"name": "admins", "permissions": ["admin"]}], "users": users});
    let identity = Identity::operator();
    let refusal = service
        .call(procedure, &identity, "test", Ok(Some(document)))
        .await;
    assert_eq!(refusal.expect_err("too long").code, Code::Timeout);

    // It has its thread and its turn for itself: once all turns are free it has ended.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut turns = Vec::new();
    for _ in 0..cores {
        turns.push(service.turn_for_long(None).await.expect("a turn"));
    }
    let context = identity.context("test");
    let mut transaction = storage
        .begin_dashboard(Access::Read, &context)
        .await
        .expect("a transaction");
    assert!(!transaction.has_users().await.expect("an answer"));
}
