//! Permissions, as far as storage decides them.

use portico_storage::{Constraint, Error, Named};

use crate::store::{Store, texts, user};

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
