//! What an invite says, and which groups it gives.

use portico_storage::{AccountKey, Constraint, Error, NewInvite, hash_secret};

use crate::{records_to_store::new_user, store::Store};

const TOKEN: &str = "token";

fn invite(id: &str, creator_id: Option<&str>, group_ids: &[&str]) -> NewInvite {
    NewInvite {
        id: id.into(),
        expiration_date: 10,
        creator_id: creator_id.map(str::to_owned),
        note: Some(format!("for {id}")),
        group_ids: group_ids.iter().map(|&id| id.to_owned()).collect(),
    }
}

/// Two groups, and an administrator.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&new_user("root", "root")).await.unwrap();
    writer.grant_admin("root").await.unwrap();
    for id in ["family", "guests", "gone"] {
        assert!(writer.insert_group(id, id, id).await.unwrap());
    }
    writer.commit().await.unwrap();
}

/// Registers a user with an invite, in a transaction of their own, and returns their groups.
async fn register(store: &Store, invite_id: &str, user_id: &str) -> Vec<String> {
    let mut writer = store.write().await;
    assert!(writer.take_invite(invite_id, TOKEN, 9).await.unwrap());
    writer.insert_user(&new_user(user_id, user_id)).await.unwrap();
    let other = format!("{user_id}2");
    writer.insert_user(&new_user(&other, &other)).await.unwrap();
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(
        reader.list_memberships(&other).await.unwrap(),
        [""; 0],
        "an invite is for one"
    );
    reader.list_memberships(user_id).await.unwrap()
}

pub async fn the_user_of_an_invite_joins_the_groups_that_are_left(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    let made = invite("i", Some("root"), &["guests", "family", "gone"]);
    writer.insert_invite(&made, &hash_secret(TOKEN)).await.unwrap();
    let operators = invite("o", None, &["guests"]);
    writer
        .insert_invite(&operators, &hash_secret(TOKEN))
        .await
        .unwrap();
    writer.commit().await.unwrap();

    let listed = store.read().await.list_invites().await.unwrap();
    let groups = |index: usize| -> Vec<_> {
        listed[index]
            .groups
            .iter()
            .map(|group| (&group.id[..], &group.name[..]))
            .collect()
    };
    assert_eq!(listed[0].note.as_deref(), Some("for i"));
    assert_eq!(
        groups(0),
        [("family", "family"), ("gone", "gone"), ("guests", "guests")]
    );
    assert_eq!(groups(1), [("guests", "guests")]);

    let mut writer = store.write().await;
    assert!(writer.delete_group("gone").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(register(store, "i", "ann").await, ["family", "guests"]);
    assert_eq!(register(store, "o", "bob").await, ["guests"]);

    let mut writer = store.write().await;
    let made = invite("j", None, &["gone"]);
    let refused = writer.insert_invite(&made, &hash_secret(TOKEN)).await;
    assert!(matches!(refused, Err(Error::Constraint(Constraint::Reference))));
}

pub async fn an_invite_of_who_is_no_administrator_any_more_gives_no_groups(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for id in ["ann", "bob"] {
        writer.insert_user(&new_user(id, id)).await.unwrap();
        writer.grant_admin(id).await.unwrap();
        let made = invite(id, Some(id), &["family"]);
        writer.insert_invite(&made, &hash_secret(TOKEN)).await.unwrap();
    }
    let admins = writer.find_group("admins").await.unwrap().unwrap();
    assert!(writer.remove_from_group("ann", &admins).await.unwrap());
    assert!(writer.set_disabled("bob", true).await.unwrap());
    writer.commit().await.unwrap();
    for (maker, user) in [("ann", "carl"), ("bob", "dora")] {
        assert_eq!(register(store, maker, user).await, [""; 0], "{maker}");
        let mut reader = store.read().await;
        let account = reader.get_account(&AccountKey::Id(user.into())).await.unwrap();
        assert!(account.is_some(), "the account is made all the same");
    }
}

pub async fn who_has_the_token_finds_the_invite(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer
        .insert_invite(&invite("i", None, &[]), &hash_secret(TOKEN))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    let found = reader
        .find_invite("i", &hash_secret(TOKEN))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.expiration_date, found.note.as_deref()),
        (10, Some("for i"))
    );
    for (id, token) in [
        ("i", "other"),
        ("i", ""),
        ("j", TOKEN),
        ("", TOKEN),
        ("i\0", TOKEN),
    ] {
        assert_eq!(
            reader.find_invite(id, &hash_secret(token)).await.unwrap(),
            None,
            "{id} {token}"
        );
    }
}

pub async fn who_has_the_hash_of_the_token_takes_the_invite_once(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    let made = invite("i", Some("root"), &["family"]);
    writer.insert_invite(&made, &hash_secret(TOKEN)).await.unwrap();
    for (id, token, now) in [("i", "other", 9), ("i", TOKEN, 10), ("j", TOKEN, 9)] {
        let taken = writer.take_held_invite(id, &hash_secret(token), now).await;
        assert!(!taken.unwrap(), "{id} {token} {now}");
    }
    assert!(
        writer
            .take_held_invite("i", &hash_secret(TOKEN), 9)
            .await
            .unwrap()
    );
    writer.insert_user(&new_user("ann", "ann")).await.unwrap();
    assert!(
        !writer
            .take_held_invite("i", &hash_secret(TOKEN), 9)
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    assert_eq!(
        store.read().await.list_memberships("ann").await.unwrap(),
        ["family"]
    );
}
