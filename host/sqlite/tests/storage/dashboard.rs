//! Keys, sessions, invites, boards and search engines read back as they were written.

use portico_storage::driver::MOST_EXPIRED;
use portico_storage::{
    ApiKey, BoardItem, Constraint, Credential, CredentialKey, Error, KeyLimits, NewInvite, PlacedItem,
    Section, Session, Shares, Size, hash_secret,
};

use crate::store::{Store, app, board, engine, session, shares, texts, user};

/// Two users.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    for (id, name) in [("u", "Ann"), ("v", "bob")] {
        writer.insert_user(&user(id, name)).await.unwrap();
    }
    writer.commit().await.unwrap();
}

pub async fn the_hash_of_an_imported_key_is_replaced_once(store: &Store) {
    fill(store).await;
    let key = ApiKey {
        id: "0a1b2c3d".into(),
        name: None,
        user_id: "u".into(),
        limits: KeyLimits::default(),
        created_at: 1,
        expires_at: None,
        last_used_at: None,
    };
    let (unknown, secret) = (hash_secret("unknown"), hash_secret("secret"));
    let mut writer = store.write().await;
    writer.import_key(&key, &unknown, "$2b$10$old").await.unwrap();
    writer.commit().await.unwrap();

    let by_id = CredentialKey::Key(key.id.clone());
    let mut writer = store.write().await;
    let found = writer.find_credential(&by_id).await.unwrap().unwrap();
    assert_eq!(
        (found.secret, found.imported.as_deref()),
        (unknown, Some("$2b$10$old"))
    );
    assert!(!writer.adopt_key("missing", "$2b$10$old", &secret).await.unwrap());
    assert!(!writer.adopt_key(&key.id, "$2b$10$other", &secret).await.unwrap());
    assert!(writer.adopt_key(&key.id, "$2b$10$old", &secret).await.unwrap());
    assert!(!writer.adopt_key(&key.id, "$2b$10$old", &unknown).await.unwrap());
    let found = writer.find_credential(&by_id).await.unwrap().unwrap();
    assert_eq!((found.secret, found.imported), (secret, None));
    writer.commit().await.unwrap();

    let nobodys = ApiKey {
        id: "11111111".into(),
        user_id: "missing".into(),
        ..key
    };
    let mut writer = store.write().await;
    let refused = writer.import_key(&nobodys, &hash_secret("x"), "$2b$10$old").await;
    assert_eq!(refused, Err(Error::Constraint(Constraint::Reference)));
}

pub async fn keys_and_sessions_are_found_with_their_users_permissions(store: &Store) {
    fill(store).await;
    let key = ApiKey {
        id: "key".into(),
        name: Some("mine".into()),
        user_id: "u".into(),
        limits: KeyLimits {
            permissions: Some(texts(&["admin", "app-create"])),
            read_only: true,
        },
        created_at: 1,
        expires_at: Some(1_800_000_000_000),
        last_used_at: None,
    };
    let no_permissions = KeyLimits {
        permissions: Some(Vec::new()),
        read_only: false,
    };
    let session = session("session", "u", 3);
    let mut writer = store.write().await;
    for (group, permissions) in [
        ("g", ["board-view-all", "app-create"]),
        ("h", ["app-create", "admin"]),
    ] {
        assert!(writer.insert_group(group, group, group).await.unwrap());
        assert!(
            writer
                .set_group_permissions(group, &texts(&permissions))
                .await
                .unwrap()
        );
        assert!(writer.add_to_group("u", group).await.unwrap());
    }
    writer.insert_key(&key, &hash_secret("secret")).await.unwrap();
    writer
        .insert_key(
            &ApiKey {
                id: "other".into(),
                name: None,
                limits: no_permissions.clone(),
                ..key.clone()
            },
            &[7; 32],
        )
        .await
        .unwrap();
    writer
        .insert_session(&session, &hash_secret("token"))
        .await
        .unwrap();
    writer.commit().await.unwrap();

    let mut writer = store.write().await;
    let mut credential = Credential {
        id: "key".into(),
        secret: hash_secret("secret"),
        imported: None,
        user_id: "u".into(),
        permissions: texts(&["admin", "app-create", "board-view-all"]),
        limits: key.limits.clone(),
        expires_at: Some(1_800_000_000_000),
        last_used_at: None,
        ends_at: None,
    };
    let by_key = CredentialKey::Key("key".into());
    assert_eq!(
        writer.find_credential(&by_key).await.unwrap(),
        Some(credential.clone())
    );
    writer.touch_key("key", 5).await.unwrap();
    writer.touch_key("missing", 5).await.unwrap();
    credential.last_used_at = Some(5);
    assert_eq!(
        writer.find_credential(&by_key).await.unwrap(),
        Some(credential.clone())
    );
    let keys = writer.list_keys(None).await.unwrap();
    assert_eq!(
        keys[0],
        ApiKey {
            last_used_at: Some(5),
            ..key.clone()
        }
    );
    assert_eq!(
        keys[1],
        ApiKey {
            id: "other".into(),
            name: None,
            limits: no_permissions,
            ..key
        }
    );
    assert_eq!(keys.len(), 2);

    let by_token = CredentialKey::Session(hash_secret("token"));
    let found = writer.find_credential(&by_token).await.unwrap().unwrap();
    assert_eq!(found.limits, KeyLimits::default());
    assert_eq!(
        (&found.id[..], found.secret, found.expires_at),
        ("session", hash_secret("token"), Some(3))
    );
    assert_eq!(
        (found.permissions, found.last_used_at, found.ends_at),
        (credential.permissions, Some(1), Some(3))
    );
    assert!(
        writer
            .find_credential(&CredentialKey::Session([0; 32]))
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        writer
            .find_credential(&CredentialKey::Key("session".into()))
            .await
            .unwrap()
            .is_none()
    );

    assert!(writer.delete_key("key").await.unwrap());
    assert!(!writer.delete_key("key").await.unwrap());
    assert!(writer.delete_session("session").await.unwrap());
    assert!(!writer.delete_session("session").await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert!(reader.find_credential(&by_key).await.unwrap().is_none());
    assert!(reader.find_credential(&by_token).await.unwrap().is_none());
}

pub async fn using_a_session_moves_its_expiry_and_not_its_end(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.insert_user(&user("w", "will")).await.unwrap();
    for (id, user_id) in [("s2", "u"), ("s1", "u"), ("s3", "w")] {
        let session = Session {
            ends_at: 90,
            browser: Some("Firefox on Linux".into()),
            address: Some([0xfd00, 0, 0, 0, 0, 0, 0, 7].into()),
            ..session(id, user_id, 10)
        };
        writer.insert_session(&session, &hash_secret(id)).await.unwrap();
    }
    writer.touch_session("s1", 7, 17).await.unwrap();
    writer.touch_session("missing", 7, 17).await.unwrap();
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    let other = Session {
        ends_at: 90,
        browser: Some("Firefox on Linux".into()),
        address: Some([0xfd00, 0, 0, 0, 0, 0, 0, 7].into()),
        ..session("s2", "u", 10)
    };
    let used = Session {
        id: "s1".into(),
        last_used_at: 7,
        expires_at: 17,
        ..other.clone()
    };
    assert_eq!(reader.list_sessions("u").await.unwrap(), [used, other]);
    assert_eq!(reader.list_sessions("w").await.unwrap().len(), 1);
    assert_eq!(reader.list_sessions("missing").await.unwrap(), []);
    let key = CredentialKey::Session(hash_secret("s1"));
    let found = reader.find_credential(&key).await.unwrap().unwrap();
    assert_eq!(
        (found.last_used_at, found.expires_at, found.ends_at),
        (Some(7), Some(17), Some(90))
    );
}

pub async fn expired_sessions_are_removed_and_no_others(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for (id, expires_at) in [("past", 9), ("now", 10), ("later", 11)] {
        let session = session(id, "u", expires_at);
        writer.insert_session(&session, &hash_secret(id)).await.unwrap();
    }
    writer.delete_expired_sessions(10).await.unwrap();
    for (id, there) in [("past", false), ("now", false), ("later", true)] {
        assert_eq!(writer.delete_session(id).await.unwrap(), there, "{id}");
    }
}

pub async fn a_thousand_expired_sessions_are_removed_at_once(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for number in 0..MOST_EXPIRED + 5 {
        let id = number.to_string();
        let session = session(&id, "u", 10);
        writer.insert_session(&session, &hash_secret(&id)).await.unwrap();
    }
    for left in [5, 0] {
        writer.delete_expired_sessions(10).await.unwrap();
        assert_eq!(writer.list_sessions("u").await.unwrap().len(), left);
    }
}

pub async fn invites_are_good_with_the_right_token_until_they_expire(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    for (id, expiration_date, creator_id) in
        [("c", 20, None), ("b", 20, Some("u".to_owned())), ("a", 30, None)]
    {
        let invite = NewInvite {
            id: id.into(),
            expiration_date,
            creator_id,
            note: None,
            group_ids: Vec::new(),
        };
        writer
            .insert_invite(&invite, &hash_secret(&format!("token of {id}")))
            .await
            .unwrap();
    }
    let invites = writer.list_invites().await.unwrap();
    assert_eq!(
        invites.iter().map(|invite| &invite.id[..]).collect::<Vec<_>>(),
        ["b", "c", "a"]
    );
    let creator = invites[0].creator.as_ref().unwrap();
    assert_eq!(
        (&creator.id[..], &creator.name[..], &invites[1].creator),
        ("u", "Ann", &None)
    );

    for (id, token, now, good) in [
        ("b", "token of b", 19, true),
        ("b", "token of b", 20, false),
        ("b", "token of b", 21, false),
        ("b", "token of a", 19, false),
        ("b", "token of b ", 19, false),
        ("b", "", 19, false),
        ("missing", "token of b", 19, false),
    ] {
        assert_eq!(
            writer.has_invite(id, token, now).await.unwrap(),
            good,
            "{id} {token} {now}"
        );
        if !good {
            assert!(
                !writer.take_invite(id, token, now).await.unwrap(),
                "{id} {token} {now}"
            );
        }
    }
    assert!(writer.take_invite("b", "token of b", 19).await.unwrap());
    assert!(!writer.take_invite("b", "token of b", 19).await.unwrap());
    assert!(!writer.has_invite("b", "token of b", 19).await.unwrap());
    assert!(writer.delete_invite("a").await.unwrap());
    assert!(!writer.delete_invite("a").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(store.read().await.list_invites().await.unwrap().len(), 1);
}

pub async fn a_board_reads_back_with_its_items_in_order(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.insert_apps(&[app("x", "x"), app("y", "y")]).await.unwrap();
    let item = |id: &str| BoardItem::App { app_id: id.into() };
    let mut items = vec![
        item("y"),
        BoardItem::Bookmarks { app_ids: vec![] },
        BoardItem::Bookmarks {
            app_ids: texts(&["y", "x", "y"]),
        },
        item("x"),
    ];
    // More than ten, to see that they are ordered as numbers and not as texts.
    items.extend((0..10).map(|number| item(if number % 3 == 0 { "x" } else { "y" })));
    let whole = board("b0", Some("u"), items);
    assert!(writer.insert_board(&whole, "zz").await.unwrap());
    assert!(
        writer
            .insert_board(&board("b1", None, vec![]), "aa")
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.get_board("b0").await.unwrap(), Some(whole.clone()));
    assert_eq!(reader.get_board("missing").await.unwrap(), None);
    let boards = reader.list_boards().await.unwrap();
    assert_eq!(
        boards.iter().map(|board| &board.id[..]).collect::<Vec<_>>(),
        ["b1", "b0"]
    );
    assert_eq!(boards[1], whole.board);
}

pub async fn a_board_reads_back_with_its_sections_sizes_notes_and_clocks(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.insert_apps(&[app("x", "x")]).await.unwrap();
    let app = || BoardItem::App { app_id: "x".into() };
    let note = |text: &str| BoardItem::Note { text: text.into() };
    let clock = |zone: Option<&str>| BoardItem::Clock {
        time_zone: zone.map(Into::into),
    };
    let placed = |item, size| PlacedItem { item, size };
    let mut whole = board("b0", Some("u"), vec![app()]);
    whole.board.slug = Some("kitchen".into());
    whole.sections.push(Section {
        name: Some("Media".into()),
        collapsed: true,
        items: vec![
            placed(note("Milk\nBread"), Size::Wide),
            placed(clock(None), Size::Small),
            placed(app(), Size::Large),
            placed(clock(Some("Europe/Berlin")), Size::Broad),
            placed(note(""), Size::Large),
        ],
    });
    whole.sections.push(Section::default());
    assert!(writer.insert_board(&whole, "b0").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(
        store.read().await.get_board("b0").await.unwrap(),
        Some(whole.clone())
    );

    // The first section goes, and the app with it.
    whole.sections.remove(0);
    let mut writer = store.write().await;
    assert!(writer.update_board(&whole, "b0").await.unwrap());
    assert!(writer.delete_app("x").await.unwrap());
    writer.commit().await.unwrap();
    whole.sections[0].items.remove(2);
    assert_eq!(store.read().await.get_board("b0").await.unwrap(), Some(whole));
}

pub async fn a_short_address_leads_to_one_board(store: &Store) {
    fill(store).await;
    let named = |id: &str, slug: Option<&str>| {
        let mut board = board(id, None, vec![]);
        board.board.slug = slug.map(Into::into);
        board
    };
    let mut writer = store.write().await;
    assert!(
        writer
            .insert_board(&named("b0", Some("kitchen")), "b0")
            .await
            .unwrap()
    );
    assert!(writer.insert_board(&named("b1", None), "b1").await.unwrap());
    assert!(writer.insert_board(&named("b2", None), "b2").await.unwrap());
    assert!(
        !writer
            .insert_board(&named("b3", Some("kitchen")), "b3")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .update_board(&named("b1", Some("kitchen")), "b1")
            .await
            .unwrap()
    );
    assert!(
        writer
            .update_board(&named("b0", Some("kitchen")), "b0")
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.find_board("kitchen").await.unwrap().as_deref(), Some("b0"));
    assert_eq!(reader.find_board("Kitchen").await.unwrap(), None);
    drop(reader);

    let mut writer = store.write().await;
    assert!(writer.update_board(&named("b0", None), "b0").await.unwrap());
    assert!(
        writer
            .update_board(&named("b1", Some("kitchen")), "b1")
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let found = store.read().await.find_board("kitchen").await.unwrap();
    assert_eq!(found.as_deref(), Some("b1"));
}

pub async fn search_engines_read_back_by_name(store: &Store) {
    let mut writer = store.write().await;
    let (one, mut two) = (engine("1", "Zeta", "z"), engine("2", "alpha", "a"));
    two.description = None;
    assert!(writer.insert_search_engine(&one, "zeta", "z").await.unwrap());
    assert!(writer.insert_search_engine(&two, "alpha", "a").await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(
        store.read().await.list_search_engines().await.unwrap(),
        [two, one]
    );
}

pub async fn a_board_is_replaced_with_its_items_and_keeps_its_shares(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.insert_apps(&[app("x", "x"), app("y", "y")]).await.unwrap();
    let item = |id: &str| BoardItem::App { app_id: id.into() };
    let bookmarks = |ids: &[&str]| BoardItem::Bookmarks { app_ids: texts(ids) };
    let before = board(
        "b0",
        Some("u"),
        vec![item("x"), bookmarks(&["x", "y"]), item("y")],
    );
    assert!(writer.insert_board(&before, "b0").await.unwrap());
    assert!(
        writer
            .insert_board(&board("b1", None, vec![]), "b1")
            .await
            .unwrap()
    );
    let both = shares(&["v", "u"], &[]);
    assert!(writer.share_board("b0", &both).await.unwrap());
    let mut after = board("b0", None, vec![bookmarks(&["y"]), item("x")]);
    after.board.name = "New name".into();
    after.board.is_public = true;
    assert!(writer.update_board(&after, "zz").await.unwrap());
    // The name of another board, and a board that does not exist.
    assert!(!writer.update_board(&before, "b1").await.unwrap());
    assert!(
        !writer
            .update_board(&board("missing", None, vec![]), "missing")
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();

    let mut reader = store.read().await;
    assert_eq!(reader.get_board("b0").await.unwrap(), Some(after));
    let names: Vec<_> = reader.list_boards().await.unwrap();
    assert_eq!(
        names.iter().map(|board| &board.id[..]).collect::<Vec<_>>(),
        ["b1", "b0"]
    );
    assert_eq!(
        reader.get_shares("b0").await.unwrap(),
        Some(shares(&["u", "v"], &[]))
    );
    assert_eq!(reader.get_shares("b1").await.unwrap(), Some(Shares::default()));
    assert_eq!(reader.get_shares("missing").await.unwrap(), None);
    let shares = reader.get_named_shares("b0").await.unwrap().unwrap();
    let users: Vec<_> = shares.users.iter().map(|user| &user.named.id[..]).collect();
    assert_eq!((users, shares.groups), (vec!["u", "v"], vec![]));
    assert_eq!(reader.get_named_shares("missing").await.unwrap(), None);
    drop(reader);

    let mut writer = store.write().await;
    let lost = board("b0", None, vec![item("missing")]);
    let refused = writer.update_board(&lost, "b0").await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::Reference))),
        "{refused:?}"
    );
}

pub async fn a_search_engine_is_replaced_unless_another_has_its_name_or_short(store: &Store) {
    let mut writer = store.write().await;
    let one = engine("1", "One", "o");
    assert!(writer.insert_search_engine(&one, "one", "o").await.unwrap());
    let two = engine("2", "Two", "t");
    assert!(writer.insert_search_engine(&two, "two", "t").await.unwrap());
    let mut changed = engine("1", "ONE", "x");
    changed.url_template = "https://other.example/%s".into();
    changed.icon_url = "other icon".into();
    changed.description = None;
    assert!(writer.update_search_engine(&changed, "one", "x").await.unwrap());
    assert!(!writer.update_search_engine(&changed, "two", "x").await.unwrap());
    assert!(!writer.update_search_engine(&changed, "one", "t").await.unwrap());
    assert!(
        !writer
            .update_search_engine(&engine("3", "Three", "h"), "three", "h")
            .await
            .unwrap()
    );
    // The previous name and short are free.
    assert!(writer.update_search_engine(&two, "two", "o").await.unwrap());
    assert_eq!(writer.list_search_engines().await.unwrap(), [changed, two]);
}

pub async fn a_group_is_renamed_unless_another_has_the_name(store: &Store) {
    let mut writer = store.write().await;
    assert!(writer.insert_group("1", "one", "one").await.unwrap());
    assert!(writer.insert_group("2", "two", "two").await.unwrap());
    assert!(
        writer
            .set_group_permissions("1", &texts(&["admin"]))
            .await
            .unwrap()
    );
    assert!(writer.update_group("1", "ZETA", "zeta").await.unwrap());
    assert!(!writer.update_group("1", "TWO", "two").await.unwrap());
    assert!(!writer.update_group("missing", "a", "a").await.unwrap());
    let groups = writer.list_groups().await.unwrap();
    let names: Vec<_> = groups
        .iter()
        .map(|group| (&group.id[..], &group.name[..]))
        .collect();
    assert_eq!(names, [("2", "two"), ("1", "ZETA")]);
    assert_eq!(groups[1].permissions, ["admin"]);
}
