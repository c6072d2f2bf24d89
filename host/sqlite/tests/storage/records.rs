//! What records refer to. What the component writes reads back as `storage-kit/cases` say.

use portico_model::{HomeBoards, Provider, SearchPreferences};
use portico_storage::{
    AccountKey, ApiKey, Authentication, BoardItem, Constraint, CredentialKey, DashboardTransaction, Error,
    NewInvite, NewUser, hash_secret,
};

use crate::store::{Store, board, engine, session, shares, subject, texts, user};

async fn password_version(transaction: &mut dyn DashboardTransaction, id: &str) -> Option<u64> {
    let account = transaction.get_account(&AccountKey::Id(id.into())).await;
    account.unwrap().map(|account| account.password_version)
}

async fn fill(store: &Store) {
    let mut writer = store.write().await;
    for id in ["b1", "b2"] {
        assert!(writer.insert_board(&board(id, None, vec![]), id).await.unwrap());
    }
    assert!(
        writer
            .insert_search_engine(&engine("e", "One", "o"), "one", "o")
            .await
            .unwrap()
    );
    writer.insert_user(&user("u", "ann")).await.unwrap();
    writer.insert_user(&user("v", "bob")).await.unwrap();
    writer.commit().await.unwrap();
}

pub async fn the_subject_of_a_user_is_that_of_the_provider(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    let ann = subject(Provider::Ldap, "cn=Ann");
    writer.insert_identity("u", &ann).await.unwrap();
    for (user, provider, subject) in [
        ("u", Provider::Ldap, Some("cn=Ann")),
        ("u", Provider::Oidc, None),
        ("v", Provider::Ldap, None),
        ("missing", Provider::Ldap, None),
    ] {
        let found = writer.get_subject(user, provider).await.unwrap();
        assert_eq!(found.as_deref(), subject, "{user} {provider:?}");
    }
}

/// A user with a password, and one without.
async fn fill_with_a_password(store: &Store) {
    let mut writer = store.write().await;
    let ann = NewUser {
        password_hash: Some("hash".into()),
        ..user("u", "ann")
    };
    writer.insert_user(&ann).await.unwrap();
    writer.insert_user(&user("v", "bob")).await.unwrap();
    writer.commit().await.unwrap();
}

pub async fn a_new_password_ends_the_users_other_sessions(store: &Store) {
    fill_with_a_password(store).await;
    let mut writer = store.write().await;
    for (id, user_id) in [("s1", "u"), ("s2", "u"), ("s3", "v")] {
        let session = session(id, user_id, 9);
        writer.insert_session(&session, &hash_secret(id)).await.unwrap();
    }
    writer.commit().await.unwrap();
    let alive = async || {
        let mut reader = store.read().await;
        let mut alive = Vec::new();
        for id in ["s1", "s2", "s3"] {
            let key = CredentialKey::Session(hash_secret(id));
            alive.extend(
                reader
                    .find_credential(&key)
                    .await
                    .unwrap()
                    .map(|credential| credential.id),
            );
        }
        alive
    };

    let mut writer = store.write_as(Authentication::Session("s1".into())).await;
    assert!(!writer.set_password_if("u", Some("another"), "new").await.unwrap());
    assert!(!writer.set_password_if("u", None, "new").await.unwrap());
    assert!(!writer.set_password_if("v", Some("hash"), "new").await.unwrap());
    assert!(!writer.set_password_if("missing", None, "new").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(alive().await, ["s1", "s2", "s3"]);

    let mut writer = store.write_as(Authentication::Session("s1".into())).await;
    assert!(writer.set_password_if("u", Some("hash"), "new").await.unwrap());
    drop(writer);
    assert_eq!(alive().await, ["s1", "s2", "s3"]);

    let mut writer = store.write_as(Authentication::Session("s1".into())).await;
    assert!(writer.set_password_if("u", Some("hash"), "new").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(alive().await, ["s1", "s3"]);

    // With another user's session, without a session, and for a first password.
    let mut writer = store.write_as(Authentication::Session("s1".into())).await;
    assert!(writer.set_password_if("v", None, "first").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(alive().await, ["s1"]);
    let mut writer = store.write_as(Authentication::Operator).await;
    assert!(writer.set_password_if("u", Some("new"), "newer").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(alive().await, Vec::<String>::new());
}

pub async fn rehashing_a_password_ends_no_session(store: &Store) {
    fill_with_a_password(store).await;
    let mut writer = store.write().await;
    let session = session("s", "u", 9);
    writer.insert_session(&session, &hash_secret("s")).await.unwrap();
    assert_eq!(password_version(&mut *writer, "u").await, Some(0));
    assert_eq!(password_version(&mut *writer, "missing").await, None);
    for (id, old) in [("u", "another"), ("v", ""), ("missing", "hash")] {
        assert!(!writer.rehash_password_if(id, old, "new").await.unwrap(), "{id}");
    }
    assert!(writer.rehash_password_if("u", "hash", "other").await.unwrap());
    writer.commit().await.unwrap();

    let mut writer = store.write().await;
    let account = writer.get_account(&AccountKey::Id("u".into())).await.unwrap();
    assert_eq!(account.unwrap().password_hash.as_deref(), Some("other"));
    assert_eq!(password_version(&mut *writer, "u").await, Some(0));
    assert_eq!(writer.list_sessions("u").await.unwrap(), [session]);

    assert!(!writer.set_password_if("u", Some("hash"), "new").await.unwrap());
    assert_eq!(password_version(&mut *writer, "u").await, Some(0));
    assert!(writer.set_password_if("u", Some("other"), "new").await.unwrap());
    assert_eq!(password_version(&mut *writer, "u").await, Some(1));
    assert_eq!(writer.list_sessions("u").await.unwrap(), []);
    writer.delete_user("u").await.unwrap();
    assert_eq!(password_version(&mut *writer, "u").await, None);
}

pub async fn what_was_refused_cannot_be_committed(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    let refused = writer
        .insert_session(&session("s", "missing", 9), &hash_secret("s"))
        .await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));
    writer.commit().await.unwrap_err();
    let mut reader = store.read().await;
    assert!(!reader.has_users().await.unwrap());
}

pub async fn a_reference_to_nothing_is_refused(store: &Store) {
    fill(store).await;
    fn refused<T: std::fmt::Debug>(what: &str, result: portico_storage::Result<T>) {
        assert!(
            matches!(result, Err(Error::Constraint(Constraint::Reference))),
            "{what}: {result:?}"
        );
    }
    let mut lost = user("w", "eve");
    lost.user.home_board_id = Some("missing".into());
    refused("user", store.write().await.insert_user(&lost).await);
    let home = HomeBoards {
        home_board_id: Some("b1".into()),
        mobile_home_board_id: Some("missing".into()),
    };
    refused(
        "home boards",
        store.write().await.set_home_boards("u", &home).await,
    );
    let search = SearchPreferences {
        default_search_engine_id: Some("missing".into()),
        open_in_new_tab: true,
    };
    refused(
        "search preferences",
        store.write().await.set_search_preferences("u", &search).await,
    );

    let key = ApiKey {
        id: "k".into(),
        name: None,
        user_id: "missing".into(),
        created_at: 1,
        expires_at: None,
        last_used_at: None,
    };
    refused("key", store.write().await.insert_key(&key, &[1; 32]).await);
    let session = session("s", "missing", 2);
    refused(
        "session",
        store.write().await.insert_session(&session, &[1; 32]).await,
    );
    let invite = NewInvite {
        id: "i".into(),
        expiration_date: 1,
        creator_id: Some("missing".into()),
    };
    refused(
        "invite",
        store.write().await.insert_invite(&invite, &[1; 32]).await,
    );

    let items = [
        BoardItem::App {
            app_id: "missing".into(),
        },
        BoardItem::Bookmarks {
            app_ids: texts(&["missing"]),
        },
    ];
    for item in items {
        let board = board("b3", None, vec![item]);
        refused("board item", store.write().await.insert_board(&board, "b3").await);
    }
    let creator = board("b3", Some("missing"), vec![]);
    refused("creator", store.write().await.insert_board(&creator, "b3").await);
    refused(
        "share",
        store
            .write()
            .await
            .share_board("b1", &shares(&["missing"], &[]))
            .await,
    );
    refused(
        "share",
        store
            .write()
            .await
            .share_board("b1", &shares(&[], &["missing"]))
            .await,
    );
    let mut writer = store.write().await;
    assert!(writer.insert_group("g", "g", "g").await.unwrap());
    refused("member", writer.add_to_group("missing", "g").await);
}
