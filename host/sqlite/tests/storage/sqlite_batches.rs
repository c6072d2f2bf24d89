//! Group commit: which transactions share a commit, who finishes a batch, and what happens when callers are
//! dropped.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::poll;
use portico_storage::{Access, AppFilter, Authentication, Result, Viewer};
use tokio::time::timeout;

use crate::store::{SOON, Store, app, context, insert, named};

#[tokio::test]
async fn a_member_of_an_open_batch_is_neither_answered_nor_seen() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    let mut second = Box::pin(store.write());
    assert!(poll!(&mut second).is_pending());

    // A writer waits, so the commit is left to it.
    let mut committed = first.commit();
    assert!(poll!(&mut committed).is_pending());
    let mut second = second.await;
    assert!(
        second.get_app("a", &Viewer::Everything).await.unwrap().is_some(),
        "the second writer sees the first one's work"
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(poll!(&mut committed).is_pending(), "answered before the commit");
    assert!(store.get_app("a").await.is_none(), "seen before the commit");

    second.insert_apps(&[app("b", "second")]).await.unwrap();
    timeout(SOON, second.commit()).await.unwrap().unwrap();
    timeout(SOON, committed).await.unwrap().unwrap();
    assert_eq!(store.count_apps().await, 2);
    store.assert_free();
}

#[tokio::test]
async fn a_member_that_rolls_back_undoes_no_other() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    let mut second = Box::pin(store.write());
    assert!(poll!(&mut second).is_pending());
    let mut committed = first.commit();
    assert!(poll!(&mut committed).is_pending());

    let mut second = second.await;
    second.insert_apps(&[app("b", "second")]).await.unwrap();
    assert!(second.delete_app("a").await.unwrap());
    drop(second);
    timeout(SOON, committed)
        .await
        .expect("the rolled back one finishes the batch")
        .unwrap();
    let mut reader = store.read().await;
    assert!(reader.get_app("a", &Viewer::Everything).await.unwrap().is_some());
    assert!(reader.get_app("b", &Viewer::Everything).await.unwrap().is_none());
    store.assert_free();
}

#[tokio::test]
async fn a_batch_is_finished_when_the_waiting_writer_is_dropped() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    let mut next = Box::pin(store.write());
    assert!(poll!(&mut next).is_pending());
    let mut committed = first.commit();
    assert!(poll!(&mut committed).is_pending());
    drop(next);
    timeout(SOON, committed)
        .await
        .expect("no one finishes the batch")
        .unwrap();
    assert!(store.get_app("a").await.is_some());
    store.assert_free();
}

#[tokio::test]
async fn a_batch_passes_over_waiting_writers_that_are_dropped() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(store.write())).collect();
    for next in &mut waiting {
        assert!(poll!(next).is_pending());
    }
    let mut committed = first.commit();
    assert!(poll!(&mut committed).is_pending());
    // The one that has the permit already, and one in the middle of the queue.
    drop(waiting.remove(1));
    drop(waiting.remove(0));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(poll!(&mut committed).is_pending(), "the last one has it");
    drop(
        timeout(SOON, waiting.remove(0))
            .await
            .expect("the permit was lost"),
    );
    timeout(SOON, committed)
        .await
        .expect("no one finishes the batch")
        .unwrap();
    store.assert_free();
}

#[tokio::test]
async fn a_batch_does_not_grow_without_end() {
    let store = Store::sqlite();
    let mut writer = store.write().await;
    let mut members = Vec::new();
    for number in 0..256 {
        let mut next = Box::pin(store.write());
        assert!(poll!(&mut next).is_pending());
        let id = number.to_string();
        writer.insert_apps(&[app(&id, &id)]).await.unwrap();
        let mut committed = writer.commit();
        assert!(poll!(&mut committed).is_pending());
        members.push(committed);
        writer = timeout(SOON, next).await.unwrap();
    }
    // The next one can still write, and the members get their results.
    for member in members {
        timeout(SOON, member).await.expect("the batch goes on").unwrap();
    }
    assert_eq!(store.count_apps().await, 256);
}

#[tokio::test]
async fn a_commit_whose_caller_is_gone_still_happens() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    let mut committed = first.commit();
    let _ = poll!(&mut committed);
    drop(committed);
    store.wait_until_free().await;
    assert!(store.get_app("a").await.is_some());
}

#[tokio::test]
async fn a_commit_that_is_never_polled_does_not_happen() {
    let store = Store::sqlite();
    let mut first = store.write().await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    drop(first.commit());
    store.assert_free();
    assert!(store.get_app("a").await.is_none());
}

/// Transactions that only insert apps, with these ids.
async fn queued(store: &Store, ids: &[&str]) -> Vec<BoxFuture<'static, Result<()>>> {
    let mut queued = Vec::new();
    for id in ids {
        let mut writer = store.write_as_component().await;
        writer.insert_apps(&[app(id, id)]).await.unwrap();
        assert!(writer.is_waiting_for_write_lock());
        let mut committed = writer.commit();
        assert!(poll!(&mut committed).is_pending(), "another holds the permit");
        queued.push(committed);
    }
    queued
}

#[tokio::test]
async fn blind_transactions_are_run_by_the_holder_of_the_permit() {
    let store = Store::sqlite();
    let mut holder = store.write().await;
    let queued = queued(&store, &["a", "b", "c"]).await;
    assert!(
        holder.get_app("a", &Viewer::Everything).await.unwrap().is_none(),
        "one after the other"
    );
    holder.insert_apps(&[app("first", "first")]).await.unwrap();
    timeout(SOON, holder.commit()).await.unwrap().unwrap();
    for committed in queued {
        timeout(SOON, committed).await.expect("it was forgotten").unwrap();
    }
    assert_eq!(store.count_apps().await, 4);
    store.assert_free();
}

#[tokio::test]
async fn blind_transactions_are_run_after_a_rollback_too() {
    let store = Store::sqlite();
    let mut holder = store.write().await;
    holder.insert_apps(&[app("a", "rolled back")]).await.unwrap();
    let queued = queued(&store, &["a"]).await;
    drop(holder);
    for committed in queued {
        timeout(SOON, committed).await.expect("it was forgotten").unwrap();
    }
    let app = store.get_app("a").await;
    assert_eq!(app.unwrap().name, "a");
    store.assert_free();
}

#[tokio::test]
async fn a_queued_transaction_that_fails_undoes_no_other() {
    let store = Store::sqlite();
    for is_alone in [true, false] {
        let holder = store.write().await;
        let ids = match is_alone {
            true => vec!["a", "taken", "taken", "b"],
            // The batch is open, with a member that must not be undone.
            false => vec!["taken", "c"],
        };
        let queued = queued(&store, &ids).await;
        if is_alone {
            drop(holder);
        } else {
            let mut holder = holder;
            holder.insert_apps(&[app("d", "d")]).await.unwrap();
            timeout(SOON, holder.commit()).await.unwrap().unwrap();
        }
        let mut done = Vec::new();
        for committed in queued {
            done.push(timeout(SOON, committed).await.expect("it was forgotten").is_ok());
        }
        let expected = if is_alone {
            vec![true, true, false, true]
        } else {
            vec![false, true]
        };
        assert_eq!(done, expected);
    }
    assert_eq!(store.count_apps().await, 5);
    store.assert_free();
}

#[tokio::test]
async fn a_queued_transaction_whose_caller_is_gone_does_not_run() {
    let store = Store::sqlite();
    let holder = store.write().await;
    let mut queued = queued(&store, &["gone", "there"]).await;
    drop(queued.remove(0));
    drop(holder);
    timeout(SOON, queued.remove(0)).await.unwrap().unwrap();
    let mut reader = store.read().await;
    assert!(
        reader
            .get_app("gone", &Viewer::Everything)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        reader
            .get_app("there", &Viewer::Everything)
            .await
            .unwrap()
            .is_some()
    );
    store.assert_free();
}

#[tokio::test]
async fn a_blind_transaction_that_reads_takes_the_permit_and_sees_its_writes() {
    let store = Store::sqlite();
    let mut writer = store.write_as_component().await;
    writer.insert_apps(&[app("a", "a")]).await.unwrap();
    assert!(writer.is_waiting_for_write_lock());
    assert!(writer.get_app("a", &Viewer::Everything).await.unwrap().is_some());
    assert!(!writer.is_waiting_for_write_lock());
    let mut next = store.write_as_component().await;
    let mut waiting = next.get_app("a", &Viewer::Everything);
    assert!(poll!(&mut waiting).is_pending());
    drop(writer);
    assert!(timeout(SOON, waiting).await.unwrap().unwrap().is_none());

    // A transaction with many records takes the permit too.
    drop(next);
    let mut writer = store.write_as_component().await;
    let many: Vec<_> = (0..100).map(|number| app(&number.to_string(), "many")).collect();
    writer.insert_apps(&many).await.unwrap();
    assert!(!writer.is_waiting_for_write_lock());
    writer.commit().await.unwrap();
    assert_eq!(store.read().await.count_apps(&named("many")).await.unwrap(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_both_kinds_all_finish() {
    let store = Store::sqlite();
    let tasks: Vec<_> = (0..400)
        .map(|number| {
            let storage = store.storage.clone();
            tokio::spawn(async move {
                let id = number.to_string();
                if number % 3 == 0 {
                    return insert(storage, id).await;
                }
                let context = context(Authentication::None);
                let mut writer = storage.begin(Access::Write, &context).await?;
                writer.insert_apps(&[app(&id, &id)]).await?;
                // Some are dropped halfway.
                match number % 7 {
                    0 => timeout(Duration::from_micros(50), writer.commit())
                        .await
                        .unwrap_or(Ok(())),
                    _ => writer.commit().await,
                }
            })
        })
        .collect();
    let mut least = 0;
    for (number, task) in tasks.into_iter().enumerate() {
        timeout(SOON, task)
            .await
            .expect("it was forgotten")
            .unwrap()
            .unwrap();
        least += u32::from(number % 3 == 0 || number % 7 != 0);
    }
    store.wait_until_free().await;
    assert!(store.count_apps().await >= least);
}

#[test]
fn a_transaction_dropped_outside_of_a_runtime_finishes_its_batch() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (store, second, committed) = runtime.block_on(async {
        let store = Store::sqlite();
        let mut first = store.write().await;
        first.insert_apps(&[app("a", "first")]).await.unwrap();
        let mut second = Box::pin(store.write());
        assert!(poll!(&mut second).is_pending());
        let mut committed = first.commit();
        assert!(poll!(&mut committed).is_pending());
        let second = second.await;
        (store, second, committed)
    });
    drop(second);
    store.assert_free();
    runtime.block_on(committed).unwrap();
}

#[test]
fn a_runtime_that_ends_leaves_no_batch_open() {
    let store = Store::sqlite();
    let mut acknowledged = 0;
    for round in 0..20 {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let tasks: Vec<_> = (0..8)
            .map(|task| runtime.spawn(insert(store.storage.clone(), format!("{round}-{task}"))))
            .collect();
        runtime.block_on(async {
            for task in tasks.into_iter().take(round % 8) {
                task.await.unwrap().unwrap();
                acknowledged += 1;
            }
        });
        runtime.shutdown_background();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        store.wait_until_free().await;
        let count = timeout(SOON, store.write())
            .await
            .unwrap()
            .count_apps(&AppFilter::EVERYTHING)
            .await
            .unwrap();
        assert!(count >= acknowledged, "{count} of {acknowledged}");
    });
}
