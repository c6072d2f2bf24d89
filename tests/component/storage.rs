//! What the component makes of a storage that refuses.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use async_trait::async_trait;
use portico::{
    error::Code,
    model::AppInput,
    storage::{Access, CallContext, Error, Result, Storage, Transaction, memory::MemoryStorage},
};

use crate::harness::{Harness, admin, call};

/// Refuses to begin so many times, then does as it is told.
struct Refusing {
    storage: Arc<MemoryStorage>,
    refusals: AtomicU32,
    error: Error,
}

#[async_trait]
impl Storage for Refusing {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let one_less = |left: u32| left.checked_sub(1);
        match self
            .refusals
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
        {
            Ok(_) => Err(self.error.clone()),
            Err(_) => self.storage.begin(access, context).await,
        }
    }
}

fn harness(refusals: u32, error: Error) -> Harness {
    let storage = Arc::new(MemoryStorage::new());
    let refusing = Refusing {
        storage: storage.clone(),
        refusals: AtomicU32::new(refusals),
        error,
    };
    Harness::over(storage, Arc::new(refusing))
}

fn jellyfin() -> AppInput {
    AppInput {
        name: "Jellyfin".into(),
        icon_url: "/icon.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    }
}

#[tokio::test]
async fn a_transaction_that_somebody_else_won_is_tried_again() {
    let harness = harness(5, Error::Retry);
    let app = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap();
    assert_eq!(
        harness.dashboard().await.get_app(&app.id).await.unwrap().unwrap(),
        app
    );
}

#[tokio::test]
async fn after_five_more_tries_the_call_is_refused() {
    let harness = harness(6, Error::Retry);
    let refusal = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap_err();
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    assert_eq!(harness.dashboard().await.count_apps("").await.unwrap(), 0);
}

#[tokio::test]
async fn what_storage_says_when_it_fails_stays_in_the_log() {
    let harness = harness(1, Error::Unavailable("disk /dev/sda1 is full".into()));
    let refusal = call!(harness, portico_dashboard_apps.call_create(&admin(), &jellyfin())).unwrap_err();
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    assert!(!refusal.message.contains("sda1"), "{}", refusal.message);
}
