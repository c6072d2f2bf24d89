//! Concurrent transactions: exactly one gets what only one may get.

use std::sync::Arc;

use portico_storage::{
    Access, AppFilter, Authentication, Constraint, DashboardStorage, DashboardTransaction, Error, NewInvite,
    Result, Slice, UserFilter, Viewer, hash_secret,
};
use tokio::sync::Barrier;

use crate::store::{Store, app, context, user};

const TASKS: usize = 50;

async fn begin(storage: &dyn DashboardStorage) -> Box<dyn DashboardTransaction> {
    storage
        .begin_dashboard(Access::Write, &context(Authentication::None))
        .await
        .unwrap()
}

/// Runs one task for each number, all starting at the same time.
async fn all<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    store: &Store,
    task: impl Fn(Arc<dyn DashboardStorage>, usize) -> F + Copy + Send + 'static,
) -> Vec<T> {
    let barrier = Arc::new(Barrier::new(TASKS));
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| {
            let (storage, barrier) = (store.storage.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                task(storage, number).await
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

pub async fn one_of_fifty_that_take_an_invite_gets_it(store: &Store) {
    let mut writer = store.write().await;
    let invite = NewInvite {
        id: "i".into(),
        expiration_date: 10,
        creator_id: None,
        note: None,
        group_ids: Vec::new(),
    };
    writer
        .insert_invite(&invite, &hash_secret("token"))
        .await
        .unwrap();
    writer.commit().await.unwrap();

    let taken = all(store, |storage, number| async move {
        let mut writer = begin(&*storage).await;
        let taken = writer.take_invite("i", "token", 9).await.unwrap();
        if taken {
            writer
                .insert_user(&user(&number.to_string(), &format!("user {number}")))
                .await
                .unwrap();
            writer.commit().await.unwrap();
        }
        taken
    })
    .await;
    assert_eq!(taken.into_iter().filter(|&taken| taken).count(), 1);
    let mut reader = store.read().await;
    assert!(reader.list_invites().await.unwrap().is_empty());
    let filter = UserFilter::default();
    assert_eq!(
        reader.list_users(&filter, Slice::ALL, false).await.unwrap().len(),
        1
    );
}

pub async fn one_of_fifty_that_insert_a_name_succeeds(store: &Store) {
    let results: Vec<Result<()>> = all(store, |storage, number| async move {
        let mut writer = begin(&*storage).await;
        writer.insert_user(&user(&number.to_string(), "ann")).await?;
        writer.commit().await
    })
    .await;
    assert_eq!(
        results.iter().filter(|result| result.is_ok()).count(),
        1,
        "{results:?}"
    );
    let taken = |result: &&Result<()>| matches!(result, Err(Error::Constraint(Constraint::UserName)));
    assert_eq!(results.iter().filter(taken).count(), TASKS - 1, "{results:?}");
}

pub async fn one_of_fifty_that_replace_a_password_succeeds(store: &Store) {
    let mut writer = store.write().await;
    let mut ann = user("u", "ann");
    ann.password_hash = Some("old".into());
    writer.insert_user(&ann).await.unwrap();
    writer.commit().await.unwrap();

    let replaced = all(store, |storage, number| async move {
        let mut writer = begin(&*storage).await;
        let replaced = writer
            .set_password_if("u", Some("old"), &format!("new {number}"))
            .await
            .unwrap();
        writer.commit().await.unwrap();
        replaced
    })
    .await;
    let winners: Vec<_> = (0..TASKS).filter(|&number| replaced[number]).collect();
    assert_eq!(winners.len(), 1);
    let key = portico_storage::AccountKey::Id("u".into());
    let account = store.read().await.get_account(&key).await.unwrap().unwrap();
    assert_eq!(account.password_hash, Some(format!("new {}", winners[0])));
}

pub async fn no_parallel_commit_is_lost(store: &Store) {
    let rounds = 10;
    all(store, move |storage, number| async move {
        for round in 0..rounds {
            let mut writer = begin(&*storage).await;
            let before = writer.count_apps(&AppFilter::EVERYTHING).await.unwrap();
            let id = format!("{number}-{round}");
            writer.insert_apps(&[app(&id, &id)]).await.unwrap();
            assert_eq!(
                writer.count_apps(&AppFilter::EVERYTHING).await.unwrap(),
                before + 1
            );
            // Every third is dropped, and must leave nothing.
            if (number + round) % 3 == 0 {
                drop(writer);
            } else {
                writer.commit().await.unwrap();
                let mut reader = storage
                    .begin_dashboard(Access::Read, &context(Authentication::None))
                    .await
                    .unwrap();
                assert!(
                    reader.get_app(&id, &Viewer::Everything).await.unwrap().is_some(),
                    "{id} was answered and is not there"
                );
            }
        }
    })
    .await;
    let mut reader = store.read().await;
    for number in 0..TASKS {
        for round in 0..rounds {
            let there = reader
                .get_app(&format!("{number}-{round}"), &Viewer::Everything)
                .await
                .unwrap()
                .is_some();
            assert_eq!(there, (number + round) % 3 != 0, "{number}-{round}");
        }
    }
}
