//! Sentences about second factors.

use std::sync::Arc;

use portico_model::time::{Clock as _, SystemClock};
use portico_model::{FactorKind, Provider};
use portico_service::identity::Identity;
use portico_service::second_factor::SecondFactorPolicy;
use portico_storage::memory::MemoryStorage;
use portico_storage::{Access, DashboardStorage as _, MOST_SECOND_FACTORS, SecondFactor};
use portico_tests::second_factor::{code_at, set_up, wrong_code};
use portico_tests::{Client, Fixtures, MISSING, PASSWORD, TestService, administrator_of, new_user};
use serde_json::{Value, json};

use super::Said;

/// What sign-ins and changes of the second factor are refused with.
pub fn provoke(said: &mut Said) {
    let storage = Arc::new(MemoryStorage::new());
    let host = TestService::over(storage.clone()).listen();
    let root = administrator_of(&host.client);
    let (alice, bob, dave) = (root.user("alice"), root.user("bob"), root.user("dave"));
    let now = SystemClock.now();
    let (secret, recovery) = set_up(&alice, now);
    let sign_in = |name: &str, code: Option<&str>| {
        let mut body = json!({"username": name, "password": PASSWORD});
        if let Some(code) = code {
            body["code"] = code.into();
        }
        host.client.post("/api/auth/sign-in", &body)
    };
    said.hear(&sign_in("alice", None));
    said.hear(&sign_in("alice", Some("none")));
    let sent = json!({"ticket": "none", "code": "none"});
    said.hear(&host.client.post("/api/auth/second-factor", &sent));
    let strict = TestService::over(storage.clone())
        .second_factor(SecondFactorPolicy::Everyone)
        .listen();
    let body = json!({"username": "bob", "password": PASSWORD});
    said.hear(&strict.client.post("/api/auth/sign-in", &body));
    let add = |client: &dyn Client, secret: &str, code: &str| {
        client.mutate("secondFactor.addTotp", &json!({"secret": secret, "code": code}))
    };
    said.hear(&add(&bob, "none", "123456"));
    said.hear(&add(&bob, &secret, &wrong_code(&secret, now)));
    said.hear(&add(&alice, &secret, &code_at(&secret, now)));
    said.hear(&bob.mutate("secondFactor.renewRecoveryCodes", &json!({"code": "none"})));
    said.hear(&alice.mutate("secondFactor.renewRecoveryCodes", &json!({"code": "none"})));
    said.hear(&alice.mutate(
        "secondFactor.delete",
        &json!({"id": MISSING, "code": recovery[0]}),
    ));
    said.hear(&root.mutate("secondFactor.deleteOfUser", &json!({"userId": root.user_id})));
    said.hear(&root.mutate("secondFactor.beginPasskey", &Value::Null));
    // A user with as many passkeys as allowed, one with a single passkey, and one who signs in at an issuer.
    let mut carol = new_user("carol", "carol");
    carol.user.provider = Provider::Oidc;
    host.runtime.block_on(async {
        let context = Identity::operator().context("test");
        let transaction = storage.begin_dashboard(Access::Write, &context);
        let mut transaction = transaction.await.expect("a transaction");
        transaction.insert_user(&carol).await.expect("a user");
        for number in 0..=MOST_SECOND_FACTORS {
            let owner = if number < MOST_SECOND_FACTORS { &bob } else { &dave };
            let passkey = SecondFactor {
                id: number.to_string(),
                user_id: owner.id.clone(),
                kind: FactorKind::Passkey,
                name: None,
                handle: Some(number.to_string()),
                data: String::new(),
                created_at: now,
                last_used_at: None,
                counter: None,
            };
            assert!(
                transaction
                    .insert_second_factor(&passkey)
                    .await
                    .expect("a passkey")
            );
        }
        transaction.commit().await.expect("the passkeys");
    });
    for user in [&bob, &dave] {
        said.hear(&add(user, &secret, &code_at(&secret, SystemClock.now())));
    }
    said.hear(&root.key_of("carol").query("secondFactor.newSecret", &Value::Null));
}
