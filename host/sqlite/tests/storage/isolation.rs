//! What transactions see of each other.

use portico_storage::{Access, AppFilter, Authentication, Constraint, Error, Viewer};

use crate::store::{Store, app, context, user};

pub async fn a_transaction_sees_its_own_changes(store: &Store) {
    let mut writer = store.write().await;
    assert!(!writer.has_users().await.unwrap());
    writer.insert_user(&user("u", "ann")).await.unwrap();
    assert!(writer.has_users().await.unwrap());
    assert_eq!(writer.get_user("u").await.unwrap().unwrap().name, "ann");
}

pub async fn a_transaction_that_is_dropped_leaves_nothing(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_apps(&[app("a", "kept")]).await.unwrap();
    writer.commit().await.unwrap();

    let mut writer = store.write().await;
    writer.insert_apps(&[app("b", "dropped")]).await.unwrap();
    assert!(writer.delete_app("a").await.unwrap());
    drop(writer);

    // The next writer must not carry it into its own commit either.
    let mut writer = store.write().await;
    assert_eq!(writer.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 1);
    writer.insert_apps(&[app("c", "next")]).await.unwrap();
    writer.commit().await.unwrap();

    let mut reader = store.read().await;
    assert!(reader.get_app("a", &Viewer::Everything).await.unwrap().is_some());
    assert!(reader.get_app("b", &Viewer::Everything).await.unwrap().is_none());
    assert!(reader.get_app("c", &Viewer::Everything).await.unwrap().is_some());
}

pub async fn a_reader_sees_one_state_from_its_first_read_on(store: &Store) {
    let mut reader = store.read().await;
    assert_eq!(reader.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 0);

    let mut writer = store.write().await;
    writer.insert_apps(&[app("a", "new")]).await.unwrap();
    writer.commit().await.unwrap();

    assert_eq!(reader.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 0);
    assert!(reader.get_app("a", &Viewer::Everything).await.unwrap().is_none());
    reader.commit().await.unwrap();
    assert_eq!(store.count_apps().await, 1);
}

pub async fn a_reader_does_not_see_uncommitted_changes(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_apps(&[app("a", "new")]).await.unwrap();
    assert_eq!(store.count_apps().await, 0);
    writer.commit().await.unwrap();
    assert_eq!(store.count_apps().await, 1);
}

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

pub async fn a_transaction_that_failed_cannot_be_committed(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    let refused = writer.insert_user(&user("v", "ANN")).await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::UserName))),
        "{refused:?}"
    );
    let refused = writer.insert_apps(&[app("a", "new")]).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    let refused = writer.commit().await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    let mut reader = store.read().await;
    assert!(!reader.has_users().await.unwrap());
    assert_eq!(reader.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 0);
}

pub async fn insert_apps_is_all_or_nothing(store: &Store) {
    let mut writer = store.write().await;
    let twice = [app("a", "one"), app("b", "two"), app("a", "three")];
    let refused = writer.insert_apps(&twice).await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::Id))),
        "{refused:?}"
    );
    writer.commit().await.unwrap_err();
    assert_eq!(store.count_apps().await, 0);
}
