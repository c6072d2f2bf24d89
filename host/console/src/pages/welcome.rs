//! `/welcome`, after the first start, and `/apps/catalogue`: services that many people run, one click each, and the other
//! ways to begin.

use askama::Template;
use axum::{
    Router,
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode},
    response::Response,
    routing::get,
};
use form_urlencoded::Serializer;
use serde_json::{Value, json};

use super::{PageResult, icon_picker, tiles::Apps};
use crate::{
    api::{Api, ApiError},
    catalogue::{GROUPS, Kind, Service, host_of, service_of},
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Query, Visit, Visitor, initial},
};

const WELCOME: &str = "/welcome";
const CATALOGUE: &str = "/apps/catalogue";

/// How many apps are looked through for those that are there already: the largest page of the API. With more, some
/// services are offered again.
const MOST_LOOKED_AT: usize = 100;

pub(super) fn routes() -> Router {
    Router::new()
        .route(WELCOME, get(welcome).post(add_at_welcome))
        .route(CATALOGUE, get(catalogue).post(add))
}

/// A service that can be added, or that is there already.
struct Offer {
    service: &'static Service,
    /// Where its app is managed, if there is one with its name.
    app: Option<String>,
}

impl Offer {
    fn initial(&self) -> String {
        initial(self.service.name)
    }
}

#[derive(Template)]
#[template(path = "welcome.html")]
struct WelcomePage<'a> {
    v: &'a Visit,
    path: &'static str,
    form: &'a Form,
    problems: Problems,
    groups: Vec<(&'static str, Vec<Offer>)>,
}

impl WelcomePage<'_> {
    /// Whether the first start has just ended.
    fn is_first(&self) -> bool {
        self.path == WELCOME
    }
}

async fn welcome(visit: Visitor, query: Query) -> PageResult {
    visit.user()?;
    // The page is about adding apps, and people who may not have a home.
    if !visit.may("app-create") {
        return Ok(see("/"));
    }
    show(&visit, WELCOME, &query).await
}

async fn catalogue(visit: Visitor, query: Query) -> PageResult {
    visit.permitted("app-create")?;
    show(&visit, CATALOGUE, &query).await
}

async fn show(visit: &Visit, path: &'static str, query: &Query) -> PageResult {
    let form = Form::filled([("host", query.text("host"))]);
    Ok(page(&WelcomePage {
        v: visit,
        path,
        form: &form,
        problems: Problems::default(),
        groups: offers(visit).await?,
    }))
}

/// What can be added.
async fn offers(visit: &Visit) -> Result<Vec<(&'static str, Vec<Offer>)>, ApiError> {
    let input = json!({ "page": 1, "pageSize": MOST_LOOKED_AT });
    let apps: Apps = visit.api.query("app.getPaginated", input).await?;
    let offer = |service: &'static Service| {
        let mut apps = apps.items.iter();
        let app = apps.find(|app| app.name.eq_ignore_ascii_case(service.name));
        Offer {
            service,
            app: app.map(|app| format!("{}/edit", app.path())),
        }
    };
    let t = &visit.t.catalogue;
    let title = |kind: Kind| match kind {
        Kind::Media => t.media,
        Kind::Downloads => t.downloads,
        Kind::Files => t.files,
        Kind::Household => t.household,
        Kind::Home => t.home,
        Kind::Network => t.network,
        Kind::Servers => t.servers,
        Kind::Tools => t.tools,
    };
    let groups = GROUPS.iter();
    Ok(groups
        .map(|(kind, services)| (title(*kind), services.iter().map(offer).collect()))
        .collect())
}

async fn add_at_welcome(visit: Visitor, request: Request) -> PageResult {
    create(&visit, WELCOME, request).await
}

async fn add(visit: Visitor, request: Request) -> PageResult {
    create(&visit, CATALOGUE, request).await
}

async fn create(visit: &Visit, path: &'static str, request: Request) -> PageResult {
    visit.permitted("app-create")?;
    let form = visit.form(request).await?;
    let typed = form.text("host").trim();
    let host = host_of(typed);
    if host.is_none() && !typed.is_empty() {
        return again(visit, path, &form, visit.t.catalogue.host_wrong.into()).await;
    }
    let host = host.unwrap_or_default();
    if let Some(service) = service_of(form.text("add"))
        && let Err(error) = create_app(&visit.api, service, &host).await
    {
        if !error.is_of_input() {
            return Err(error);
        }
        let problem = match error.issues.first() {
            Some(issue) => visit.say(&issue.message),
            None => visit.say(&error.message),
        };
        return again(visit, path, &form, problem).await;
    }
    let query = Serializer::new(String::new()).append_pair("host", &host).finish();
    // Without JavaScript the page opens where it was left.
    let place = service_of(form.text("add")).map_or("", |service| service.slug);
    Ok(see(&format!("{path}?{query}#service-{place}")))
}

async fn create_app(api: &Api, service: &Service, host: &str) -> Result<(), ApiError> {
    let mut app = json!({ "name": service.name });
    if let Some(href) = service.address_on(host) {
        app["href"] = href.into();
    }
    if let Some(icon_url) = icon_picker::named(api, service.slug).await {
        app["iconUrl"] = icon_url.into();
    }
    // It accepts an app without an icon: then one is chosen by the app's name, also later.
    api.mutate::<Value>("app.createMany", json!([app]))
        .await
        .map(drop)
}

/// The page with what is wrong. Where only one service was to be replaced, the whole page is.
async fn again(
    visit: &Visit,
    path: &'static str,
    form: &Form,
    problem: String,
) -> Result<Response, ApiError> {
    let mut problems = Problems::default();
    problems.add("host", problem);
    let mut response = page_with(
        StatusCode::UNPROCESSABLE_ENTITY,
        &WelcomePage {
            v: visit,
            path,
            form,
            problems,
            groups: offers(visit).await?,
        },
    );
    for name in ["hx-retarget", "hx-reselect"] {
        let main = HeaderValue::from_static("#main");
        response.headers_mut().insert(HeaderName::from_static(name), main);
    }
    Ok(response)
}
