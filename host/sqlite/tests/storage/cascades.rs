//! What is deleted with a record, and what stays.

use portico_model::{HomeBoards, Provider, SearchPreferences};
use portico_storage::{
    AccountKey, ApiKey, AppFilter, BoardItem, CredentialKey, ExtrasOf, KeyLimits, NewInvite, hash_secret,
};

use crate::store::{Store, app, board, engine, session, shares, subject, texts, user};

fn item(app_id: &str) -> BoardItem {
    BoardItem::App {
        app_id: app_id.into(),
    }
}

fn bookmarks(app_ids: &[&str]) -> BoardItem {
    BoardItem::Bookmarks {
        app_ids: texts(app_ids),
    }
}

/// Two users, ann and bob, who have one of everything.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    writer
        .insert_apps(&[app("app-1", "one"), app("app-2", "two")])
        .await
        .unwrap();
    assert!(
        writer
            .insert_search_engine(&engine("engine", "One", "o"), "one", "o")
            .await
            .unwrap()
    );
    assert!(writer.insert_group("group", "family", "family").await.unwrap());
    assert!(
        writer
            .set_group_permissions("group", &texts(&["admin", "app-create"]))
            .await
            .unwrap()
    );
    for (number, id) in ["ann", "bob"].into_iter().enumerate() {
        writer.insert_user(&user(id, id)).await.unwrap();
        writer
            .insert_identity(id, &subject(Provider::Oidc, &format!("subject of {id}")))
            .await
            .unwrap();
        assert!(writer.add_to_group(id, "group").await.unwrap());
        let key = ApiKey {
            id: format!("key of {id}"),
            name: None,
            user_id: id.into(),
            limits: KeyLimits::default(),
            created_at: 1,
            expires_at: None,
            last_used_at: None,
        };
        writer.insert_key(&key, &hash_secret(&key.id)).await.unwrap();
        let session = session(&format!("session of {id}"), id, 9);
        writer
            .insert_session(&session, &hash_secret(&session.id))
            .await
            .unwrap();
        let invite = NewInvite {
            id: format!("invite of {id}"),
            expiration_date: number as u64,
            creator_id: Some(id.into()),
            note: None,
            group_ids: Vec::new(),
        };
        writer
            .insert_invite(&invite, &hash_secret(&invite.id))
            .await
            .unwrap();
        let items = vec![
            item("app-1"),
            bookmarks(&["app-1", "app-2", "app-1"]),
            bookmarks(&["app-1"]),
            item("app-2"),
        ];
        let board = board(&format!("board of {id}"), Some(id), items);
        assert!(writer.insert_board(&board, &board.board.id).await.unwrap());
    }
    for id in ["ann", "bob"] {
        for owner in ["ann", "bob"] {
            let board = format!("board of {owner}");
            assert!(
                writer
                    .share_board(&board, &shares(&["ann", "bob"], &["group"]))
                    .await
                    .unwrap()
            );
        }
        let home = HomeBoards {
            home_board_id: Some("board of ann".into()),
            mobile_home_board_id: Some("board of bob".into()),
        };
        assert!(writer.set_home_boards(id, &home).await.unwrap());
        let search = SearchPreferences {
            default_search_engine_id: Some("engine".into()),
            open_in_new_tab: false,
        };
        for of in [
            ExtrasOf::User(id.into()),
            ExtrasOf::Board(format!("board of {id}")),
        ] {
            assert!(writer.set_extras(&of, Some("{}")).await.unwrap());
        }
        assert!(writer.set_search_preferences(id, &search).await.unwrap());
    }
    writer.commit().await.unwrap();
}

pub async fn extras_are_kept_with_their_record_and_go_with_it(store: &Store) {
    fill(store).await;
    let (user, board) = (
        ExtrasOf::User("ann".into()),
        ExtrasOf::Board("board of ann".into()),
    );
    let mut writer = store.write().await;
    assert!(writer.set_extras(&user, Some("{\"a\": \"ä\"}")).await.unwrap());
    assert!(writer.set_extras(&board, None).await.unwrap());
    for missing in [
        ExtrasOf::User("board of ann".into()),
        ExtrasOf::Board("ann".into()),
    ] {
        assert!(!writer.set_extras(&missing, Some("{}")).await.unwrap());
        assert!(!writer.set_extras(&missing, None).await.unwrap());
    }
    writer.commit().await.unwrap();

    let mut reader = store.read().await;
    let kept = reader.get_extras(&user).await.unwrap();
    assert_eq!(kept.as_deref(), Some("{\"a\": \"ä\"}"));
    assert_eq!(reader.get_extras(&board).await.unwrap(), None);
    let other = ExtrasOf::Board("board of bob".into());
    assert_eq!(reader.get_extras(&other).await.unwrap().as_deref(), Some("{}"));
    drop(reader);

    let mut writer = store.write().await;
    assert!(writer.delete_user("ann").await.unwrap());
    assert!(writer.delete_board("board of bob").await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    for gone in [&user, &other, &ExtrasOf::User("missing".into())] {
        assert_eq!(reader.get_extras(gone).await.unwrap(), None);
    }
    let other = ExtrasOf::User("bob".into());
    assert_eq!(reader.get_extras(&other).await.unwrap().as_deref(), Some("{}"));
}

pub async fn deleting_a_user_deletes_everything_that_is_theirs(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.delete_user("ann").await.unwrap());
    assert!(!writer.delete_user("ann").await.unwrap());
    writer.commit().await.unwrap();

    store.assert_nowhere("ann");
    store.assert_nowhere("key of ann");
    store.assert_nowhere("session of ann");
    store.assert_nowhere("invite of ann");
    store.assert_nowhere("subject of ann");

    let mut reader = store.read().await;
    assert!(reader.get_user("ann").await.unwrap().is_none());
    let subject = |name: &str| AccountKey::Subject(subject(Provider::Oidc, &format!("subject of {name}")));
    assert!(reader.get_account(&subject("ann")).await.unwrap().is_none());
    assert!(reader.get_account(&subject("bob")).await.unwrap().is_some());
    let key = |name: &str| CredentialKey::Key(format!("key of {name}"));
    assert!(reader.find_credential(&key("ann")).await.unwrap().is_none());
    assert!(reader.find_credential(&key("bob")).await.unwrap().is_some());
    let session = |name: &str| CredentialKey::Session(hash_secret(&format!("session of {name}")));
    assert!(reader.find_credential(&session("ann")).await.unwrap().is_none());
    assert!(reader.find_credential(&session("bob")).await.unwrap().is_some());
    let invites = reader.list_invites().await.unwrap();
    assert_eq!(
        invites.iter().map(|invite| &invite.id[..]).collect::<Vec<_>>(),
        ["invite of bob"]
    );
    let groups = reader.list_groups().await.unwrap();
    assert_eq!(
        groups[0]
            .members
            .iter()
            .map(|member| &member.id[..])
            .collect::<Vec<_>>(),
        ["bob"]
    );
    // The board stays, with its items and shares, but without a creator.
    let board = reader.get_board("board of ann").await.unwrap().unwrap();
    assert_eq!(board.items().count(), 4);
    assert_eq!(board.board.creator_id, None);
    assert_eq!(
        reader
            .get_user("bob")
            .await
            .unwrap()
            .unwrap()
            .home_board_id
            .as_deref(),
        Some("board of ann")
    );
    assert_eq!(
        reader
            .get_board("board of bob")
            .await
            .unwrap()
            .unwrap()
            .board
            .creator_id
            .as_deref(),
        Some("bob")
    );
}

pub async fn deleting_an_app_removes_it_from_every_board(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.delete_app("app-1").await.unwrap());
    assert!(!writer.delete_app("app-1").await.unwrap());
    writer.commit().await.unwrap();

    store.assert_nowhere("app-1");
    let mut reader = store.read().await;
    for id in ["board of ann", "board of bob"] {
        let board = reader.get_board(id).await.unwrap().unwrap();
        assert_eq!(
            board.items().cloned().collect::<Vec<_>>(),
            [bookmarks(&["app-2"]), bookmarks(&[]), item("app-2")]
        );
    }
}

pub async fn deleting_a_board_clears_it_as_home_board(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.delete_board("board of ann").await.unwrap());
    assert!(!writer.delete_board("board of ann").await.unwrap());
    writer.commit().await.unwrap();

    store.assert_nowhere("board of ann");
    let mut reader = store.read().await;
    assert!(reader.get_board("board of ann").await.unwrap().is_none());
    assert!(!reader.can_view_board("ann", "board of ann").await.unwrap());
    let user = reader.get_user("ann").await.unwrap().unwrap();
    assert_eq!(user.home_board_id, None);
    assert_eq!(user.mobile_home_board_id.as_deref(), Some("board of bob"));
    assert_eq!(reader.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 2);
}

pub async fn deleting_a_group_takes_its_permissions_away(store: &Store) {
    fill(store).await;
    assert!(store.read().await.has_another_admin("ann").await.unwrap());
    let mut writer = store.write().await;
    assert!(writer.delete_group("group").await.unwrap());
    assert!(!writer.delete_group("group").await.unwrap());
    writer.commit().await.unwrap();

    store.assert_nowhere("group");
    let mut reader = store.read().await;
    assert!(reader.list_groups().await.unwrap().is_empty());
    assert!(!reader.has_another_admin("ann").await.unwrap());
    assert!(
        reader
            .get_session_user("ann")
            .await
            .unwrap()
            .unwrap()
            .permissions
            .is_empty()
    );
}
