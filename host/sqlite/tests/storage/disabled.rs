//! Disabled users: their credentials end, and lists tell them apart.

use portico_model::Provider;
use portico_storage::{
    AccountKey, ApiKey, Authentication, Constraint, CredentialKey, DashboardTransaction, Error, ListedUser,
    Result, Slice, UserFilter, hash_secret,
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

pub async fn no_credential_of_a_disabled_user_is_inserted(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.set_disabled("ann", true).await.unwrap());
    // In the same transaction, and in later ones.
    let refused = insert_key(&mut *writer, "another", "ann").await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));
    drop(writer);
    let mut writer = store.write().await;
    assert!(writer.set_disabled("ann", true).await.unwrap());
    writer.commit().await.unwrap();
    let refused = insert_key(&mut *store.write().await, "another", "ann").await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));
    let refused = insert_session(&mut *store.write().await, "another", "ann").await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));

    let mut writer = store.write().await;
    insert_key(&mut *writer, "another", "bob").await.unwrap();
    assert!(writer.set_disabled("ann", false).await.unwrap());
    insert_key(&mut *writer, "key of ann", "ann").await.unwrap();
    insert_session(&mut *writer, "session 2 of ann", "ann")
        .await
        .unwrap();
    writer.commit().await.unwrap();
    assert_eq!(
        valid(&mut *store.read().await, "ann").await,
        ["key of ann", "session 2 of ann"]
    );
}

pub async fn a_disabled_user_is_no_other_admin(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.grant_admin("ann").await.unwrap();
    writer.grant_admin("bob").await.unwrap();
    assert!(writer.has_another_admin("bob").await.unwrap());
    assert!(writer.set_disabled("ann", true).await.unwrap());
    assert!(!writer.has_another_admin("bob").await.unwrap());
    assert!(writer.has_another_admin("ann").await.unwrap());
    assert!(writer.set_disabled("bob", true).await.unwrap());
    assert!(!writer.has_another_admin("unknown").await.unwrap());
    assert!(writer.set_disabled("ann", false).await.unwrap());
    assert!(writer.has_another_admin("bob").await.unwrap());
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

pub async fn users_are_listed_and_counted_by_whether_they_are_disabled(store: &Store) {
    let mut writer = store.write().await;
    let mut all = Vec::new();
    for number in 0..40 {
        let mut new = user(&format!("u{number:02}"), &format!("user {number:02}"));
        if number % 3 == 0 {
            new.user.provider = Provider::Oidc;
        }
        let email = if number % 5 == 0 {
            "five@example.org"
        } else {
            "x@example.org"
        };
        new.user.email = Some(email.into());
        new.user.email_verified = (number % 2 == 0).then_some(number);
        new.user.image = (number % 7 == 0).then(|| format!("image {number}"));
        let disabled = number % 4 == 0;
        writer.insert_user(&new).await.unwrap();
        if disabled {
            assert!(writer.set_disabled(&new.user.id, true).await.unwrap());
        }
        all.push(ListedUser {
            id: new.user.id,
            name: new.user.name,
            email: new.user.email,
            email_verified: new.user.email_verified,
            provider: new.user.provider,
            disabled,
            image: new.user.image,
        });
    }
    writer.commit().await.unwrap();

    let slices = [
        Slice::ALL,
        Slice::first(4),
        Slice {
            offset: 2,
            limit: Some(3),
        },
        Slice {
            offset: 7,
            limit: None,
        },
        Slice {
            offset: u32::MAX,
            limit: Some(1),
        },
    ];
    let mut reader = store.read().await;
    for disabled in [None, Some(true), Some(false)] {
        for provider in [None, Some(Provider::Oidc), Some(Provider::Ldap)] {
            for contains in [None, Some(""), Some("user 1"), Some("2"), Some("nothing")] {
                for email in [None, Some("five@example.org"), Some("five")] {
                    let filter = UserFilter {
                        provider,
                        name_contains: contains.map(Into::into),
                        email: email.map(Into::into),
                        disabled,
                    };
                    let is_match = |user: &&ListedUser| {
                        disabled.is_none_or(|disabled| user.disabled == disabled)
                            && provider.is_none_or(|provider| user.provider == provider)
                            && user.name.contains(contains.unwrap_or_default())
                            && email.is_none_or(|email| user.email.as_deref() == Some(email))
                    };
                    let matches: Vec<_> = all.iter().filter(is_match).cloned().collect();
                    let count = reader.count_users(&filter).await.unwrap();
                    assert_eq!(count as usize, matches.len(), "{filter:?}");
                    for slice in slices {
                        let limit = slice.limit.unwrap_or(u32::MAX) as usize;
                        let page = matches.iter().skip(slice.offset as usize).take(limit);
                        let page: Vec<_> = page.cloned().collect();
                        let found = reader.list_users(&filter, slice, true).await.unwrap();
                        assert_eq!(found, page, "{filter:?} {slice:?}");
                        let without = |user| ListedUser { image: None, ..user };
                        let page: Vec<_> = page.into_iter().map(without).collect();
                        let found = reader.list_users(&filter, slice, false).await.unwrap();
                        assert_eq!(found, page, "{filter:?} {slice:?}, without images");
                    }
                }
            }
        }
    }
}
