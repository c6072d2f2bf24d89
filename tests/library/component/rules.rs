//! Rules that need a clock, an icon or an identity provider.

use portico_model::{AppDraft, ColorScheme, Provider, Registration, TextChange, error::Code};
use portico_sandbox::{ExternalIdentity as External, Linking};
use portico_storage::AccountKey;

use super::harness::{Harness, NEW_YEAR, account, admin, anonymous, call, call_context, user};

fn registration(name: &str, invite: &str) -> Registration {
    let mut account = account(name);
    account.email = Some("grace@example.org".into());
    Registration {
        account,
        invite_id: invite.into(),
        token: "secret".into(),
    }
}

async fn first_user(harness: &Harness) -> String {
    call!(
        harness,
        portico_dashboard_users.call_init_user(&anonymous(), &account("ada"))
    )
    .unwrap()
}

fn external(subject: &str, name: &str) -> External {
    External {
        provider: Provider::Oidc,
        subject: subject.into(),
        name: name.into(),
        email: Some("eve@example.org".into()),
        email_verified: true,
        image: None,
    }
}

#[tokio::test]
async fn a_new_user_has_the_id_of_the_moment_and_the_defaults() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    assert!(
        id.starts_with("019b76da-a800-7"),
        "{id} is no UUIDv7 of the first of January 2026"
    );
    let ada = call!(
        harness,
        portico_dashboard_users.call_get_by_id(&user(&id, &[]), &id)
    )
    .unwrap();
    assert_eq!(
        (
            ada.first_day_of_week,
            ada.ping_icons_enabled,
            ada.open_search_in_new_tab
        ),
        (1, false, true)
    );
    assert_eq!(
        (ada.provider, ada.email, ada.email_verified),
        (Provider::Credentials, None, None)
    );
    let session = harness
        .dashboard()
        .await
        .get_session_user(&id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(session.color_scheme, ColorScheme::Dark);
    assert_eq!(session.permissions, ["admin"]);
}

#[tokio::test]
async fn an_invite_is_valid_until_the_moment_it_expires() {
    let harness = Harness::new();
    first_user(&harness).await;
    harness.invite("invite", NEW_YEAR + 1000).await;

    let register = async |name: &str| {
        let registration = registration(name, "invite");
        call!(
            harness,
            portico_dashboard_users.call_register(&anonymous(), &registration)
        )
    };
    harness.clock.set(NEW_YEAR + 1000);
    assert_eq!(register("grace").await.unwrap_err().code, Code::Forbidden);
    harness.clock.set(NEW_YEAR + 999);
    register("grace").await.unwrap();
    assert_eq!(
        register("heidi").await.unwrap_err().code,
        Code::Forbidden,
        "it is used up"
    );
}

#[tokio::test]
async fn a_taken_name_does_not_use_up_the_invite() {
    let harness = Harness::new();
    first_user(&harness).await;
    harness.invite("invite", NEW_YEAR + 1000).await;
    let taken = registration("ADA", "invite");
    let refusal = call!(
        harness,
        portico_dashboard_users.call_register(&anonymous(), &taken)
    )
    .unwrap_err();
    assert_eq!(refusal.code, Code::Conflict);
    let free = registration("grace", "invite");
    call!(
        harness,
        portico_dashboard_users.call_register(&anonymous(), &free)
    )
    .unwrap();
}

#[tokio::test]
async fn passwords_are_kept_as_argon2id_with_the_agreed_parameters() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    let stored = harness
        .dashboard()
        .await
        .get_account(&AccountKey::Id(id))
        .await
        .unwrap()
        .unwrap();
    let hash = stored.password_hash.unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
    let parts: Vec<_> = hash.split('$').collect();
    // Base64 without padding: 16 bytes of salt, 32 of hash.
    assert_eq!((parts[4].len(), parts[5].len()), (22, 43));
}

#[tokio::test]
async fn icons_are_looked_up_by_name_only_where_none_is_given() {
    let harness = Harness::new();
    let draft = |name: &str, icon: Option<&str>| AppDraft {
        name: name.into(),
        icon_url: icon.map(Into::into),
        description: None,
        href: None,
        ping_url: None,
    };
    let drafts = [
        draft("Jellyfin", None),
        draft("Jellyfin", Some("/own.svg")),
        draft("Nothing", None),
    ];
    let apps = call!(
        harness,
        portico_dashboard_apps.call_create_many(&admin(), &drafts)
    )
    .unwrap();
    let icons: Vec<_> = apps.iter().map(|app| &app.icon_url[..]).collect();
    assert_eq!(
        icons,
        [
            "https://icons.example/jellyfin.svg",
            "/own.svg",
            "https://icons.example/default.svg"
        ]
    );
}

#[tokio::test]
async fn apps_of_one_name_stay_in_the_order_in_which_they_were_created_together() {
    let harness = Harness::new();
    let drafts: Vec<_> = (0..300)
        .map(|number| AppDraft {
            name: "App".into(),
            icon_url: Some(format!("/{number}.svg")),
            description: None,
            href: None,
            ping_url: None,
        })
        .collect();
    let created = call!(
        harness,
        portico_dashboard_apps.call_create_many(&admin(), &drafts)
    )
    .unwrap();
    let listed = call!(harness, portico_dashboard_apps.call_all(&admin())).unwrap();
    assert_eq!(listed, created);
}

#[tokio::test]
async fn an_identity_provider_signs_no_user_in_before_the_first_administrator_exists() {
    let harness = Harness::new();
    let refusal = call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("s", "eve"), Linking::Off)
    )
    .unwrap_err();
    assert_eq!(refusal.code, Code::Forbidden);
    assert!(!harness.dashboard().await.has_users().await.unwrap());
}

#[tokio::test]
async fn a_subject_is_one_user_and_two_subjects_with_one_name_are_not() {
    let harness = Harness::new();
    first_user(&harness).await;
    let eve = call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("1", "eve"), Linking::Off)
    )
    .unwrap();
    let again = call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("1", "eva"), Linking::Off)
    )
    .unwrap();
    assert_eq!((&again.id, &again.name[..]), (&eve.id, "eva"));
    let other = call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("2", "eva"), Linking::Off)
    )
    .unwrap_err();
    assert_eq!(other.code, Code::Conflict);
    // The name of a user who signs in here is another matter.
    call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("3", "ada"), Linking::Off)
    )
    .unwrap();
}

#[tokio::test]
async fn profile_and_password_of_an_external_user_cannot_be_changed_even_by_administrators() {
    let harness = Harness::new();
    first_user(&harness).await;
    let eve = call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), &external("1", "eve"), Linking::Off)
    )
    .unwrap();
    let profile = portico_model::ProfileChange {
        id: eve.id.clone(),
        name: "eva".into(),
        email: TextChange::Keep,
    };
    let password = portico_model::PasswordChange {
        user_id: eve.id.clone(),
        previous_password: Some("correct horse".into()),
        password: "correct horse".into(),
    };
    for caller in [admin(), user(&eve.id, &[])] {
        let refusal = call!(
            harness,
            portico_dashboard_users.call_edit_profile(&caller, &profile)
        )
        .unwrap_err();
        assert_eq!(refusal.code, Code::Forbidden);
        let refusal = call!(
            harness,
            portico_dashboard_users.call_change_password(&caller, &password)
        )
        .unwrap_err();
        assert_eq!(refusal.code, Code::Forbidden);
    }
    let only_own = call!(
        harness,
        portico_dashboard_users.call_selectable(&admin(), Some(true))
    )
    .unwrap();
    assert_eq!(
        only_own.iter().map(|user| &user.name[..]).collect::<Vec<_>>(),
        ["ada"]
    );
    let refusal = call!(
        harness,
        portico_dashboard_sign_in.call_password(&call_context(), "eve", "correct horse")
    )
    .unwrap_err();
    let unknown = call!(
        harness,
        portico_dashboard_sign_in.call_password(&call_context(), "unknown", "correct horse")
    )
    .unwrap_err();
    assert_eq!(
        (refusal.code, &refusal.message),
        (Code::Unauthorized, &unknown.message)
    );
}

#[tokio::test]
async fn the_component_checks_access_even_if_the_host_does_not() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    let refusal = call!(harness, portico_dashboard_users.call_get_all(&anonymous())).unwrap_err();
    assert_eq!(refusal.code, Code::Unauthorized);
    let refusal = call!(
        harness,
        portico_dashboard_users.call_get_all(&user(&id, &["app-full-all"]))
    )
    .unwrap_err();
    assert_eq!(refusal.code, Code::Forbidden);
    let stranger = user("stranger", &[]);
    let refusal = call!(harness, portico_dashboard_users.call_delete(&stranger, &id)).unwrap_err();
    assert_eq!(refusal.code, Code::Forbidden);
}
