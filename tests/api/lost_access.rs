//! A caller who loses their access while a call waits.

use std::{sync::Arc, time::Duration};

use portico_model::error::Code;
use portico_sandbox::Limits;
use portico_service::identity::{self, Identity, PLAIN_COOKIE};
use portico_storage::memory::MemoryStorage;
use portico_tests::{Client, Fixtures, Listening, TestService, administrator_of};
use serde_json::json;

#[test]
fn a_call_that_waits_for_an_instance_changes_nothing_if_its_key_is_deleted_meanwhile() {
    // One instance is for passwords, one for all other calls.
    let limits = Limits {
        instances: 2,
        ..Limits::default()
    };
    let Listening {
        service,
        client,
        runtime,
    } = TestService::over(Arc::new(MemoryStorage::new()))
        .limits(limits)
        .listen();
    let admin = administrator_of(&client);
    let helper = admin.user_with("helper", "admin");
    let (key_id, _) = helper.key.key.split_once('.').expect("a key");

    let refusal = runtime.block_on(async {
        let mut headers = axum::http::HeaderMap::new();
        headers.insert("apikey", helper.key.key.parse().expect("a header"));
        let sent = identity::credentials_of(&headers, PLAIN_COOKIE);
        let context = Identity::anonymous().context("test");
        let now = service.clock.now();
        let found = identity::authenticate(&*service.storage, sent, &headers, &context, now).await;
        let (identity, _) = found.expect("an identity");
        let procedure = service
            .table
            .find("user.changeColorScheme")
            .expect("a procedure")
            .clone();
        let request: Arc<str> = "test".into();
        let authorised = service
            .authorise(&procedure, &Arc::new(identity), &request)
            .await
            .expect("access");

        let only_instance = service.sandbox.acquire_permit().await.expect("a permit");
        let input = Ok(Some(json!({"colorScheme": "dark"})));
        let call = service.call_authorised(&authorised, &request, input, |output| output);
        let meanwhile = async {
            // The call was polled first, and waits. A look-up of its caller holds for a second.
            tokio::time::sleep(Duration::from_millis(1100)).await;
            let mut transaction = service
                .storage
                .begin_dashboard(portico_storage::Access::Write, &context)
                .await
                .expect("a transaction");
            assert!(transaction.delete_key(key_id).await.expect("an answer"));
            transaction.commit().await.expect("a commit");
            drop(only_instance);
        };
        let (answer, ()) = tokio::join!(biased; call, meanwhile);
        answer.expect_err("a refusal")
    });
    assert_eq!(refusal.code, Code::Unauthorized, "{refusal:?}");
    let scheme = &admin.query("user.getById", &json!({"userId": helper.id})).data()["colorScheme"];
    assert_ne!(scheme, "dark");
}
