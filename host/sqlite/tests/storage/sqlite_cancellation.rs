//! Group commit whose callers are dropped at random moments.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portico_storage::{Access, Authentication, Viewer};
use tokio::time::timeout;

use crate::store::{SOON, Store, app, context, insert};

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_random_cancellation_nothing_hangs_and_every_answered_commit_is_stored() {
    let store = Store::sqlite();
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let uncommitted = Arc::new(Mutex::new(BTreeSet::new()));
    let tasks: Vec<_> = (0..64_u64)
        .map(|task| {
            let (storage, acknowledged) = (store.storage.clone(), acknowledged.clone());
            let uncommitted = uncommitted.clone();
            tokio::spawn(async move {
                let mut numbers = Numbers(task);
                for round in 0..60 {
                    let id = format!("{task}-{round}");
                    let patience = Duration::from_micros(numbers.below(4_000));
                    // Dropped at the earliest when the transaction is about to be committed.
                    uncommitted.lock().unwrap().insert(id.clone());
                    let attempt = async {
                        let mut writer = storage
                            .begin_dashboard(Access::Write, &context(Authentication::None))
                            .await?;
                        writer.insert_apps(&[app(&id, &id)]).await?;
                        match round % 4 {
                            0 => tokio::task::yield_now().await,
                            1 => return Ok(false),
                            _ => {}
                        }
                        uncommitted.lock().unwrap().remove(&id);
                        writer.commit().await.map(|()| true)
                    };
                    // Half of them wait without a limit.
                    let outcome = if round % 2 == 0 {
                        timeout(patience, attempt).await
                    } else {
                        Ok(attempt.await)
                    };
                    if let Ok(result) = outcome
                        && result.unwrap()
                    {
                        acknowledged.lock().unwrap().insert(id);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        timeout(Duration::from_secs(60), task)
            .await
            .expect("a writer hangs")
            .unwrap();
    }
    store.wait_until_free().await;

    let acknowledged = acknowledged.lock().unwrap().clone();
    let uncommitted = uncommitted.lock().unwrap().clone();
    assert!(
        acknowledged.len() > 500,
        "only {} were committed",
        acknowledged.len()
    );
    assert!(
        uncommitted.len() > 500,
        "only {} were given up",
        uncommitted.len()
    );
    let store = store.reopened();
    let mut reader = store.read().await;
    for id in &acknowledged {
        assert!(
            reader.get_app(id, &Viewer::Everything).await.unwrap().is_some(),
            "{id} was answered and is not there"
        );
    }
    for id in &uncommitted {
        assert!(
            reader.get_app(id, &Viewer::Everything).await.unwrap().is_none(),
            "{id} was never committed and is there"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_that_are_aborted_leave_no_batch_open() {
    let store = Store::sqlite();
    let mut numbers = Numbers(1);
    for round in 0..150 {
        let tasks: Vec<_> = (0..6)
            .map(|task| tokio::spawn(insert(store.storage.clone(), format!("{round}-{task}"))))
            .collect();
        let survivor = numbers.below(6) as usize;
        tokio::time::sleep(Duration::from_micros(numbers.below(1_500))).await;
        for (index, task) in tasks.into_iter().enumerate() {
            if index == survivor {
                timeout(SOON, task)
                    .await
                    .expect("the survivor hangs")
                    .unwrap()
                    .unwrap();
            } else {
                task.abort();
            }
        }
        assert!(store.get_app(&format!("{round}-{survivor}")).await.is_some());
    }
    store.wait_until_free().await;
}
