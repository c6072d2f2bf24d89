//! Who may change a board: who made it, and with whom it is shared so. And which apps they see.

use portico_storage::{
    AppFilter, AppVisibility, BoardItem, First, Looks, Named, Share, Shares, Slice, Viewer, WhyViewed,
};

use crate::store::{Store, app, board, texts, user};

fn share(id: &str, may_change: bool) -> Share {
    Share {
        id: id.into(),
        may_change,
    }
}

/// A board of each of two makers, of which the first is shared.
async fn fill(store: &Store) {
    let mut writer = store.write().await;
    for id in ["maker", "changer", "member", "viewer", "stranger", "b-all"] {
        writer.insert_user(&user(id, id)).await.unwrap();
    }
    for (group, member) in [("changers", "member"), ("viewers", "viewer"), ("b-all", "b-all")] {
        assert!(writer.insert_group(group, group, group).await.unwrap());
        assert!(writer.add_to_group(member, group).await.unwrap());
    }
    let permissions = texts(&["board-modify-all", "board-full-all", "admin"]);
    assert!(writer.set_group_permissions("b-all", &permissions).await.unwrap());
    for (id, maker) in [("shared", "maker"), ("own", "stranger")] {
        assert!(
            writer
                .insert_board(&board(id, Some(maker), vec![]), id)
                .await
                .unwrap()
        );
    }
    let shares = Shares {
        // Of two with the same one, the first counts.
        users: vec![
            share("viewer", false),
            share("changer", true),
            share("viewer", true),
        ],
        groups: vec![share("changers", true), share("viewers", false)],
    };
    assert!(writer.share_board("shared", &shares).await.unwrap());
    writer.commit().await.unwrap();
}

pub async fn a_share_lets_people_change_a_board_or_only_view_it(store: &Store) {
    fill(store).await;
    let mut reader = store.read().await;
    let shares = reader.get_shares("shared").await.unwrap().unwrap();
    assert_eq!(shares.users, [share("changer", true), share("viewer", false)]);
    assert_eq!(shares.groups, [share("changers", true), share("viewers", false)]);
    let named = reader.get_named_shares("shared").await.unwrap().unwrap();
    let groups = named.groups.iter();
    let groups: Vec<_> = groups
        .map(|group| (&group.named.name[..], group.may_change))
        .collect();
    assert_eq!(groups, [("changers", true), ("viewers", false)]);
    // A permission is not a share.
    for (user_id, may_change, views) in [
        ("maker", true, true),
        ("changer", true, true),
        ("member", true, true),
        ("viewer", false, true),
        ("stranger", false, false),
        ("b-all", false, true),
        ("missing", false, false),
    ] {
        let changes = reader.can_change_board(user_id, "shared").await.unwrap();
        assert_eq!(changes, may_change, "{user_id}");
        assert_eq!(
            reader.can_view_board(user_id, "shared").await.unwrap(),
            views,
            "{user_id}"
        );
        let listed = reader.list_changeable_boards(user_id).await.unwrap();
        let listed: Vec<_> = listed.iter().map(|board| &board.id[..]).collect();
        let own = if user_id == "stranger" {
            vec!["own"]
        } else {
            vec![]
        };
        assert_eq!(listed, if may_change { vec!["shared"] } else { own }, "{user_id}");
    }
    assert!(!reader.can_change_board("maker", "missing").await.unwrap());
}

pub async fn of_some_boards_those_are_listed_that_a_user_or_everyone_may_view(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    let mut public = board("public", Some("stranger"), vec![]);
    public.board.is_public = true;
    assert!(writer.insert_board(&public, "public").await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    let ids = texts(&["public", "shared", "missing"]);
    for (user_id, expected) in [
        (None, vec!["public"]),
        (Some("missing"), vec!["public"]),
        (Some("stranger"), vec!["public"]),
        (Some("member"), vec!["public", "shared"]),
        (Some("b-all"), vec!["public", "shared"]),
    ] {
        let viewed = reader.list_viewed(user_id, &ids).await.unwrap();
        assert!(viewed.iter().eq(&expected), "{user_id:?}: {viewed:?}");
    }
    assert!(reader.list_viewed(Some("maker"), &[]).await.unwrap().is_empty());
}

pub async fn what_is_shared_no_longer_can_no_longer_be_changed(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    assert!(writer.remove_from_group("member", "changers").await.unwrap());
    assert!(writer.share_board("shared", &Shares::default()).await.unwrap());
    for user_id in ["changer", "member", "viewer"] {
        assert!(
            !writer.can_change_board(user_id, "shared").await.unwrap(),
            "{user_id}"
        );
    }
    assert!(writer.can_change_board("maker", "shared").await.unwrap());
    assert!(writer.delete_user("maker").await.unwrap());
    assert!(!writer.can_change_board("maker", "shared").await.unwrap());
    assert!(!writer.share_board("missing", &Shares::default()).await.unwrap());
}

pub async fn a_viewer_sees_apps_if_they_see_each_of_them(store: &Store) {
    let store = store.another_by_board().await;
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "u")).await.unwrap();
    writer
        .insert_apps(&[app("on own", "a"), app("on other", "b"), app("nowhere", "c")])
        .await
        .unwrap();
    for (id, maker, app_id) in [("own", Some("u"), "on own"), ("other", None, "on other")] {
        let item = BoardItem::App {
            app_id: app_id.into(),
        };
        assert!(
            writer
                .insert_board(&board(id, maker, vec![item]), id)
                .await
                .unwrap()
        );
    }
    for (ids, by_user, by_everything) in [
        (&[][..], true, true),
        (&["on own"], true, true),
        (&["on own", "on other"], false, true),
        (&["nowhere"], false, true),
        (&["on own", "missing"], false, false),
        (&["a\0"], false, false),
    ] {
        let ids_as_texts = texts(ids);
        for (viewer, expected) in [
            (Viewer::User("u".into()), by_user),
            (Viewer::Everything, by_everything),
        ] {
            let sees = writer.sees_apps(&ids_as_texts, &viewer).await.unwrap();
            assert_eq!(sees, expected, "{ids:?} {viewer:?}");
        }
    }
}

pub async fn what_is_stored_decides_who_sees_which_app_unless_it_is_fixed(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "u")).await.unwrap();
    writer.insert_apps(&[app("a", "a")]).await.unwrap();
    let looks = Looks {
        app_visibility: AppVisibility::Boards,
        ..Looks::default()
    };
    // In the transaction itself, what it has set.
    assert!(
        writer
            .get_app("a", &Viewer::User("u".into()))
            .await
            .unwrap()
            .is_some()
    );
    writer.set_looks(&looks).await.unwrap();
    assert!(
        writer
            .get_app("a", &Viewer::User("u".into()))
            .await
            .unwrap()
            .is_none()
    );
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    for viewer in [Viewer::User("u".into()), Viewer::Anonymous] {
        assert_eq!(reader.get_app("a", &viewer).await.unwrap(), None, "{viewer:?}");
        assert_eq!(reader.get_apps(&texts(&["a"]), &viewer).await.unwrap(), []);
        let filter = AppFilter {
            viewer,
            name_contains: None,
        };
        assert_eq!(reader.count_apps(&filter).await.unwrap(), 0);
        assert_eq!(reader.list_apps(&filter, Slice::ALL).await.unwrap(), []);
    }
    assert!(reader.get_app("a", &Viewer::Everything).await.unwrap().is_some());
    let in_force = reader.get_visibility_in_force().await.unwrap();
    assert_eq!(
        (in_force.visibility, in_force.is_fixed),
        (AppVisibility::Boards, false)
    );
    let fixed = store.another_by_board().await;
    let in_force = fixed.read().await.get_visibility_in_force().await.unwrap();
    assert_eq!(
        (in_force.visibility, in_force.is_fixed),
        (AppVisibility::Boards, true)
    );
}

pub async fn the_boards_of_an_app_and_the_groups_that_see_all_are_found_by_name(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer.insert_apps(&[app("a", "a"), app("b", "b")]).await.unwrap();
    for (id, apps) in [("z", &["a"][..]), ("y", &["b", "a"]), ("x", &["b"]), ("w", &[])] {
        let items = [
            BoardItem::App { app_id: "b".into() },
            BoardItem::Bookmarks { app_ids: texts(apps) },
        ];
        let items = items[usize::from(id != "x")..].to_vec();
        assert!(writer.insert_board(&board(id, None, items), id).await.unwrap());
    }
    for (app_id, most, expected, count) in [
        ("a", 9, &["y", "z"][..], 2),
        ("a", 1, &["y"], 2),
        ("b", 9, &["x", "y"], 2),
        ("missing", 9, &[], 0),
        ("a\0", 9, &[], 0),
    ] {
        let found = writer.list_boards_with(app_id, most).await.unwrap();
        let boards = found.boards.items.iter();
        let names: Vec<_> = boards.map(|board| &board.name[..]).collect();
        assert_eq!((&names[..], found.boards.count), (expected, count), "{app_id}");
        assert_eq!(found.public_count, 0);
    }
    assert!(
        writer
            .set_group_permissions("viewers", &texts(&["app-create"]))
            .await
            .unwrap()
    );
    for (permissions, expected) in [
        (&["admin", "app-create"][..], &["b-all", "viewers"][..]),
        (&["app-create"], &["viewers"]),
        (&["app-full-all"], &[]),
        (&[], &[]),
    ] {
        let groups = writer.list_groups_with(&texts(permissions), 9).await.unwrap();
        let names: Vec<_> = groups.items.iter().map(|group| &group.name[..]).collect();
        assert_eq!(
            (&names[..], groups.count),
            (expected, expected.len() as u64),
            "{permissions:?}"
        );
    }
    let both = writer
        .list_groups_with(&texts(&["admin", "app-create"]), 1)
        .await
        .unwrap();
    assert_eq!((both.items.len(), both.count), (1, 2));
}

pub async fn who_sees_an_app_is_named_up_to_a_bound_and_counted(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer
        .insert_apps(&[app("a", "a"), app("b", "b"), app("c", "c")])
        .await
        .unwrap();
    let on = |app_id: &str| {
        vec![BoardItem::App {
            app_id: app_id.into(),
        }]
    };
    for (id, maker, items) in [
        ("to-group", None, on("a")),
        ("to-user", None, on("a")),
        ("theirs", Some("member"), on("a")),
        ("unshared", Some("maker"), on("a")),
        (
            "bookmarked",
            None,
            vec![BoardItem::Bookmarks {
                app_ids: texts(&["a", "b"]),
            }],
        ),
    ] {
        assert!(writer.insert_board(&board(id, maker, items), id).await.unwrap());
    }
    let groups = vec![share("viewers", false), share("changers", false)];
    let users = vec![
        share("viewer", false),
        share("member", true),
        share("changer", false),
    ];
    let none = Vec::new();
    for (id, users, groups) in [
        ("to-group", &none, &groups),
        ("to-user", &users, &groups),
        ("bookmarked", &none, &groups),
    ] {
        let shares = Shares {
            users: users.clone(),
            groups: groups.clone(),
        };
        assert!(writer.share_board(id, &shares).await.unwrap());
    }
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    let boards = texts(&["to-user", "to-group", "unshared", "missing"]);
    let shares = reader.list_first_shares(&boards, 2).await.unwrap();
    let names = |named: &First<Named>| {
        (
            named.items.iter().map(|named| named.id.clone()).collect(),
            named.count,
        )
    };
    assert_eq!(shares.keys().collect::<Vec<_>>(), ["to-group", "to-user"]);
    assert_eq!(
        names(&shares["to-user"].users),
        (texts(&["changer", "member"]), 3)
    );
    assert_eq!(
        names(&shares["to-user"].groups),
        (texts(&["changers", "viewers"]), 2)
    );
    assert_eq!(names(&shares["to-group"].users), (vec![], 0));

    let apps = texts(&["a", "b", "c", "missing"]);
    let seen = reader.list_seen_through("member", &apps, 3).await.unwrap();
    let through = |app_id: &str| -> (Vec<_>, u64) {
        let boards = seen[app_id]
            .items
            .iter()
            .map(|through| (&through.board.id[..], through.why.clone()));
        (boards.collect(), seen[app_id].count)
    };
    let changers = WhyViewed::Group(Named {
        id: "changers".into(),
        name: "changers".into(),
    });
    assert_eq!(seen.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        through("a"),
        (
            vec![
                ("bookmarked", changers.clone()),
                ("theirs", WhyViewed::Creator),
                ("to-group", changers.clone()),
            ],
            4
        )
    );
    assert_eq!(through("b"), (vec![("bookmarked", changers)], 1));
    // A permission shows what is shared with no one.
    let seen = reader.list_seen_through("b-all", &apps, 9).await.unwrap();
    assert_eq!(seen["a"].count, 5);
    assert!(
        seen["a"]
            .items
            .iter()
            .all(|through| through.why == WhyViewed::Public)
    );
    assert!(
        reader
            .list_seen_through("stranger", &apps, 9)
            .await
            .unwrap()
            .is_empty()
    );
}
