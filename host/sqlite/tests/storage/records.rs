//! What records refer to. What the component writes reads back as `storage-kit/cases` say.

use portico_model::{HomeBoards, Provider, SearchPreferences};
use portico_storage::{AccountKey, ApiKey, BoardItem, Constraint, Error, KeyLimits, NewInvite, hash_secret};

use crate::store::{Store, board, engine, session, shares, subject, texts, user};

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

pub async fn a_subject_is_replaced_unless_another_user_has_it(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for (user, provider, name) in [
        ("v", Provider::Oidc, "https://a 2"),
        ("u", Provider::Oidc, "https://a 1"),
        ("u", Provider::Ldap, "cn=Ann"),
    ] {
        writer
            .insert_identity(user, &subject(provider, name))
            .await
            .unwrap();
    }
    let listed = writer.list_subjects(Provider::Oidc).await.unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|(user, subject)| (&*user.id, &*user.name, &**subject))
        .collect();
    assert_eq!(listed, [("u", "ann", "https://a 1"), ("v", "bob", "https://a 2")]);
    let moved = subject(Provider::Oidc, "https://b 1");
    assert!(writer.replace_subject("u", &moved).await.unwrap());
    assert!(!writer.replace_subject("missing", &moved).await.unwrap());
    assert!(
        !writer
            .replace_subject("v", &subject(Provider::Ldap, "cn=Bob"))
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();

    let mut writer = store.write().await;
    for (of, expected) in [
        ("https://b 1", Some("u")),
        ("https://a 1", None),
        ("https://a 2", Some("v")),
    ] {
        let key = AccountKey::Subject(subject(Provider::Oidc, of));
        let account = writer.get_account(&key).await.unwrap();
        assert_eq!(account.map(|account| account.id).as_deref(), expected, "{of}");
    }
    let taken = writer.replace_subject("v", &moved).await;
    assert_eq!(taken, Err(Error::Constraint(Constraint::Identity)));
    writer.commit().await.unwrap_err();
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
        limits: KeyLimits::default(),
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
        note: None,
        group_ids: Vec::new(),
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

pub async fn a_user_of_the_same_id_as_a_deleted_one_is_not_disabled(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    assert!(writer.set_disabled("u", true).await.unwrap());
    assert!(writer.delete_user("u").await.unwrap());
    assert!(!writer.set_disabled("u", true).await.unwrap());
    writer.insert_user(&user("u", "ann")).await.unwrap();
    let account = writer.get_account(&AccountKey::Id("u".into())).await;
    assert!(!account.unwrap().unwrap().disabled);
    let session = session("s", "u", 9);
    writer.insert_session(&session, &hash_secret("s")).await.unwrap();
}
