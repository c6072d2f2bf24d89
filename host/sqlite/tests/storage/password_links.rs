//! Links for a new password: which can be used, and what ends them.

use portico_storage::{Constraint, Error, PasswordLink, Result, hash_secret};

use crate::store::{Store, user};

fn link(user_id: &str, creator_id: Option<&str>) -> PasswordLink {
    PasswordLink {
        user_id: user_id.into(),
        expires_at: 100,
        creator_id: creator_id.map(Into::into),
    }
}

/// A link of ann's, which root made; bob has one, too.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    for id in ["ann", "bob", "root"] {
        writer.insert_user(&user(id, id)).await.unwrap();
    }
    writer.grant_admin("root").await.unwrap();
    for (id, creator) in [("ann", Some("root")), ("bob", None)] {
        let token = hash_secret(&format!("of {id}"));
        writer
            .put_password_link(&link(id, creator), &token)
            .await
            .unwrap();
    }
    writer.commit().await.unwrap();
}

async fn owner(store: &Store, token: &str, now: u64) -> Option<String> {
    let mut reader = store.read().await;
    let owner = reader.find_password_link(&hash_secret(token), now).await;
    owner.unwrap()
}

pub async fn a_link_is_its_users_until_it_expires_is_replaced_or_is_used(store: &Store) {
    fill(store).await;
    assert_eq!(owner(store, "of ann", 99).await.as_deref(), Some("ann"));
    assert_eq!(owner(store, "of bob", 99).await.as_deref(), Some("bob"));
    assert_eq!(owner(store, "of ann", 100).await, None);
    assert_eq!(owner(store, "of nobody", 1).await, None);

    let mut writer = store.write().await;
    let another = hash_secret("another");
    writer
        .put_password_link(&link("ann", None), &another)
        .await
        .unwrap();
    writer.commit().await.unwrap();
    assert_eq!(owner(store, "of ann", 1).await, None);
    assert_eq!(owner(store, "another", 1).await.as_deref(), Some("ann"));

    let mut writer = store.write().await;
    assert!(writer.delete_password_link("ann").await.unwrap());
    assert!(!writer.delete_password_link("ann").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(owner(store, "another", 1).await, None);
    assert_eq!(owner(store, "of bob", 1).await.as_deref(), Some("bob"));
}

pub async fn a_link_ends_with_the_password_its_user_and_its_maker(store: &Store) {
    let ends = [
        "password",
        "disabled",
        "user",
        "maker is deleted",
        "maker is disabled",
        "maker is not an administrator",
    ];
    fill(store).await;
    let mut writer = store.write().await;
    for end in ends {
        let maker = format!("maker {end}");
        for id in [&maker, end] {
            writer.insert_user(&user(id, id)).await.unwrap();
        }
        writer.grant_admin(&maker).await.unwrap();
        let token = hash_secret(&format!("of {end}"));
        let link = link(end, Some(&maker));
        writer.put_password_link(&link, &token).await.unwrap();
    }
    writer.commit().await.unwrap();
    for end in ends {
        let (token, maker) = (format!("of {end}"), format!("maker {end}"));
        assert_eq!(owner(store, &token, 1).await.as_deref(), Some(end));
        let mut writer = store.write().await;
        match end {
            "password" => assert!(writer.set_password_if(end, None, "new").await.unwrap()),
            "disabled" => {
                assert!(writer.set_disabled(end, true).await.unwrap());
                assert!(writer.set_disabled(end, false).await.unwrap());
            }
            "user" => assert!(writer.delete_user(end).await.unwrap()),
            "maker is deleted" => assert!(writer.delete_user(&maker).await.unwrap()),
            "maker is disabled" => assert!(writer.set_disabled(&maker, true).await.unwrap()),
            _ => {
                let group = writer.list_memberships(&maker).await.unwrap().remove(0);
                assert!(writer.remove_from_group(&maker, &group).await.unwrap());
            }
        }
        writer.commit().await.unwrap();
        assert_eq!(owner(store, &token, 1).await, None, "{end}");
    }
    assert_eq!(owner(store, "of bob", 1).await.as_deref(), Some("bob"));
}

pub async fn another_hash_of_the_same_password_ends_no_link(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.set_password_if("ann", None, "old").await.unwrap());
    let token = hash_secret("later");
    writer
        .put_password_link(&link("ann", None), &token)
        .await
        .unwrap();
    assert!(writer.rehash_password_if("ann", "old", "rehashed").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(owner(store, "later", 1).await.as_deref(), Some("ann"));
}

pub async fn nobody_gets_a_link_who_is_missing_or_disabled(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.set_disabled("bob", true).await.unwrap());
    writer.commit().await.unwrap();
    let refused = |answer: Result<()>| {
        let is_refused = matches!(answer, Err(Error::Constraint(Constraint::Reference)));
        assert!(is_refused, "{answer:?}");
    };
    for link in [
        link("bob", None),
        link("missing", None),
        link("ann", Some("missing")),
    ] {
        let token = hash_secret("new");
        refused(store.write().await.put_password_link(&link, &token).await);
    }
}
