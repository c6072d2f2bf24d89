//! A caller who loses their access while a document's passwords are hashed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use async_trait::async_trait;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Result, Storage, Transaction,
    memory::MemoryStorage,
};
use portico_tests::{
    Client, Fixtures, Listening, NO_INPUT, PASSWORD, TestService, administrator_of, wait_until,
};
use serde_json::json;

/// Storage that counts how often a change has read the dashboard. `state.apply` does so once its caller has been
/// looked up, and before it hashes.
struct Counting {
    storage: MemoryStorage,
    reads: AtomicUsize,
}

#[async_trait]
impl Storage for Counting {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        self.storage.begin(access, context).await
    }
}

#[async_trait]
impl DashboardStorage for Counting {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        if access == Access::Read && context.audit.is_some() {
            self.reads.fetch_add(1, Ordering::SeqCst);
        }
        self.storage.begin_dashboard(access, context).await
    }
}

#[test]
fn a_document_is_not_applied_with_a_key_that_was_deleted_or_a_session_that_was_ended_meanwhile() {
    let storage = Arc::new(Counting {
        storage: MemoryStorage::new(),
        reads: AtomicUsize::new(0),
    });
    let Listening {
        service,
        client,
        runtime,
    } = TestService::over(storage.clone()).listen();
    let reads = || storage.reads.load(Ordering::SeqCst);
    let admin = administrator_of(&client);
    let helper = admin.user_with("helper", "admin");
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let hold_all = || {
        let permits = (0..cores).map(|_| runtime.block_on(service.acquire_hash_permit(None)));
        permits
            .map(|permit| permit.expect("a permit"))
            .collect::<Vec<_>>()
    };
    let document = |name: &str| json!({"users": [{"name": name, "provider": "credentials", "password": PASSWORD, "groups": []}]});

    let (permits, before) = (hold_all(), reads());
    let answer = thread::scope(|scope| {
        let applying = scope.spawn(|| helper.key.mutate("state.apply", &document("by-key")));
        // From then on it waits for a permit to hash.
        wait_until("reading the dashboard", || reads() > before);
        let (key_id, _) = helper.key.key.split_once('.').expect("a key");
        admin
            .mutate("apiKeys.delete", &json!({"apiKeyId": key_id}))
            .assert_done();
        drop(permits);
        applying.join().expect("an answer")
    });
    answer.assert_refused(401, "UNAUTHORIZED");

    let session = client.sign_in("helper", PASSWORD);
    let (permits, before) = (hold_all(), reads());
    let answer = thread::scope(|scope| {
        let applying = scope.spawn(|| session.mutate("state.apply", &document("by-session")));
        wait_until("reading the dashboard", || reads() > before);
        session.post("/api/auth/sign-out", &NO_INPUT).assert_status(200);
        drop(permits);
        applying.join().expect("an answer")
    });
    answer.assert_refused(401, "UNAUTHORIZED");

    assert_eq!(admin.user_names(), ["helper", "root"]);
}
