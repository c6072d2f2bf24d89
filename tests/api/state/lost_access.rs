//! A caller who loses their access while a document's passwords are hashed.

use std::{sync::Arc, thread, time::Duration};

use portico_storage::memory::MemoryStorage;
use portico_tests::{Client, Fixtures, Listening, NO_INPUT, PASSWORD, TestService, administrator_of};
use serde_json::json;

#[test]
fn a_document_is_not_applied_with_a_key_that_was_deleted_or_a_session_that_was_ended_meanwhile() {
    let Listening {
        service,
        client,
        runtime,
    } = TestService::over(Arc::new(MemoryStorage::new())).listen();
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

    let permits = hold_all();
    let answer = thread::scope(|scope| {
        let applying = scope.spawn(|| helper.key.mutate("state.apply", &document("by-key")));
        // It waits for a permit to hash.
        thread::sleep(Duration::from_millis(300));
        let (key_id, _) = helper.key.key.split_once('.').expect("a key");
        admin
            .mutate("apiKeys.delete", &json!({"apiKeyId": key_id}))
            .assert_done();
        drop(permits);
        applying.join().expect("an answer")
    });
    answer.assert_refused(401, "UNAUTHORIZED");

    let session = client.sign_in("helper", PASSWORD);
    let permits = hold_all();
    let answer = thread::scope(|scope| {
        let applying = scope.spawn(|| session.mutate("state.apply", &document("by-session")));
        thread::sleep(Duration::from_millis(300));
        session.post("/api/auth/sign-out", &NO_INPUT).assert_status(200);
        drop(permits);
        applying.join().expect("an answer")
    });
    answer.assert_refused(401, "UNAUTHORIZED");

    assert_eq!(admin.user_names(), ["helper", "root"]);
}
