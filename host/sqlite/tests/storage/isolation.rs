//! What transactions see of each other.

use portico_storage::{Access, AppFilter, Authentication, Error};

use crate::store::{Store, app, context};

pub async fn a_writer_sees_every_earlier_commit(store: &Store) {
    let mut first = store.write().await;
    assert_eq!(first.count_apps(&AppFilter::EVERYTHING).await, Ok(0));
    first.insert_apps(&[app("a", "first")]).await.unwrap();

    let storage = store.storage.clone();
    let second = tokio::spawn(async move {
        let mut second = storage
            .begin_dashboard(Access::Write, &context(Authentication::None))
            .await
            .unwrap();
        let seen = second.count_apps(&AppFilter::EVERYTHING).await == Ok(1);
        second.insert_apps(&[app("b", "second")]).await.unwrap();
        second.commit().await.unwrap();
        seen
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!second.is_finished(), "two write at the same time");
    first.commit().await.unwrap();
    assert!(
        second.await.unwrap(),
        "the second began before the first was committed"
    );
    assert_eq!(store.count_apps().await, 2);
}

pub async fn a_read_transaction_cannot_write(store: &Store) {
    let mut reader = store.read().await;
    let refused = reader.insert_apps(&[app("a", "new")]).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    let refused = reader.touch_key("k", 1).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    drop(reader);
    assert_eq!(store.count_apps().await, 0);
}
