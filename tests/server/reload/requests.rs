//! A request meets one component, also if it is exchanged before the request ends.

use std::sync::Arc;

use async_trait::async_trait;
use axum::{body::Body, extract::Request};
use portico_service::hot_swap::HotSwap;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Result, Storage, Transaction,
    memory::MemoryStorage,
};
use portico_tests::{MISSING, PATIENCE, TestService, router, trpc_query_path};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::{NEW, OLD, another};

/// Storage whose transactions begin only when the gate is open.
struct Gated {
    storage: MemoryStorage,
    gate: Semaphore,
    /// One permit for each transaction that has come to the gate.
    arrived: Semaphore,
}

#[async_trait]
impl Storage for Gated {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        self.arrived.add_permits(1);
        self.gate.acquire().await.expect("it is not closed").forget();
        self.storage.begin(access, context).await
    }
}

#[async_trait]
impl DashboardStorage for Gated {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        self.storage.begin_dashboard(access, context).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_calls_of_a_request_meet_the_component_that_was_there_when_it_came() {
    const CALLS: usize = 20;
    let storage = Arc::new(Gated {
        storage: MemoryStorage::new(),
        gate: Semaphore::new(0),
        arrived: Semaphore::new(0),
    });
    let service = TestService::over(storage.clone()).call_time(PATIENCE);
    let live = HotSwap::from(service.build().await);
    let router = router(live.clone());
    let batch = async || -> Vec<Value> {
        let inputs: Map<_, _> = (0..CALLS)
            .map(|n| (n.to_string(), json!({"id": MISSING})))
            .collect();
        let path = trpc_query_path(&vec!["app.byId"; CALLS].join(","), &inputs.into());
        let request = Request::get(path.replace('?', "?batch=1&"))
            .header("host", "localhost")
            .body(Body::empty());
        let answer = router
            .clone()
            .oneshot(request.expect("a request"))
            .await
            .expect("an answer");
        let body = axum::body::to_bytes(answer.into_body(), 1 << 20)
            .await
            .expect("a body");
        let answers: Vec<Value> = serde_json::from_slice(&body).expect("JSON");
        answers
            .into_iter()
            .map(|answer| answer["error"]["message"].clone())
            .collect()
    };
    let exchange = async {
        // The first calls of the batch are in the old component.
        let first = storage.arrived.acquire_many(2).await;
        first.expect("it is not closed").forget();
        live.exchange(another()).await.expect("it fits");
        storage.gate.add_permits(CALLS * 2);
    };
    let (messages, ()) = tokio::join!(batch(), exchange);
    assert_eq!(messages, [OLD; CALLS]);
    assert_eq!(batch().await, [NEW; CALLS]);
}
