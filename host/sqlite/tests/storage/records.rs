//! Records read back as they were written, and refuse what they must.

use portico_model::{App, ColorScheme, HomeBoards, Provider, SearchPreferences, User};
use portico_storage::{
    Account, AccountKey, ApiKey, AppFilter, Authentication, BoardItem, Constraint, CredentialKey,
    DashboardTransaction, Error, NewInvite, NewUser, Profile, ProviderName, StoredApp, Viewer, hash_secret,
};

use crate::store::{Store, app, board, engine, named, session, subject, texts, user};

fn full_user() -> NewUser {
    NewUser {
        user: User {
            id: "u".into(),
            name: "Ann".into(),
            email: Some("ann@example.org".into()),
            email_verified: Some(1_700_000_000_123),
            image: Some("data:image/png;base64,AAAA".into()),
            provider: Provider::Ldap,
            home_board_id: Some("b1".into()),
            mobile_home_board_id: Some("b2".into()),
            first_day_of_week: 6,
            ping_icons_enabled: true,
            default_search_engine_id: Some("e".into()),
            open_search_in_new_tab: false,
        },
        name_key: "ann".into(),
        color_scheme: ColorScheme::Auto,
        password_hash: Some("hash".into()),
    }
}

fn provider_name(provider: Provider, name_key: &str) -> ProviderName {
    ProviderName {
        provider,
        name_key: name_key.into(),
    }
}

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
    writer.insert_user(&full_user()).await.unwrap();
    writer.insert_user(&user("v", "bob")).await.unwrap();
    writer.commit().await.unwrap();
}

pub async fn a_user_reads_back_as_written(store: &Store) {
    fill(store).await;
    let mut reader = store.read().await;
    assert_eq!(reader.get_user("u").await.unwrap(), Some(full_user().user));
    assert_eq!(reader.get_user("v").await.unwrap(), Some(user("v", "bob").user));
    assert_eq!(reader.get_user("w").await.unwrap(), None);
    let session_user = reader.get_session_user("u").await.unwrap().unwrap();
    assert_eq!(
        (session_user.color_scheme, session_user.provider),
        (ColorScheme::Auto, Provider::Ldap)
    );
    assert_eq!(session_user.image, full_user().user.image);
}

/// Everything that a function which sets something could change.
#[derive(Debug, PartialEq)]
struct Everything {
    user: User,
    color_scheme: ColorScheme,
    disabled: bool,
}

impl Everything {
    async fn of(transaction: &mut dyn DashboardTransaction, id: &str) -> Self {
        let account = transaction.get_account(&AccountKey::Id(id.into())).await;
        Self {
            user: transaction.get_user(id).await.unwrap().unwrap(),
            color_scheme: transaction
                .get_session_user(id)
                .await
                .unwrap()
                .unwrap()
                .color_scheme,
            disabled: account.unwrap().unwrap().disabled,
        }
    }
}

pub async fn every_change_of_a_user_changes_that_and_nothing_else(store: &Store) {
    fill(store).await;
    let profile = Profile {
        name: "Eve".into(),
        name_key: "eve".into(),
        email: None,
        email_verified: Some(7),
    };
    let home = HomeBoards {
        home_board_id: None,
        mobile_home_board_id: Some("b1".into()),
    };
    let search = SearchPreferences {
        default_search_engine_id: None,
        open_in_new_tab: true,
    };
    let mut expected = Everything {
        user: full_user().user,
        color_scheme: ColorScheme::Auto,
        disabled: false,
    };
    let mut writer = store.write().await;
    /// Makes a change of the user, and of one who does not exist.
    macro_rules! change {
        ($setter:ident($value:expr), $($field:ident).+ = $new:expr $(, $($other:ident).+ = $also:expr)*) => {
            assert!(writer.$setter("u", $value).await.unwrap());
            assert!(!writer.$setter("missing", $value).await.unwrap());
            expected.$($field).+ = $new;
            $(expected.$($other).+ = $also;)*
            let found = Everything::of(&mut *writer, "u").await;
            assert_eq!(found, expected, "after {}", stringify!($setter));
        };
    }
    change!(
        set_profile(&profile),
        user.name = "Eve".into(),
        user.email = None,
        user.email_verified = Some(7)
    );
    change!(set_image(None), user.image = None);
    change!(
        set_image(Some("data:image/gif;base64,R0lG")),
        user.image = Some("data:image/gif;base64,R0lG".into())
    );
    change!(
        set_home_boards(&home),
        user.home_board_id = None,
        user.mobile_home_board_id = Some("b1".into())
    );
    change!(
        set_search_preferences(&search),
        user.default_search_engine_id = None,
        user.open_search_in_new_tab = true
    );
    change!(
        set_color_scheme(ColorScheme::Light),
        color_scheme = ColorScheme::Light
    );
    change!(set_ping_icons_enabled(false), user.ping_icons_enabled = false);
    change!(set_first_day_of_week(0), user.first_day_of_week = 0);
    change!(set_disabled(true), disabled = true);
    change!(set_disabled(true), disabled = true);
    change!(set_disabled(false), disabled = false);
    change!(set_disabled(true), disabled = true);
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(Everything::of(&mut *reader, "u").await, expected);
    let unchanged = Everything {
        user: user("v", "bob").user,
        color_scheme: ColorScheme::Dark,
        disabled: false,
    };
    assert_eq!(Everything::of(&mut *reader, "v").await, unchanged);
    // The new name-key is in use, the old one is free.
    let name = |name: &str| AccountKey::Name(provider_name(Provider::Ldap, name));
    assert!(reader.get_account(&name("eve")).await.unwrap().is_some());
    assert!(reader.get_account(&name("ann")).await.unwrap().is_none());
}

pub async fn an_account_is_found_by_id_name_and_subject(store: &Store) {
    fill(store).await;
    let mut writer = store.write().await;
    writer
        .insert_identity("u", &subject(Provider::Ldap, "cn=Ann"))
        .await
        .unwrap();
    writer.commit().await.unwrap();

    let account = Account {
        id: "u".into(),
        name: "Ann".into(),
        provider: Provider::Ldap,
        disabled: false,
        password_hash: Some("hash".into()),
        password_version: 0,
    };
    let mut reader = store.read().await;
    for (key, found) in [
        (AccountKey::Id("u".into()), true),
        (AccountKey::Id("missing".into()), false),
        (AccountKey::Name(provider_name(Provider::Ldap, "ann")), true),
        (AccountKey::Name(provider_name(Provider::Ldap, "Ann")), false),
        (
            AccountKey::Name(provider_name(Provider::Credentials, "ann")),
            false,
        ),
        (AccountKey::Subject(subject(Provider::Ldap, "cn=Ann")), true),
        (AccountKey::Subject(subject(Provider::Ldap, "cn=ann")), false),
        (AccountKey::Subject(subject(Provider::Oidc, "cn=Ann")), false),
    ] {
        let expected = found.then(|| account.clone());
        assert_eq!(reader.get_account(&key).await.unwrap(), expected, "{key:?}");
    }
    for (user, provider, subject) in [
        ("u", Provider::Ldap, Some("cn=Ann")),
        ("u", Provider::Oidc, None),
        ("v", Provider::Ldap, None),
        ("missing", Provider::Ldap, None),
    ] {
        let found = reader.get_subject(user, provider).await.unwrap();
        assert_eq!(found.as_deref(), subject, "{user} {provider:?}");
    }
}

pub async fn a_new_password_ends_the_users_other_sessions(store: &Store) {
    fill(store).await;
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
    fill(store).await;
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

pub async fn an_app_reads_back_as_written_and_as_replaced(store: &Store) {
    let full = App {
        id: "a".into(),
        name: "Näme".into(),
        description: Some("one\ntwo".into()),
        icon_url: "/icons/a.svg".into(),
        href: Some("https://example.org".into()),
        ping_url: Some("http://example.org".into()),
    };
    let mut writer = store.write().await;
    writer
        .insert_apps(&[StoredApp {
            app: full.clone(),
            name_key: "näme".into(),
        }])
        .await
        .unwrap();
    assert_eq!(
        writer.get_app("a", &Viewer::Everything).await.unwrap(),
        Some(full)
    );
    assert_eq!(writer.get_app("b", &Viewer::Everything).await.unwrap(), None);
    let other = app("a", "other");
    assert!(writer.update_app(&other).await.unwrap());
    assert!(!writer.update_app(&app("b", "missing")).await.unwrap());
    writer.commit().await.unwrap();
    let mut reader = store.read().await;
    assert_eq!(
        reader.get_app("a", &Viewer::Everything).await.unwrap(),
        Some(other.app)
    );
    assert_eq!(
        (
            reader.count_apps(&named("oth")).await.unwrap(),
            reader.count_apps(&AppFilter::EVERYTHING).await.unwrap()
        ),
        (1, 1)
    );
    assert_eq!(reader.count_apps(&named("näme")).await.unwrap(), 0);
}

pub async fn get_apps_answers_each_app_once(store: &Store) {
    let mut writer = store.write().await;
    let apps: Vec<_> = (0..1000)
        .map(|number| app(&format!("a{number}"), "same"))
        .collect();
    writer.insert_apps(&apps).await.unwrap();
    let mut ids: Vec<_> = apps.iter().map(|app| app.app.id.clone()).collect();
    assert_eq!(
        writer.get_apps(&ids, &Viewer::Everything).await.unwrap().len(),
        1000
    );
    ids.truncate(2);
    ids.extend(texts(&["missing", "a1", "a0", "a1\0", "' OR 1 --"]));
    let mut found: Vec<_> = writer
        .get_apps(&ids, &Viewer::Everything)
        .await
        .unwrap()
        .into_iter()
        .map(|app| app.id)
        .collect();
    found.sort();
    assert_eq!(found, ["a0", "a1"]);
    assert!(
        writer
            .get_apps(&[], &Viewer::Everything)
            .await
            .unwrap()
            .is_empty()
    );
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
            .share_board("b1", &texts(&["missing"]), &[])
            .await,
    );
    refused(
        "share",
        store
            .write()
            .await
            .share_board("b1", &[], &texts(&["missing"]))
            .await,
    );
    let mut writer = store.write().await;
    assert!(writer.insert_group("g", "g", "g").await.unwrap());
    refused("member", writer.add_to_group("missing", "g").await);
}
