//! Permissions, as far as storage decides them.

use portico_storage::{Constraint, Error, Named};

use crate::store::{Store, board, texts, user};

/// Users and groups by name. Each user is in one group at most.
async fn fill(store: &Store, groups: &[(&str, &[&str], &[&str])], others: &[&str]) {
    let mut writer = store.write().await;
    for (group, permissions, members) in groups {
        assert!(writer.insert_group(group, group, group).await.unwrap());
        assert!(
            writer
                .set_group_permissions(group, &texts(permissions))
                .await
                .unwrap()
        );
        for member in *members {
            writer.insert_user(&user(member, member)).await.unwrap();
            assert!(writer.add_to_group(member, group).await.unwrap());
        }
    }
    for other in others {
        writer.insert_user(&user(other, other)).await.unwrap();
    }
    writer.commit().await.unwrap();
}

pub async fn who_may_view_a_board(store: &Store) {
    let groups: [(&str, &[&str], &[&str]); 5] = [
        ("admins", &["admin"], &["admin"]),
        ("viewers", &["board-view-all"], &["viewer"]),
        ("editors", &["board-full-all"], &["editor"]),
        ("shared with", &["app-create"], &["by group"]),
        (
            "others",
            &["app-full-all", "boards", "administrator"],
            &["powerful elsewhere"],
        ),
    ];
    fill(store, &groups, &["creator", "by user", "stranger"]).await;
    let mut writer = store.write().await;
    let mut public = board("public", None, vec![]);
    public.board.is_public = true;
    assert!(writer.insert_board(&public, "public").await.unwrap());
    assert!(
        writer
            .insert_board(&board("private", Some("creator"), vec![]), "private")
            .await
            .unwrap()
    );
    assert!(
        writer
            .insert_board(&board("ownerless", None, vec![]), "ownerless")
            .await
            .unwrap()
    );
    assert!(
        writer
            .share_board("private", &texts(&["by user"]), &texts(&["shared with"]))
            .await
            .unwrap()
    );
    assert!(!writer.share_board("missing", &[], &[]).await.unwrap());
    writer.commit().await.unwrap();

    let mut reader = store.read().await;
    for (who, private, ownerless) in [
        ("admin", true, true),
        ("viewer", true, true),
        ("editor", true, true),
        ("creator", true, false),
        ("by user", true, false),
        ("by group", true, false),
        ("powerful elsewhere", false, false),
        ("stranger", false, false),
    ] {
        assert!(
            reader.can_view_board(who, "public").await.unwrap(),
            "{who}, public"
        );
        assert_eq!(
            reader.can_view_board(who, "private").await.unwrap(),
            private,
            "{who}, private"
        );
        assert_eq!(
            reader.can_view_board(who, "ownerless").await.unwrap(),
            ownerless,
            "{who}, ownerless"
        );
        assert!(
            !reader.can_view_board(who, "missing").await.unwrap(),
            "{who}, missing"
        );
    }
    drop(reader);

    // Sharing replaces the previous shares.
    let mut writer = store.write().await;
    assert!(
        writer
            .share_board("private", &texts(&["stranger", "stranger"]), &[])
            .await
            .unwrap()
    );
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert!(reader.can_view_board("stranger", "private").await.unwrap());
    assert!(!reader.can_view_board("by user", "private").await.unwrap());
    assert!(!reader.can_view_board("by group", "private").await.unwrap());
}

pub async fn another_admin_is_another_user_with_the_permission(store: &Store) {
    let groups: [(&str, &[&str], &[&str]); 3] = [
        ("one", &["admin", "app-create"], &["ann"]),
        ("two", &["app-full-all"], &["bob"]),
        ("empty", &["admin"], &[]),
    ];
    fill(store, &groups, &["carol"]).await;
    let mut writer = store.write().await;
    assert!(!writer.has_another_admin("ann").await.unwrap());
    assert!(writer.has_another_admin("bob").await.unwrap());
    assert!(writer.has_another_admin("unknown").await.unwrap());
    // The same user by a second group is not another one.
    assert!(writer.add_to_group("ann", "empty").await.unwrap());
    assert!(!writer.has_another_admin("ann").await.unwrap());
    assert!(writer.add_to_group("carol", "empty").await.unwrap());
    assert!(writer.has_another_admin("ann").await.unwrap());
    assert!(writer.remove_from_group("carol", "empty").await.unwrap());
    assert!(!writer.remove_from_group("carol", "empty").await.unwrap());
    assert!(!writer.has_another_admin("ann").await.unwrap());
}

pub async fn groups_are_found_by_name_key_and_by_member(store: &Store) {
    let groups: [(&str, &[&str], &[&str]); 3] = [
        ("two", &[], &[]),
        ("one", &["admin"], &["ann", "bob"]),
        ("empty", &[], &[]),
    ];
    fill(store, &groups, &["carol"]).await;
    let mut writer = store.write().await;
    assert!(writer.add_to_group("ann", "two").await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.find_group("one").await.unwrap().as_deref(), Some("one"));
    assert_eq!(reader.find_group("on").await.unwrap(), None);
    assert_eq!(reader.list_memberships("ann").await.unwrap(), ["one", "two"]);
    assert_eq!(reader.list_memberships("bob").await.unwrap(), ["one"]);
    assert!(reader.list_memberships("carol").await.unwrap().is_empty());
    assert!(reader.list_memberships("unknown").await.unwrap().is_empty());
}

pub async fn grant_admin_uses_the_group_admins(store: &Store) {
    fill(store, &[], &["ann", "bob"]).await;
    let mut writer = store.write().await;
    writer.grant_admin("ann").await.unwrap();
    writer.grant_admin("bob").await.unwrap();
    writer.grant_admin("bob").await.unwrap();
    writer.commit().await.unwrap();

    let groups = store.read().await.list_groups().await.unwrap();
    assert_eq!(groups.len(), 1);
    assert_eq!(
        (&groups[0].name[..], &groups[0].permissions[..]),
        ("admins", &texts(&["admin"])[..])
    );
    assert_eq!(groups[0].members.len(), 2);
    assert_eq!(groups[0].id.len(), 36);
    assert_eq!(groups[0].id.as_bytes()[14], b'7', "{} is no UUIDv7", groups[0].id);

    // A group of that name that has lost the permission gets it back.
    let mut writer = store.write().await;
    assert!(
        writer
            .set_group_permissions(&groups[0].id, &texts(&["app-create"]))
            .await
            .unwrap()
    );
    writer.grant_admin("ann").await.unwrap();
    assert_eq!(
        writer.list_groups().await.unwrap()[0].permissions,
        ["admin", "app-create"]
    );
    let refused = writer.grant_admin("unknown").await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::Reference))),
        "{refused:?}"
    );
}

pub async fn groups_show_permissions_and_members_in_order(store: &Store) {
    let groups: [(&str, &[&str], &[&str]); 2] = [
        (
            "zoo",
            &["board-view-all", "admin", "app-create", "admin"],
            &["Zoe", "bob", "Ann"],
        ),
        ("alpha", &[], &[]),
    ];
    fill(store, &groups, &[]).await;
    let mut writer = store.write().await;
    assert!(!writer.set_group_permissions("missing", &[]).await.unwrap());
    assert!(!writer.add_to_group("bob", "missing").await.unwrap());
    assert!(
        writer.add_to_group("bob", "zoo").await.unwrap(),
        "a member already"
    );
    let groups = writer.list_groups().await.unwrap();
    assert_eq!(
        groups.iter().map(|group| &group.name[..]).collect::<Vec<_>>(),
        ["alpha", "zoo"]
    );
    assert!(groups[0].permissions.is_empty() && groups[0].members.is_empty());
    assert_eq!(groups[1].permissions, ["admin", "app-create", "board-view-all"]);
    let named = |name: &str| Named {
        id: name.into(),
        name: name.into(),
    };
    assert_eq!(groups[1].members, [named("Ann"), named("bob"), named("Zoe")]);
    assert!(writer.set_group_permissions("zoo", &[]).await.unwrap());
    assert!(writer.list_groups().await.unwrap()[1].permissions.is_empty());
}
