//! A document that takes too long: its caller gets an error, and nothing of it is written.

use std::sync::Arc;
use std::time::Duration;

use portico_model::error::Code;
use portico_sandbox::Limits;
use portico_service::{identity::Identity, service::Service};
use portico_storage::{Access, DashboardStorage, memory::MemoryStorage};
use portico_tests::TestService;
use serde_json::json;

/// A service over empty memory, with these limits of a call's instance and of its time.
pub async fn service(limits: Limits, call_time: Duration) -> (Arc<Service>, Arc<MemoryStorage>) {
    let storage = Arc::new(MemoryStorage::new());
    let service = TestService::over(storage.clone())
        .limits(limits)
        .call_time(call_time);
    (service.build().await, storage)
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

    // It holds a permit: once all permits are free, it has ended.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut turns = Vec::new();
    for _ in 0..cores {
        turns.push(service.acquire_large_permit(None).await.expect("a turn"));
    }
    let context = identity.context("test");
    let mut transaction = storage
        .begin_dashboard(Access::Read, &context)
        .await
        .expect("a transaction");
    assert!(!transaction.has_users().await.expect("an answer"));
}
