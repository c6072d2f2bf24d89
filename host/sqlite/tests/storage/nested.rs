//! Transactions inside a transaction: the component's writes are durable with the whole, or not at all.

use portico_storage::nested::Enclosing;
use portico_storage::{Access, AppFilter, Authentication, Constraint, Error, Transaction, Viewer};

use crate::store::{Store, app, context, user};

async fn part(enclosing: &Enclosing, access: Access) -> Box<dyn Transaction> {
    let storage = enclosing.storage();
    storage
        .begin(access, &context(Authentication::None))
        .await
        .unwrap()
}

async fn apps(store: &Store) -> u32 {
    store.count_apps().await
}

pub async fn the_writes_of_parts_are_durable_with_the_whole(store: &Store) {
    let enclosing = Enclosing::new(store.write().await);
    let mut first = part(&enclosing, Access::Write).await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(apps(store).await, 0, "before the whole is committed");
    let mut host = enclosing.transaction().await;
    assert!(host.insert_group("g", "g", "g").await.unwrap());
    assert_eq!(host.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 1);
    drop(host);
    let mut second = part(&enclosing, Access::Write).await;
    assert!(second.get_app("a", &Viewer::Everything).await.unwrap().is_some());
    second.insert_apps(&[app("b", "second")]).await.unwrap();
    second.commit().await.unwrap();
    // A part that only reads may end either way.
    drop(part(&enclosing, Access::Read).await);
    drop(part(&enclosing, Access::Write).await);
    enclosing.commit().await.unwrap();
    assert_eq!(apps(store).await, 2);
    assert_eq!(store.read().await.list_groups().await.unwrap().len(), 1);
}

pub async fn dropping_the_whole_undoes_its_parts(store: &Store) {
    let enclosing = Enclosing::new(store.write().await);
    let mut first = part(&enclosing, Access::Write).await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    first.commit().await.unwrap();
    drop(enclosing);
    assert_eq!(apps(store).await, 0);
    // The permit to write is free again.
    store.write().await.commit().await.unwrap();
}

pub async fn a_part_that_wrote_and_was_dropped_breaks_the_whole(store: &Store) {
    let enclosing = Enclosing::new(store.write().await);
    let mut first = part(&enclosing, Access::Write).await;
    first.insert_apps(&[app("a", "first")]).await.unwrap();
    drop(first);
    let refused = enclosing
        .storage()
        .begin(Access::Write, &context(Authentication::None))
        .await;
    assert!(refused.is_err(), "it takes no more");
    let refused = enclosing.commit().await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert_eq!(apps(store).await, 0);
}

pub async fn a_part_in_which_a_call_failed_breaks_the_whole(store: &Store) {
    let enclosing = Enclosing::new(store.write().await);
    let mut first = part(&enclosing, Access::Write).await;
    first.insert_user(&user("u", "ann")).await.unwrap();
    first.commit().await.unwrap();
    let mut second = part(&enclosing, Access::Write).await;
    let refused = second.insert_user(&user("v", "ANN")).await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::UserName))),
        "{refused:?}"
    );
    let refused = second.insert_apps(&[app("a", "new")]).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(second.commit().await.is_err());
    assert!(enclosing.commit().await.is_err());
    assert!(!store.read().await.has_users().await.unwrap());
}

pub async fn parts_are_open_one_at_a_time_and_read_only_ones_cannot_write(store: &Store) {
    let enclosing = Enclosing::new(store.write().await);
    let mut first = part(&enclosing, Access::Read).await;
    let second = enclosing
        .storage()
        .begin(Access::Read, &context(Authentication::None))
        .await;
    assert!(second.is_err(), "two at the same time");
    let refused = first.insert_apps(&[app("a", "new")]).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    drop(first);
    enclosing.commit().await.unwrap();
    assert_eq!(apps(store).await, 0);
}
