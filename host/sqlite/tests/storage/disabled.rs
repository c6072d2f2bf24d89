//! Disabled users: their credentials end.

use portico_storage::{
    AccountKey, ApiKey, Authentication, CredentialKey, DashboardTransaction, Result, hash_secret,
};

use crate::store::{Store, board, session, user};

async fn insert_key(writer: &mut dyn DashboardTransaction, id: &str, user_id: &str) -> Result<()> {
    let key = ApiKey {
        id: id.into(),
        name: None,
        user_id: user_id.into(),
        created_at: 1,
        expires_at: None,
        last_used_at: None,
    };
    writer.insert_key(&key, &hash_secret(id)).await
}

async fn insert_session(writer: &mut dyn DashboardTransaction, id: &str, user_id: &str) -> Result<()> {
    let session = session(id, user_id, 9);
    writer.insert_session(&session, &hash_secret(id)).await
}

/// Two users, each with a key and two sessions; ann has a group and a board as well.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    assert!(writer.insert_group("group", "group", "group").await.unwrap());
    for id in ["ann", "bob"] {
        writer.insert_user(&user(id, id)).await.unwrap();
        insert_key(&mut *writer, &format!("key of {id}"), id)
            .await
            .unwrap();
        for number in 1..=2 {
            let session = format!("session {number} of {id}");
            insert_session(&mut *writer, &session, id).await.unwrap();
        }
    }
    assert!(writer.add_to_group("ann", "group").await.unwrap());
    let board = board("board", Some("ann"), vec![]);
    assert!(writer.insert_board(&board, "board").await.unwrap());
    writer.commit().await.unwrap();
}

/// Which of the credentials of a user are valid.
async fn valid(transaction: &mut dyn DashboardTransaction, user_id: &str) -> Vec<String> {
    let key = format!("key of {user_id}");
    let sessions = [1, 2].map(|number| format!("session {number} of {user_id}"));
    let mut keys = vec![CredentialKey::Key(key)];
    keys.extend(sessions.map(|session| CredentialKey::Session(hash_secret(&session))));
    let mut valid = Vec::new();
    for key in keys {
        let found = transaction.find_credential(&key).await.unwrap();
        valid.extend(found.map(|credential| credential.id));
    }
    valid
}

fn of(user_id: &str) -> [String; 3] {
    ["key", "session 1", "session 2"].map(|what| format!("{what} of {user_id}"))
}

pub async fn disabling_a_user_ends_their_credentials_and_nothing_else(store: &Store) {
    fill(store).await;
    let mut dropped = store.write().await;
    assert!(dropped.set_disabled("ann", true).await.unwrap());
    drop(dropped);
    assert_eq!(valid(&mut *store.read().await, "ann").await, of("ann"));

    // Their own session ends as well.
    let own = Authentication::Session("session 1 of ann".into());
    let mut writer = store.write_as(own).await;
    assert!(writer.set_disabled("ann", true).await.unwrap());
    assert!(!writer.set_disabled("missing", true).await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert!(valid(&mut *reader, "ann").await.is_empty());
    assert!(reader.list_sessions("ann").await.unwrap().is_empty());
    assert_eq!(valid(&mut *reader, "bob").await, of("bob"));
    assert_eq!(reader.list_memberships("ann").await.unwrap(), ["group"]);
    let board = reader.get_board("board").await.unwrap().unwrap();
    assert_eq!(board.board.creator_id.as_deref(), Some("ann"));
    assert_eq!(
        reader.get_user("ann").await.unwrap(),
        Some(user("ann", "ann").user)
    );
    drop(reader);

    // They do not come back.
    let mut writer = store.write().await;
    assert!(writer.set_disabled("ann", false).await.unwrap());
    writer.commit().await.unwrap();
    assert!(valid(&mut *store.read().await, "ann").await.is_empty());
}

pub async fn a_user_of_the_same_id_as_a_deleted_one_is_not_disabled(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.set_disabled("ann", true).await.unwrap());
    assert!(writer.delete_user("ann").await.unwrap());
    assert!(!writer.set_disabled("ann", true).await.unwrap());
    writer.insert_user(&user("ann", "ann")).await.unwrap();
    let account = writer.get_account(&AccountKey::Id("ann".into())).await;
    assert!(!account.unwrap().unwrap().disabled);
    insert_session(&mut *writer, "another", "ann").await.unwrap();
}
