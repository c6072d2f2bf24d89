//! The interface `state`, as a dashboard that applies a desired state calls it.

use portico_model::{PathSegment, Provider, TextChange, error::Code};
use portico_sandbox::{Secret, TimestampChange, WantedApp, WantedUser};
use portico_storage::{AccountKey, AppFilter, ProviderName, Viewer};

use super::harness::{Harness, NEW_YEAR, admin, anonymous, call, user};

fn wanted_user(name: &str) -> WantedUser {
    WantedUser {
        provider: Provider::Credentials,
        name: name.into(),
        email: TextChange::Keep,
        email_verified: TimestampChange::Keep,
        image: TextChange::Keep,
        secret: None,
        disabled: None,
    }
}

fn wanted_app(id: Option<&str>, name: &str) -> WantedApp {
    WantedApp {
        id: id.map(Into::into),
        name: name.into(),
        icon_url: None,
        description: TextChange::Keep,
        href: TextChange::Keep,
        ping_url: TextChange::Keep,
    }
}

#[tokio::test]
async fn it_is_for_administrators_only() {
    let harness = Harness::new();
    for (caller, code) in [
        (anonymous(), Code::Unauthorized),
        (user("editor", &["app-full-all"]), Code::Forbidden),
    ] {
        let users = [wanted_user("grace")];
        let apps = [wanted_app(None, "Jellyfin")];
        let names = ["Jellyfin".to_owned()];
        let refusals = [
            call!(harness, portico_dashboard_state.call_check_users(&caller, &users)).err(),
            call!(harness, portico_dashboard_state.call_check_apps(&caller, &apps)).err(),
            call!(
                harness,
                portico_dashboard_state.call_hash_password(&caller, "correct horse")
            )
            .err(),
            call!(harness, portico_dashboard_state.call_find_icons(&caller, &names)).err(),
            call!(harness, portico_dashboard_state.call_put_users(&caller, &users)).err(),
            call!(harness, portico_dashboard_state.call_put_apps(&caller, &apps)).err(),
        ];
        for refusal in refusals {
            assert_eq!(refusal.unwrap().code, code);
        }
    }
    assert!(!harness.dashboard().await.has_users().await.unwrap());
    assert_eq!(
        harness
            .dashboard()
            .await
            .count_apps(&AppFilter::EVERYTHING)
            .await
            .unwrap(),
        0
    );
}

#[tokio::test]
async fn users_are_found_by_provider_and_name_and_answered_in_order() {
    let harness = Harness::new();
    let hash = call!(
        harness,
        portico_dashboard_state.call_hash_password(&admin(), "correct horse")
    )
    .unwrap();
    let mut grace = wanted_user(" Grace ");
    grace.secret = Some(Secret::Hash(hash.clone()));
    let mut external = wanted_user("grace");
    external.provider = Provider::Ldap;
    external.email = TextChange::Set("g@example.org".into());
    external.email_verified = TimestampChange::Set(NEW_YEAR);
    let users = [external, grace];
    let ids = call!(harness, portico_dashboard_state.call_put_users(&admin(), &users)).unwrap();
    assert_eq!(
        call!(harness, portico_dashboard_state.call_put_users(&admin(), &users)).unwrap(),
        ids
    );
    let mut dashboard = harness.dashboard().await;
    let key = AccountKey::Name(ProviderName {
        provider: Provider::Credentials,
        name_key: "grace".into(),
    });
    let account = dashboard.get_account(&key).await.unwrap().unwrap();
    assert_eq!((account.id, account.password_hash), (ids[1].clone(), Some(hash)));
    let external = dashboard.get_user(&ids[0]).await.unwrap().unwrap();
    assert_eq!(
        (external.provider, external.email_verified),
        (Provider::Ldap, Some(NEW_YEAR))
    );
}

#[tokio::test]
async fn a_hash_counts_only_for_a_new_user_and_a_password_never() {
    let harness = Harness::new();
    let put = |secret: Secret| {
        let mut user = wanted_user("grace");
        user.secret = Some(secret);
        [user]
    };
    let plain = put(Secret::Password("correct horse".into()));
    call!(
        harness,
        portico_dashboard_state.call_check_users(&admin(), &plain)
    )
    .unwrap();
    let refusal = call!(harness, portico_dashboard_state.call_put_users(&admin(), &plain)).unwrap_err();
    assert_eq!(
        refusal.issues[0].path,
        [PathSegment::Index(0), PathSegment::Field("password".into())]
    );
    for hash in ["first", "second"] {
        let users = put(Secret::Hash(hash.into()));
        call!(harness, portico_dashboard_state.call_put_users(&admin(), &users)).unwrap();
    }
    let key = AccountKey::Name(ProviderName {
        provider: Provider::Credentials,
        name_key: "grace".into(),
    });
    let account = harness
        .dashboard()
        .await
        .get_account(&key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(account.password_hash.as_deref(), Some("first"));
    let refusal = call!(
        harness,
        portico_dashboard_state.call_hash_password(&admin(), "short")
    )
    .unwrap_err();
    assert!(
        refusal.code == Code::BadRequest && !refusal.message.contains("short"),
        "{refusal}"
    );
}

#[tokio::test]
async fn apps_are_changed_where_they_are_and_created_where_they_are_not() {
    let harness = Harness::new();
    let apps = [wanted_app(Some("one"), "One"), wanted_app(None, "Two")];
    let ids = call!(harness, portico_dashboard_state.call_put_apps(&admin(), &apps)).unwrap();
    assert_eq!((ids.len(), &ids[0][..]), (2, "one"));
    let mut renamed = wanted_app(Some(&ids[1]), "Renamed");
    renamed.href = TextChange::Set("https://two.example".into());
    let again = [renamed, wanted_app(Some("one"), "One")];
    let answered = call!(harness, portico_dashboard_state.call_put_apps(&admin(), &again)).unwrap();
    assert_eq!(answered, [ids[1].clone(), ids[0].clone()]);
    let mut dashboard = harness.dashboard().await;
    let two = dashboard
        .get_app(&ids[1], &Viewer::Everything)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (&two.name[..], two.href.as_deref()),
        ("Renamed", Some("https://two.example"))
    );
    // No icon is looked up while a transaction is open.
    assert_eq!(two.icon_url, "https://icons.example/default.svg");
    assert_eq!(dashboard.count_apps(&AppFilter::EVERYTHING).await.unwrap(), 2);
    drop(dashboard);

    let names = ["Jellyfin".to_owned(), "Two".to_owned()];
    let icons = call!(harness, portico_dashboard_state.call_find_icons(&admin(), &names));
    assert_eq!(
        icons.unwrap(),
        [
            "https://icons.example/jellyfin.svg",
            "https://icons.example/default.svg"
        ]
    );
}

#[tokio::test]
async fn lists_are_bounded_and_all_or_nothing() {
    let harness = Harness::new();
    let many = vec![wanted_app(None, "One"); 1001];
    let refusal = call!(harness, portico_dashboard_state.call_put_apps(&admin(), &many));
    assert_eq!(refusal.unwrap_err().code, Code::BadRequest);
    let many = vec![wanted_user("grace"); 1001];
    let refusal = call!(harness, portico_dashboard_state.call_put_users(&admin(), &many));
    assert_eq!(refusal.unwrap_err().code, Code::BadRequest);

    let twice = [wanted_app(Some("one"), "One"), wanted_app(Some("one"), "Two")];
    let refusal = call!(harness, portico_dashboard_state.call_put_apps(&admin(), &twice)).unwrap_err();
    assert_eq!(
        refusal.issues[0].path,
        [PathSegment::Index(1), PathSegment::Field("id".into())]
    );
    let mut verified = wanted_user("heidi");
    verified.email_verified = TimestampChange::Set(NEW_YEAR);
    let users = [wanted_user("grace"), verified];
    let refusal = call!(harness, portico_dashboard_state.call_put_users(&admin(), &users)).unwrap_err();
    assert_eq!(
        refusal.issues[0].path,
        [PathSegment::Index(1), PathSegment::Field("emailVerified".into())]
    );
    assert!(!harness.dashboard().await.has_users().await.unwrap());
    assert_eq!(
        harness
            .dashboard()
            .await
            .count_apps(&AppFilter::EVERYTHING)
            .await
            .unwrap(),
        0
    );
}
