//! What people see first who have chosen no home board.

use portico_model::HomeBoards;
use portico_storage::{Constraint, DefaultHome, Error};

use crate::store::{Store, board, user};

fn boards(home: Option<&str>, mobile: Option<&str>) -> HomeBoards {
    HomeBoards {
        home_board_id: home.map(Into::into),
        mobile_home_board_id: mobile.map(Into::into),
    }
}

fn home(group_id: Option<&str>, boards: HomeBoards) -> DefaultHome {
    DefaultHome {
        group_id: group_id.map(Into::into),
        boards,
    }
}

/// A user in two groups, of which the one with the later id has the earlier name, and three boards.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("ann", "ann")).await.unwrap();
    for (id, name) in [("g1", "zoo"), ("g2", "art"), ("g3", "others")] {
        assert!(writer.insert_group(id, name, name).await.unwrap());
    }
    for id in ["g1", "g2"] {
        assert!(writer.add_to_group("ann", id).await.unwrap());
    }
    for id in ["a", "b", "c"] {
        assert!(writer.insert_board(&board(id, None, vec![]), id).await.unwrap());
    }
    for home in [
        home(Some("g3"), boards(Some("a"), None)),
        home(Some("g1"), boards(Some("a"), Some("b"))),
        home(None, boards(None, Some("c"))),
        home(Some("g2"), boards(Some("b"), None)),
    ] {
        assert!(writer.set_default_home(&home).await.unwrap());
    }
    writer.commit().await.unwrap();
}

pub async fn home_boards_of_groups_come_by_their_names_and_before_everyones(store: &Store) {
    fill(store).await;
    let mut reader = store.read().await;
    let everyones = boards(None, Some("c"));
    let of_ann = [
        boards(Some("b"), None),
        boards(Some("a"), Some("b")),
        everyones.clone(),
    ];
    assert_eq!(reader.list_default_homes_of(Some("ann")).await.unwrap(), of_ann);
    for other in [None, Some("missing"), Some("missing\0")] {
        let homes = reader.list_default_homes_of(other).await.unwrap();
        assert_eq!(homes, std::slice::from_ref(&everyones), "{other:?}");
    }
    let all = reader.list_default_homes().await.unwrap();
    let of: Vec<_> = all.iter().map(|home| home.group_id.as_deref()).collect();
    assert_eq!(of, [None, Some("g1"), Some("g2"), Some("g3")]);
}

pub async fn a_home_board_is_replaced_and_goes_with_its_group_and_its_board(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(
        writer
            .set_default_home(&home(Some("g1"), boards(Some("c"), None)))
            .await
            .unwrap()
    );
    assert!(
        writer
            .set_default_home(&home(None, boards(None, None)))
            .await
            .unwrap()
    );
    for group in ["missing", "missing\0"] {
        assert!(
            !writer
                .set_default_home(&home(Some(group), boards(None, None)))
                .await
                .unwrap()
        );
    }
    assert!(writer.delete_board("b").await.unwrap());
    assert!(writer.delete_group("g3").await.unwrap());
    writer.commit().await.unwrap();
    store.assert_nowhere("g3");
    let left = [home(Some("g1"), boards(Some("c"), None))];
    assert_eq!(store.read().await.list_default_homes().await.unwrap(), left);
    let mut writer = store.write().await;
    let refused = writer
        .set_default_home(&home(None, boards(Some("a"), Some("missing"))))
        .await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));
    assert!(writer.commit().await.is_err());
}

pub async fn the_home_boards_of_twenty_groups_count(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("ann", "ann")).await.unwrap();
    assert!(writer.insert_board(&board("a", None, vec![]), "a").await.unwrap());
    assert!(
        writer
            .set_default_home(&home(None, boards(None, Some("a"))))
            .await
            .unwrap()
    );
    for number in 0..25 {
        let id = format!("g{number}");
        assert!(writer.insert_group(&id, &id, &id).await.unwrap());
        assert!(writer.add_to_group("ann", &id).await.unwrap());
        assert!(
            writer
                .set_default_home(&home(Some(&id), boards(Some("a"), None)))
                .await
                .unwrap()
        );
    }
    writer.commit().await.unwrap();
    let homes = store
        .read()
        .await
        .list_default_homes_of(Some("ann"))
        .await
        .unwrap();
    assert_eq!((homes.len(), &homes[20]), (21, &boards(None, Some("a"))));
}
