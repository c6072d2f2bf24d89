//! Values that are older than a rule: they stay readable and usable, and a change that leaves them as
//! they are is accepted.

use portico_model::{
    App, AppChange, AppDraft, AppInput, PathSegment, ProfileChange, Provider, TextChange,
    error::{Code, Error},
};
use portico_sandbox::{ExternalIdentity as Identity, Linking, TimestampChange, WantedApp, WantedUser};
use portico_storage::{AppFilter, Profile, StoredApp};

use super::harness::{Harness, account, admin, anonymous, call, call_context};

/// Looks like `admin`, and sorts next to it.
const HIDDEN: &str = "ad\u{200b}min";
const SCRIPT: &str = "javascript:alert(1)";

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Error>, place: &[PathSegment]) {
    let error = answer.unwrap_err();
    assert_eq!(error.code, Code::BadRequest, "{error}");
    let places: Vec<_> = error.issues.iter().map(|issue| &issue.path[..]).collect();
    assert_eq!(places, [place], "{error}");
}

fn field(name: &str) -> PathSegment {
    PathSegment::Field(name.into())
}

/// Gives a user a name that a new user may no longer take.
async fn rename(harness: &Harness, id: &str, name: &str) {
    let profile = Profile {
        name: name.into(),
        name_key: name.into(),
        email: None,
        email_verified: None,
    };
    let mut dashboard = harness.dashboard().await;
    assert!(dashboard.set_profile(id, &profile).await.unwrap());
    dashboard.commit().await.unwrap();
}

/// Keeps an app that could not be created any more.
async fn keep(harness: &Harness, app: &App) {
    let stored = StoredApp {
        name_key: app.name.to_lowercase(),
        app: app.clone(),
    };
    let mut dashboard = harness.dashboard().await;
    dashboard.insert_apps(&[stored]).await.unwrap();
    dashboard.commit().await.unwrap();
}

async fn first_user(harness: &Harness) -> String {
    let ada = account("ada");
    call!(
        harness,
        portico_dashboard_users.call_init_user(&anonymous(), &ada)
    )
    .unwrap()
}

#[tokio::test]
async fn a_username_with_hidden_characters_stays_and_signs_in_and_no_new_one_is_taken() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    rename(&harness, &id, HIDDEN).await;

    let sign_in = call!(
        harness,
        portico_dashboard_sign_in.call_password(&call_context(), " AD\u{200b}MIN ", "correct horse")
    );
    assert_eq!(sign_in.unwrap().id, id);

    let edit = async |name: &str| {
        let change = ProfileChange {
            id: id.clone(),
            name: name.into(),
            email: TextChange::Set("ada@example.org".into()),
        };
        call!(
            harness,
            portico_dashboard_users.call_edit_profile(&admin(), &change)
        )
    };
    edit(" Ad\u{200b}min").await.unwrap();
    assert_refused(edit("ad\u{202e}min").await, &[field("name")]);
    let stored = call!(harness, portico_dashboard_users.call_get_by_id(&admin(), &id)).unwrap();
    assert_eq!(
        (&stored.name[..], stored.email.as_deref()),
        (HIDDEN, Some("ada@example.org"))
    );
    let created = call!(
        harness,
        portico_dashboard_users.call_create(&admin(), &account("be\u{115f}n"), &[])
    );
    assert_refused(created, &[field("username")]);
}

#[tokio::test]
async fn a_document_may_name_a_user_with_hidden_characters_and_create_none() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    rename(&harness, &id, HIDDEN).await;
    let wanted = |provider, name: &str| WantedUser {
        provider,
        name: name.into(),
        email: TextChange::Set("ada@example.org".into()),
        email_verified: TimestampChange::Keep,
        image: TextChange::Keep,
        secret: None,
        disabled: None,
    };
    let put = async |users: &[WantedUser]| {
        call!(harness, portico_dashboard_state.call_check_users(&admin(), users)).unwrap();
        call!(harness, portico_dashboard_state.call_put_users(&admin(), users))
    };
    let present = wanted(Provider::Credentials, HIDDEN);
    assert_eq!(put(std::slice::from_ref(&present)).await.unwrap(), [id]);
    // Of another provider it would be another user.
    let refused = put(&[present, wanted(Provider::Ldap, HIDDEN)]).await;
    assert_refused(refused, &[PathSegment::Index(1), field("name")]);
}

#[tokio::test]
async fn an_identity_provider_brings_no_new_name_with_hidden_characters() {
    let harness = Harness::new();
    first_user(&harness).await;
    let sign_in = async |subject: &str, name: &str| {
        let identity = Identity {
            provider: Provider::Oidc,
            subject: subject.into(),
            name: name.into(),
            email: None,
            email_verified: false,
            image: None,
        };
        call!(
            harness,
            portico_dashboard_sign_in.call_external(&call_context(), &identity, Linking::Off)
        )
    };
    // As a name with control characters.
    assert_refused(sign_in("1", "ad\0min").await, &[field("name")]);
    assert_refused(sign_in("1", HIDDEN).await, &[field("name")]);

    let eve = sign_in("1", "eve").await.unwrap();
    assert_refused(sign_in("1", HIDDEN).await, &[field("name")]);
    rename(&harness, &eve.id, HIDDEN).await;
    assert_eq!(sign_in("1", HIDDEN).await.unwrap().id, eve.id);
    assert_refused(sign_in("1", "ad\u{2066}min").await, &[field("name")]);
    assert_eq!(sign_in("1", "eve").await.unwrap().id, eve.id);
}

#[tokio::test]
async fn an_icon_that_is_a_script_stays_and_no_new_one_is_taken() {
    let harness = Harness::new();
    let app = App {
        id: "old".into(),
        name: "Old".into(),
        description: None,
        icon_url: SCRIPT.into(),
        href: None,
        ping_url: None,
    };
    keep(&harness, &app).await;
    let id = app.id.clone();
    let read = async || call!(harness, portico_dashboard_apps.call_by_id(&admin(), &id)).unwrap();
    assert_eq!(read().await, app);

    let update = async |icon_url: &str| {
        let change = AppChange {
            id: "old".into(),
            name: Some("Renamed".into()),
            icon_url: Some(icon_url.into()),
            description: TextChange::Keep,
            href: TextChange::Keep,
            ping_url: TextChange::Keep,
        };
        call!(harness, portico_dashboard_apps.call_update(&admin(), &change))
    };
    assert_refused(update("JavaScript:alert(1)").await, &[field("iconUrl")]);
    assert_eq!(read().await, app, "nothing was changed");
    update(&format!(" {SCRIPT}\n")).await.unwrap();
    let renamed = read().await;
    assert_eq!((&renamed.name[..], &renamed.icon_url[..]), ("Renamed", SCRIPT));

    let wanted = |id: Option<&str>, icon_url: &str| WantedApp {
        id: id.map(Into::into),
        name: "Again".into(),
        icon_url: Some(icon_url.into()),
        description: TextChange::Keep,
        href: TextChange::Keep,
        ping_url: TextChange::Keep,
    };
    let put = async |apps: &[WantedApp]| {
        call!(harness, portico_dashboard_state.call_check_apps(&admin(), apps)).unwrap();
        call!(harness, portico_dashboard_state.call_put_apps(&admin(), apps))
    };
    put(&[wanted(Some("old"), SCRIPT)]).await.unwrap();
    assert_eq!(read().await.name, "Again");
    for refused in [
        wanted(Some("old"), "vbscript:x"),
        wanted(Some("new"), SCRIPT),
        wanted(None, SCRIPT),
    ] {
        let apps = [wanted(None, "/good.svg"), refused];
        assert_refused(put(&apps).await, &[PathSegment::Index(1), field("iconUrl")]);
    }
    assert_eq!(
        harness
            .dashboard()
            .await
            .count_apps(&AppFilter::EVERYTHING)
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn a_link_without_its_scheme_stays_and_no_new_one_is_taken() {
    let harness = Harness::new();
    let old = App {
        id: "old".into(),
        name: "NAS".into(),
        description: None,
        icon_url: "/nas.svg".into(),
        href: Some("nas:5000".into()),
        ping_url: None,
    };
    keep(&harness, &old).await;
    let update = async |name: Option<&str>, href: TextChange| {
        let change = AppChange {
            id: "old".into(),
            name: name.map(Into::into),
            icon_url: None,
            description: TextChange::Keep,
            href,
            ping_url: TextChange::Keep,
        };
        call!(harness, portico_dashboard_apps.call_update(&admin(), &change))
    };
    let set = |href: &str| TextChange::Set(href.into());
    update(Some("Storage"), TextChange::Keep).await.unwrap();
    update(None, set(" nas:5000 ")).await.unwrap();
    assert_refused(update(None, set("nas:5001")).await, &[field("href")]);
    update(None, set("http://nas:5001")).await.unwrap();
    let refused = update(None, set("nas:5000")).await;
    assert_eq!(
        refused.as_ref().unwrap_err().message,
        "Input validation failed: href must be an absolute URL: did you mean http://nas:5000?"
    );

    let input = AppInput {
        name: "New".into(),
        icon_url: "/new.svg".into(),
        description: None,
        href: Some("localhost:3000".into()),
        ping_url: None,
    };
    let created = call!(harness, portico_dashboard_apps.call_create(&admin(), &input));
    assert_refused(created, &[field("href")]);
    let draft = |href: &str| AppDraft {
        name: "New".into(),
        icon_url: None,
        description: None,
        href: Some(href.into()),
        ping_url: None,
    };
    let drafts = [draft("tel:112"), draft(r"C:\Users\ada")];
    let created = call!(
        harness,
        portico_dashboard_apps.call_create_many(&admin(), &drafts)
    );
    assert_refused(created, &[PathSegment::Index(1), field("href")]);

    // A document may be older than the rule.
    let wanted = WantedApp {
        id: Some("new".into()),
        name: "New".into(),
        icon_url: None,
        description: TextChange::Keep,
        href: set("nas:5000"),
        ping_url: TextChange::Keep,
    };
    call!(
        harness,
        portico_dashboard_state.call_check_apps(&admin(), std::slice::from_ref(&wanted))
    )
    .unwrap();
    call!(
        harness,
        portico_dashboard_state.call_put_apps(&admin(), &[wanted])
    )
    .unwrap();
}

#[tokio::test]
async fn a_text_that_changes_directions_stays_and_no_new_one_is_taken() {
    let harness = Harness::new();
    let (name, description) = ("a\u{202e}b", "c\u{2066}d");
    let old = App {
        id: "old".into(),
        name: name.into(),
        description: Some(description.into()),
        icon_url: "/old.svg".into(),
        href: None,
        ping_url: None,
    };
    keep(&harness, &old).await;
    let update = async |name: &str, description: &str| {
        let change = AppChange {
            id: "old".into(),
            name: Some(name.into()),
            icon_url: Some("/new.svg".into()),
            description: TextChange::Set(description.into()),
            href: TextChange::Keep,
            ping_url: TextChange::Keep,
        };
        call!(harness, portico_dashboard_apps.call_update(&admin(), &change))
    };
    update(name, description).await.unwrap();
    assert_refused(update("A\u{202e}b", description).await, &[field("name")]);
    assert_refused(update(name, "\u{202a}").await, &[field("description")]);

    let wanted = |id: Option<&str>, name: &str| WantedApp {
        id: id.map(Into::into),
        name: name.into(),
        icon_url: None,
        description: TextChange::Set(description.into()),
        href: TextChange::Keep,
        ping_url: TextChange::Keep,
    };
    let put = async |apps: &[WantedApp]| {
        call!(harness, portico_dashboard_state.call_check_apps(&admin(), apps)).unwrap();
        call!(harness, portico_dashboard_state.call_put_apps(&admin(), apps))
    };
    put(&[wanted(Some("old"), name)]).await.unwrap();
    let refused = put(&[wanted(Some("old"), name), wanted(None, "new")]).await;
    assert_refused(refused, &[PathSegment::Index(1), field("description")]);
    update("a\u{200f}b", "c\u{61c}d").await.unwrap();
    assert_refused(update(name, "c").await, &[field("name")]);
}

/// A GIF of 65,535 by 65,535, one of 65,535 by 1, and a small one with a comment and without it.
const HUGE: &str = "data:image/gif;base64,R0lGODlh/////wAAADs=";
const WIDE: &str = "data:image/gif;base64,R0lGODlh//8BAAAAADs=";
const COMMENTED: &str = "data:image/gif;base64,R0lGODlhAQABAAAAACH+BEx2aXYAOw==";
const CLEAN: &str = "data:image/gif;base64,R0lGODlhAQABAAAAADs=";

#[tokio::test]
async fn a_picture_that_is_too_large_or_has_metadata_stays_and_no_new_one_is_kept() {
    let harness = Harness::new();
    let id = first_user(&harness).await;
    let keep = async |image: &str| {
        let mut dashboard = harness.dashboard().await;
        assert!(dashboard.set_image(&id, Some(image)).await.unwrap());
        dashboard.commit().await.unwrap();
    };
    let set = async |image: &str| {
        call!(
            harness,
            portico_dashboard_users.call_set_profile_image(&admin(), &id, Some(image))
        )
    };
    let wanted = |name: &str, image: &str| WantedUser {
        provider: Provider::Credentials,
        name: name.into(),
        email: TextChange::Keep,
        email_verified: TimestampChange::Keep,
        image: TextChange::Set(image.into()),
        secret: None,
        disabled: None,
    };
    let put = async |users: &[WantedUser]| {
        call!(harness, portico_dashboard_state.call_check_users(&admin(), users)).unwrap();
        call!(harness, portico_dashboard_state.call_put_users(&admin(), users))
    };
    let image_of = async |id: &String| {
        let user = call!(harness, portico_dashboard_users.call_get_by_id(&admin(), id)).unwrap();
        user.image.unwrap()
    };

    keep(HUGE).await;
    set(HUGE).await.unwrap();
    assert_refused(set(WIDE).await, &[field("image")]);
    put(&[wanted("ada", HUGE)]).await.unwrap();
    assert_refused(
        put(&[wanted("ada", HUGE), wanted("bob", HUGE)]).await,
        &[PathSegment::Index(1), field("image")],
    );
    assert_refused(
        put(&[wanted("ada", WIDE)]).await,
        &[PathSegment::Index(0), field("image")],
    );
    assert_eq!(image_of(&id).await, HUGE);

    keep(COMMENTED).await;
    let ids = put(&[wanted("ada", COMMENTED), wanted("bob", COMMENTED)])
        .await
        .unwrap();
    assert_eq!(image_of(&id).await, COMMENTED, "what a document only repeats");
    assert_eq!(image_of(&ids[1]).await, CLEAN);
    set(COMMENTED).await.unwrap();
    assert_eq!(image_of(&id).await, CLEAN);
    put(&[wanted("ada", COMMENTED)]).await.unwrap();
    assert_eq!(image_of(&id).await, CLEAN);
    let selectable = call!(harness, portico_dashboard_users.call_selectable(&admin(), None)).unwrap();
    assert!(selectable.iter().all(|user| user.image.as_deref() == Some(CLEAN)));
}
