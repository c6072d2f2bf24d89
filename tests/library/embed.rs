//! The library as a dashboard embeds it: of the crates under host/, this file uses only `portico`.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{StatusCode, request::Parts},
    routing::get,
};
use portico::{
    Authenticate, Authentication, COMPONENT, Code, Error, ExternalIdentity, HttpSettings, Identity, Limits,
    Linking, Plugin, PluginBuilder, Throttle,
    console::{self, ConsoleSettings},
    model::{
        AppChange, AppDraft, AppInput, ColorScheme, HomeBoards, NewAccount, PasswordChange, ProfileChange,
        Provider, Registration, SearchPreferences, TextChange,
    },
    storage::MemoryStorage,
};
use tower::ServiceExt as _;

/// Believes the name in a header.
struct Trusting(Identity);

#[async_trait]
impl Authenticate for Trusting {
    async fn authenticate(&self, request: &Parts, _: &str) -> Result<Identity, Error> {
        match request.headers.get("who").map(|name| name.as_bytes()) {
            None => Ok(Identity::anonymous()),
            Some(b"ada") => Ok(self.0.clone()),
            Some(_) => Err(Error::new(Code::ServiceUnavailable, "Who is that?")),
        }
    }
}

const PASSWORD: &str = "correct horse";

/// Over empty storage. All tests share the compiled component.
fn builder() -> PluginBuilder {
    Plugin::builder(Arc::new(MemoryStorage::new())).cache(portico_tests::cache())
}

async fn plugin() -> Plugin {
    builder().throttle(Throttle::off()).build().await.unwrap()
}

fn account(name: &str) -> NewAccount {
    NewAccount {
        username: name.into(),
        password: PASSWORD.into(),
        email: None,
    }
}

fn input(name: &str) -> AppInput {
    AppInput {
        name: name.into(),
        icon_url: "/icon.svg".into(),
        description: None,
        href: None,
        ping_url: None,
    }
}

async fn administrator(plugin: &Plugin) -> Identity {
    let users = plugin.users();
    let id = users
        .init_user(&Identity::anonymous(), account("Ada"))
        .await
        .unwrap();
    Identity::user(id, vec!["admin".into()], Authentication::Host)
}

#[track_caller]
fn refused<T>(answer: Result<T, Error>) -> Code {
    answer.err().expect("a refusal").code
}

#[tokio::test(flavor = "multi_thread")]
async fn every_typed_function_of_users_calls_its_procedure() {
    let plugin = plugin().await;
    let (users, anonymous, ada) = (
        plugin.users(),
        Identity::anonymous(),
        administrator(&plugin).await,
    );
    let id = || ada.user_id().unwrap().to_owned();
    assert_eq!(
        refused(users.init_user(&anonymous, account("Eve")).await),
        Code::Forbidden
    );
    let registration = Registration {
        account: account("eve"),
        invite_id: "none".into(),
        token: "none".into(),
    };
    assert_eq!(
        refused(users.register(&anonymous, registration).await),
        Code::BadRequest
    );
    let ben = users.create(&ada, account("Ben"), Vec::new()).await.unwrap();

    users.set_profile_image(&ada, id(), None).await.unwrap();
    let change = ProfileChange {
        id: id(),
        name: "Ada L".into(),
        email: TextChange::Set("ada@example.com".into()),
    };
    users.edit_profile(&ada, change).await.unwrap();
    let boards = HomeBoards {
        home_board_id: Some("none".into()),
        mobile_home_board_id: None,
    };
    assert_eq!(
        refused(users.change_home_boards(&ada, id(), boards).await),
        Code::NotFound
    );
    let preferences = SearchPreferences {
        default_search_engine_id: None,
        open_in_new_tab: false,
    };
    users
        .change_search_preferences(&ada, id(), preferences)
        .await
        .unwrap();
    users.change_color_scheme(&ada, ColorScheme::Light).await.unwrap();
    users.change_ping_icons_enabled(&ada, id(), true).await.unwrap();
    users.change_first_day_of_week(&ada, id(), 4).await.unwrap();
    let user = users.get_by_id(&ada, id()).await.unwrap();
    assert_eq!(
        (&user.name[..], user.email.as_deref()),
        ("ada l", Some("ada@example.com"))
    );
    assert_eq!(
        (
            user.first_day_of_week,
            user.ping_icons_enabled,
            user.open_search_in_new_tab
        ),
        (4, true, false)
    );

    let password = PasswordChange {
        user_id: ben.clone(),
        previous_password: None,
        password: "another horse".into(),
    };
    users.change_password(&ada, password).await.unwrap();
    let signed_in = plugin
        .sign_in()
        .password("BEN", "another horse", None)
        .await
        .unwrap();
    assert_eq!((signed_in.id.as_str(), &signed_in.name[..]), (&ben[..], "ben"));
    assert_eq!(
        refused(plugin.sign_in().password("ben", PASSWORD, None).await),
        Code::Unauthorized
    );

    assert_eq!(users.get_all(&ada).await.unwrap().len(), 2);
    assert_eq!(users.selectable(&ada, Some(true)).await.unwrap().len(), 2);
    assert_eq!(users.search(&ada, "BE".into(), None).await.unwrap()[0].id, ben);
    users.delete(&ada, ben).await.unwrap();
    assert_eq!(refused(users.delete(&ada, id()).await), Code::Conflict);
    assert_eq!(refused(users.get_all(&anonymous).await), Code::Unauthorized);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_typed_function_of_apps_calls_its_procedure() {
    let plugin = plugin().await;
    let (apps, ada) = (plugin.apps(), administrator(&plugin).await);
    let first = apps.create(&ada, input("First")).await.unwrap();
    let draft = AppDraft {
        name: "Second".into(),
        icon_url: None,
        description: None,
        href: None,
        ping_url: None,
    };
    let second = apps.create_many(&ada, vec![draft]).await.unwrap().remove(0);
    assert!(!second.icon_url.is_empty());
    let change = AppChange {
        id: first.id.clone(),
        name: Some("Third".into()),
        icon_url: None,
        description: TextChange::Keep,
        href: TextChange::Keep,
        ping_url: TextChange::Keep,
    };
    apps.update(&ada, change).await.unwrap();
    let names = |apps: Vec<portico::model::App>| apps.into_iter().map(|app| app.name).collect::<Vec<_>>();
    assert_eq!(names(apps.all(&ada).await.unwrap()), ["Second", "Third"]);
    assert_eq!(names(apps.selectable(&ada).await.unwrap()), ["Second", "Third"]);
    assert_eq!(
        names(apps.search(&ada, "ir".into(), Some(1)).await.unwrap()),
        ["Third"]
    );
    let page = apps.get_paginated(&ada, 2, 1, None).await.unwrap();
    assert_eq!(
        (names(page.items), page.total_count),
        (vec!["Third".to_owned()], 2)
    );
    let anonymous = Identity::anonymous();
    assert_eq!(
        apps.by_id(&anonymous, first.id.clone()).await.unwrap().name,
        "Third"
    );
    let ids = vec![first.id.clone(), second.id, first.id.clone()];
    assert_eq!(
        names(apps.by_ids(&anonymous, ids).await.unwrap()),
        ["Third", "Second"]
    );
    apps.delete(&ada, first.id.clone()).await.unwrap();
    assert_eq!(refused(apps.by_id(&anonymous, first.id).await), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_a_provider_is_found_again() {
    let plugin = plugin().await;
    administrator(&plugin).await;
    let identity = ExternalIdentity {
        provider: Provider::Ldap,
        subject: "entry".into(),
        name: "Grace".into(),
        email: None,
        email_verified: false,
        image: None,
    };
    let sign_in = plugin.sign_in();
    let first = sign_in.external(&identity, Linking::Off).await.unwrap();
    assert_eq!(
        sign_in.external(&identity, Linking::Off).await.unwrap().id,
        first.id
    );
    let names = ["Grace".to_owned(), " É".to_owned()];
    assert_eq!(plugin.name_keys(&names).await.unwrap(), ["grace", " é"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_are_the_dashboards_to_set() {
    let limits = Limits {
        memory: 16 << 20,
        ..Limits::default()
    };
    let anonymous = Identity::anonymous();
    // Hashing a password needs more.
    let users = builder().limits(limits).build().await.unwrap().users();
    assert_eq!(
        refused(users.init_user(&anonymous, account("Ada")).await),
        Code::InternalServerError
    );

    let hurried = builder().call_time(Duration::ZERO).build().await.unwrap();
    let users = hurried.users();
    assert_eq!(
        refused(users.init_user(&anonymous, account("Ada")).await),
        Code::Timeout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_a_password_are_slowed_down() {
    let plugin = Plugin::builder(Arc::new(MemoryStorage::new()))
        .build()
        .await
        .unwrap();
    let mut codes = Vec::new();
    // On a slow machine the time to wait after the first failures is over by the next guess.
    while codes.len() < 40 && codes.last() != Some(&Code::TooManyRequests) {
        codes.push(refused(
            plugin.sign_in().password("ada", "wrong horse", None).await,
        ));
    }
    assert!(codes.starts_with(&[Code::Unauthorized]), "{codes:?}");
    assert_eq!(codes.last(), Some(&Code::TooManyRequests), "{codes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_does_not_fit_is_refused_in_words() {
    let error = builder().component(*b"hello").build().await.err().unwrap();
    assert!(format!("{error:#}").contains("not WebAssembly"), "{error:#}");
    let error = builder()
        .component_file("/nowhere/plugin.wasm")
        .build()
        .await
        .err()
        .unwrap();
    assert!(format!("{error:#}").contains("/nowhere/plugin.wasm"), "{error:#}");

    let plugin = plugin().await;
    let error = plugin.exchange(&COMPONENT[..1000]).await.err().unwrap();
    assert!(format!("{error:#}").contains("is truncated"), "{error:#}");
    administrator(&plugin).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_router_stands_beside_routes_of_the_dashboards_own() {
    let plugin = plugin().await;
    let trusting = Arc::new(Trusting(administrator(&plugin).await));
    let portico = || plugin.router(trusting.clone(), HttpSettings::default());
    let own = || {
        Router::new()
            .route("/api/boards", get(async || "boards"))
            .fallback(async || "nothing of mine")
    };
    let merged: Router = own().merge(portico());
    let nested: Router = own().nest("/portico", portico());
    for (router, before) in [(merged, ""), (nested, "/portico")] {
        let ask = async |path: &str, who: Option<&str>| {
            let request = Request::get(format!("{before}{path}"));
            let request = who
                .iter()
                .fold(request, |request, who| request.header("who", *who));
            let request = request.body(Body::empty()).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap();
            let status = answer.status();
            let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        };
        assert_eq!(ask("/api/apps", Some("ada")).await, (StatusCode::OK, "[]".into()));
        let data = r#"{"result":{"data":[]}}"#;
        assert_eq!(
            ask("/api/trpc/app.all", Some("ada")).await,
            (StatusCode::OK, data.into())
        );
        assert_eq!(ask("/api/apps", None).await.0, StatusCode::UNAUTHORIZED);
        // A dashboard that cannot say who it is says so itself.
        let (status, body) = ask("/api/apps", Some("eve")).await;
        assert!(
            status == StatusCode::SERVICE_UNAVAILABLE && body.contains("Who is that?"),
            "{body}"
        );
        assert_eq!(ask("/api/health/ready", None).await.0, StatusCode::OK);
        let (status, body) = ask("/api/nothing", None).await;
        assert_eq!((status, &body[..]), (StatusCode::OK, "nothing of mine"));
        // What there is only where Portico is the dashboard.
        for path in ["/api/auth/session", "/api/openapi", "/api/docs", "/api/invites"] {
            assert_eq!(ask(path, Some("ada")).await.1, "nothing of mine", "{path}");
        }
        let (status, body) = ask("/api/trpc/apiKeys.getAll", Some("ada")).await;
        assert!(
            status == StatusCode::NOT_FOUND && body.contains("No procedure found"),
            "{body}"
        );
        let own = Request::get("/api/boards").body(Body::empty()).unwrap();
        assert_eq!(
            router.clone().oneshot(own).await.unwrap().status(),
            StatusCode::OK
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_apps_work_over_a_router_with_the_dashboards_own_session() {
    let plugin = plugin().await;
    let ada = administrator(&plugin).await;
    plugin.apps().create(&ada, input("<Jellyfin>")).await.unwrap();
    let id = ada.user_id().unwrap();
    let session = format!(
        r#"{{"user": {{"id": "{id}", "name": "Ada", "image": null, "colorScheme": "auto", "provider": "credentials", "permissions": ["admin"]}}}}"#
    );
    let session = async move |headers: axum::http::HeaderMap| match headers.contains_key("who") {
        true => (StatusCode::OK, session),
        false => (StatusCode::UNAUTHORIZED, "{}".into()),
    };
    let api: Router = plugin.router(Arc::new(Trusting(ada)), HttpSettings::default());
    let api = api.route("/api/auth/session", get(session));
    let router = console::pages(api.clone(), ConsoleSettings::default()).fallback_service(api);
    let open = async |path: &str, who: &[&str]| {
        let mut request = Request::get(path);
        for who in who {
            request = request.header("who", *who);
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    };
    let (status, page) = open("/apps", &["ada"]).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page.contains("&#60;Jellyfin&#62;"), "{page}");
    assert_eq!(open("/apps", &[]).await.0, StatusCode::SEE_OTHER);
    // What the dashboard does not answer is not there.
    assert_eq!(open("/manage/boards", &["ada"]).await.0, StatusCode::NOT_FOUND);
}
