//! What the storage kit does not say about names: those of the dashboard side, and texts that PostgreSQL cannot store.

use portico_storage::{AppFilter, Slice, UserFilter};

use crate::store::{Store, app, board, engine, named, user};

pub async fn a_text_with_u0000_is_in_no_name(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_apps(&[app("a", "common")]).await.unwrap();
    writer.insert_user(&user("u", "common")).await.unwrap();
    writer.commit().await.unwrap();
    for (contains, found) in [("com", 1), ("\0", 0), ("com\0", 0), ("com\0mon", 0)] {
        let apps: AppFilter = named(contains);
        let users = UserFilter {
            name_contains: Some(contains.into()),
            ..UserFilter::default()
        };
        let mut reader = store.read().await;
        assert_eq!(reader.count_apps(&apps).await, Ok(found), "{contains:?}");
        assert_eq!(reader.count_users(&users).await, Ok(found), "{contains:?}");
        let apps = reader.list_apps(&apps, Slice::first(5)).await.unwrap();
        let users = reader.list_users(&users, Slice::first(5), false).await.unwrap();
        assert_eq!((apps.len(), users.len()), (found as usize, found as usize));
    }
}

pub async fn group_board_and_engine_names_are_taken_once(store: &Store) {
    let mut writer = store.write().await;
    assert!(writer.insert_group("g", "Family", "family").await.unwrap());
    assert!(!writer.insert_group("h", "FAMILY", "family").await.unwrap());
    assert!(
        writer
            .insert_board(&board("b", None, vec![]), "home")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_board(&board("c", None, vec![]), "home")
            .await
            .unwrap()
    );
    assert!(
        writer
            .insert_search_engine(&engine("e", "One", "o"), "one", "o")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_search_engine(&engine("f", "One", "p"), "one", "p")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_search_engine(&engine("f", "Two", "O"), "two", "o")
            .await
            .unwrap()
    );
    // A taken name does not fail the transaction: the rest is committed.
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.list_groups().await.unwrap().len(), 1);
    assert_eq!(reader.list_boards().await.unwrap().len(), 1);
    assert_eq!(reader.list_search_engines().await.unwrap().len(), 1);
}
