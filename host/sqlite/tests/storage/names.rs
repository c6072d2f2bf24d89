//! How names are ordered, found, and kept apart.

use portico_model::Provider;
use portico_storage::{AppFilter, Constraint, Error, NewUser, Profile, Slice, UserFilter};

use crate::store::{Store, app, board, engine, named, subject, user};

/// Names as people write them, each with an id, unordered.
const NAMES: [(&str, &str); 14] = [
    ("10", "Zeta"),
    ("11", "alpha"),
    ("12", "Straße"),
    ("13", "STRASSE"),
    ("14", "İstanbul"),
    ("15", "ISPARTA"),
    ("16", "ıhlamur"),
    ("17", "ΟΔΟΣ"),
    ("18", "Ὀδυσσεύς"),
    ("19", "🦊 fox"),
    ("21", "same"),
    ("20", "Same"),
    ("22", "über"),
    ("23", "a"),
];

async fn fill(store: &Store) {
    let mut writer = store.write().await;
    let apps: Vec<_> = NAMES.iter().map(|(id, name)| app(id, name)).collect();
    writer.insert_apps(&apps).await.unwrap();
    for (index, (id, name)) in NAMES.iter().enumerate() {
        let mut user = user(id, name);
        // Two users of the same name need two providers.
        user.user.provider = if index % 2 == 0 {
            Provider::Credentials
        } else {
            Provider::Ldap
        };
        writer.insert_user(&user).await.unwrap();
    }
    writer.commit().await.unwrap();
}

async fn apps(store: &Store, contains: Option<&str>, offset: u32, limit: Option<u32>) -> Vec<String> {
    let filter = contains.map_or(AppFilter::EVERYTHING, named);
    let slice = Slice { offset, limit };
    let apps = store.read().await.list_apps(&filter, slice).await.unwrap();
    apps.into_iter().map(|app| app.id).collect()
}

async fn users(
    store: &Store,
    provider: Option<Provider>,
    contains: Option<&str>,
    limit: Option<u32>,
) -> Vec<String> {
    let filter = UserFilter {
        provider,
        name_contains: contains.map(str::to_owned),
        ..UserFilter::default()
    };
    let slice = Slice { offset: 0, limit };
    let users = store
        .read()
        .await
        .list_users(&filter, slice, false)
        .await
        .unwrap();
    users.into_iter().map(|user| user.id).collect()
}

pub async fn apps_and_users_are_ordered_by_the_bytes_of_the_name_key_then_the_id(store: &Store) {
    fill(store).await;
    // a, alpha, isparta, i\u{307}stanbul (U+0307 follows ASCII), same, same, strasse, straße, zeta,
    // über, ıhlamur, οδος, ὀδυσσεύς, the fox.
    let expected = [
        "23", "11", "15", "14", "20", "21", "13", "12", "10", "22", "16", "17", "18", "19",
    ];
    assert_eq!(apps(store, None, 0, None).await, expected);
    assert_eq!(users(store, None, None, None).await, expected);
}

pub async fn substrings_are_found_in_the_name_key_and_nothing_is_a_wildcard(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    let odd = [
        app("30", "100%"),
        app("31", "under_score"),
        app("32", "it's"),
        app("33", "back\\slash"),
    ];
    writer.insert_apps(&odd).await.unwrap();
    writer.commit().await.unwrap();

    for (contains, expected) in [
        ("stra", vec!["13", "12"]),
        ("straß", vec!["12"]),
        ("ss", vec!["13"]),
        ("i\u{307}s", vec!["14"]),
        ("ıh", vec!["16"]),
        ("οδος", vec!["17"]),
        ("🦊", vec!["19"]),
        ("same", vec!["20", "21"]),
        ("Same", vec![]),
        ("%", vec!["30"]),
        ("_", vec!["31"]),
        ("'", vec!["32"]),
        ("\\", vec!["33"]),
        ("*", vec![]),
        ("\0", vec![]),
    ] {
        assert_eq!(
            apps(store, Some(contains), 0, None).await,
            expected,
            "apps with {contains:?}"
        );
        let mut reader = store.read().await;
        let count = reader.count_apps(&named(contains)).await.unwrap();
        assert_eq!(count, expected.len() as u32, "how many apps with {contains:?}");
        drop(reader);
        let expected: Vec<_> = expected.into_iter().filter(|id| *id < "30").collect();
        assert_eq!(
            users(store, None, Some(contains), None).await,
            expected,
            "users with {contains:?}"
        );
    }
    assert_eq!(
        apps(store, Some(""), 0, None).await.len(),
        NAMES.len() + odd.len()
    );
    assert_eq!(store.count_apps().await, (NAMES.len() + odd.len()) as u32);
}

pub async fn lists_honour_offset_limit_and_provider(store: &Store) {
    fill(store).await;
    let all = apps(store, None, 0, None).await;
    assert_eq!(apps(store, None, 0, Some(3)).await, all[..3]);
    assert_eq!(apps(store, None, 3, Some(4)).await, all[3..7]);
    assert_eq!(apps(store, None, 12, None).await, all[12..]);
    assert_eq!(apps(store, None, 14, Some(5)).await, Vec::<String>::new());
    assert_eq!(apps(store, None, u32::MAX, Some(5)).await, Vec::<String>::new());
    assert_eq!(apps(store, Some("same"), 1, Some(5)).await, ["21"]);
    assert_eq!(apps(store, None, 0, Some(0)).await, Vec::<String>::new());
    assert_eq!(apps(store, None, 0, Some(u32::MAX)).await, all);

    assert_eq!(users(store, None, None, Some(3)).await, all[..3]);
    let ldap = users(store, Some(Provider::Ldap), None, None).await;
    let others = users(store, Some(Provider::Credentials), None, None).await;
    assert_eq!((ldap.len(), others.len()), (7, 7));
    assert_eq!(
        users(store, Some(Provider::Ldap), Some("same"), None).await,
        ["20"]
    );
    assert_eq!(
        users(store, Some(Provider::Oidc), None, None).await,
        Vec::<String>::new()
    );
}

pub async fn a_user_name_is_taken_once_for_each_provider(store: &Store) {
    let mut writer = store.write().await;
    writer.insert_user(&user("u", "ann")).await.unwrap();
    writer.insert_user(&user("v", "bob")).await.unwrap();
    let mut external = user("w", "ann");
    external.user.provider = Provider::Oidc;
    writer.insert_user(&external).await.unwrap();
    writer.commit().await.unwrap();

    let taken = |result| matches!(result, Err(Error::Constraint(Constraint::UserName)));
    assert!(taken(
        store
            .write()
            .await
            .insert_user(&user("x", "Ann"))
            .await
            .map(|()| true)
    ));
    let profile = |name: &str| {
        let NewUser { user, name_key, .. } = user("", name);
        Profile {
            name: user.name,
            name_key,
            email: None,
            email_verified: None,
        }
    };
    assert!(taken(store.write().await.set_profile("v", &profile("ANN")).await));
    // One's own name, and the name of another provider's user.
    assert!(
        store
            .write()
            .await
            .set_profile("u", &profile("ANN"))
            .await
            .unwrap()
    );
    assert!(
        store
            .write()
            .await
            .set_profile("w", &profile("bob"))
            .await
            .unwrap()
    );
}

pub async fn users_are_found_by_their_whole_email(store: &Store) {
    let mut writer = store.write().await;
    for (id, provider, email) in [
        ("1", Provider::Credentials, Some("ann@example.com")),
        ("2", Provider::Credentials, Some("ann@example.com")),
        ("3", Provider::Oidc, Some("ann@example.com")),
        ("4", Provider::Credentials, Some("Ann@example.com")),
        ("5", Provider::Credentials, Some("joann@example.com")),
        ("6", Provider::Credentials, None),
    ] {
        let mut user = user(id, id);
        user.user.provider = provider;
        user.user.email = email.map(Into::into);
        writer.insert_user(&user).await.unwrap();
    }
    writer.commit().await.unwrap();
    let found = async |provider, email: &str, limit| {
        let filter = UserFilter {
            provider,
            email: Some(email.into()),
            ..UserFilter::default()
        };
        let slice = Slice { offset: 0, limit };
        let users = store
            .read()
            .await
            .list_users(&filter, slice, false)
            .await
            .unwrap();
        users.into_iter().map(|user| user.id).collect::<Vec<_>>()
    };
    assert_eq!(found(None, "ann@example.com", None).await, ["1", "2", "3"]);
    let own = Some(Provider::Credentials);
    assert_eq!(found(own, "ann@example.com", None).await, ["1", "2"]);
    assert_eq!(found(own, "ann@example.com", Some(1)).await, ["1"]);
    assert_eq!(found(own, "Ann@example.com", None).await, ["4"]);
    assert!(found(own, "ann@example", None).await.is_empty());
    assert!(found(own, "", None).await.is_empty());
}

pub async fn a_subject_belongs_to_one_user(store: &Store) {
    let mut writer = store.write().await;
    for (id, name) in [("u", "ann"), ("v", "bob")] {
        writer.insert_user(&user(id, name)).await.unwrap();
    }
    writer
        .insert_identity("u", &subject(Provider::Oidc, "subject"))
        .await
        .unwrap();
    writer
        .insert_identity("v", &subject(Provider::Ldap, "subject"))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    let another = store
        .write()
        .await
        .insert_identity("u", &subject(Provider::Oidc, "another"))
        .await;
    assert!(
        matches!(another, Err(Error::Constraint(Constraint::Identity))),
        "{another:?}"
    );
    let refused = store
        .write()
        .await
        .insert_identity("v", &subject(Provider::Oidc, "subject"))
        .await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::Identity))),
        "{refused:?}"
    );
    let refused = store
        .write()
        .await
        .insert_identity("unknown", &subject(Provider::Oidc, "other"))
        .await;
    assert!(
        matches!(refused, Err(Error::Constraint(Constraint::Reference))),
        "{refused:?}"
    );
}

pub async fn group_board_and_engine_names_are_taken_once(store: &Store) {
    let mut writer = store.write().await;
    assert!(writer.insert_group("g", "Family", "family").await.unwrap());
    assert!(!writer.insert_group("h", "FAMILY", "family").await.unwrap());
    assert!(
        writer
            .insert_board(&board("b", None, vec![]), "home")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_board(&board("c", None, vec![]), "home")
            .await
            .unwrap()
    );
    assert!(
        writer
            .insert_search_engine(&engine("e", "One", "o"), "one", "o")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_search_engine(&engine("f", "One", "p"), "one", "p")
            .await
            .unwrap()
    );
    assert!(
        !writer
            .insert_search_engine(&engine("f", "Two", "O"), "two", "o")
            .await
            .unwrap()
    );
    // A taken name does not fail the transaction: the rest is committed.
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(reader.list_groups().await.unwrap().len(), 1);
    assert_eq!(reader.list_boards().await.unwrap().len(), 1);
    assert_eq!(reader.list_search_engines().await.unwrap().len(), 1);
}
