//! HTTP: procedure calls, REST, sign-in, health, and the description of it all.
//!
//! Invariants:
//! - Every answer under `/api` is JSON, also the refusals; only the page at `/api/docs` is not.
//! - Credentials are looked at first, then the permission, then the body.
//! - Everything that comes in is bounded ([`HttpLimits`]), and so is what waits to go out (`outgoing.rs`);
//!   secrets are not logged, so neither are
//!   query strings, headers and bodies.

mod activity;
mod address;
mod admission;
mod auth;
mod docs;
mod error;
mod gate;
mod health;
mod linger;
pub mod openapi;
mod outgoing;
mod pace;
mod pieces;
mod providers;
mod request;
mod rest;
mod server;
mod session;
mod settings;
mod trpc;

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use axum::{
    Router,
    extract::{FromRef, Request},
    http::Extensions,
    middleware,
    response::Response,
    routing::{any, get, post},
};
use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_service::{hot_swap::HotSwap, identity::Authenticate, service::Service};

pub use self::{
    address::TrustedProxies,
    request::{RequestId, new_request_id},
    server::serve,
    settings::{HttpSettings, PublicUrl},
};
use self::{
    outgoing::{Connection, Outgoing},
    request::Around,
};
pub use portico_service::sessions::SessionTimes;

/// How much a client may send, and how long it may take to send and to read.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// A body, in bytes.
    pub body: usize,
    /// The body of a procedure that takes many records at once, in bytes.
    pub large_body: usize,
    /// Request line and headers, in bytes.
    pub head: usize,
    /// Calls in a batch.
    pub batch: usize,
    /// The answers of a batch together, in bytes; calls that come after are refused.
    pub answers: usize,
    /// How long request line and headers may take, and how long a body may take.
    pub receive_time: Duration,
    /// How long a client may be behind the least rate, beside the time that 128 KiB take at that rate, which
    /// counts for at most two minutes: the kernel shows progress in such steps. Only of [`serve`].
    pub write_time: Duration,
    /// The least rate at which a client reads, in bytes per second. Only of [`serve`].
    pub write_rate: u64,
    /// The answers of all connections that wait to be written, in bytes. When they are more, [`serve`]
    /// closes connections that do not read.
    pub unsent: usize,
    /// How long calls that were accepted may still take when the host stops.
    pub drain_time: Duration,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            large_body: 16 << 20,
            head: 64 << 10,
            batch: 256,
            answers: 64 << 20,
            receive_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            write_rate: 1 << 10,
            unsent: 64 << 20,
            drain_time: Duration::from_secs(30),
            connections: 10_000,
        }
    }
}

/// What all requests have in common.
struct Http {
    live: HotSwap,
    limits: HttpLimits,
    settings: HttpSettings,
    /// Who sends a request, where that is for an embedding dashboard to say.
    authenticate: Option<Arc<dyn Authenticate>>,
    /// When the use of which key or session was last noted.
    noted: Mutex<HashMap<String, Timestamp>>,
    /// Whether an administrator has been seen in storage.
    has_administrator: AtomicBool,
    /// What waits to be written, where the connections are not [`serve`]'s.
    outgoing: Arc<Outgoing>,
    /// The description, from when it is first asked for.
    document: OnceLock<docs::File>,
}

/// What a handler works with: the service as it is when the request comes.
#[derive(Clone)]
struct Shared {
    service: Arc<Service>,
    http: Arc<Http>,
}

impl Deref for Shared {
    type Target = Http;

    fn deref(&self) -> &Http {
        &self.http
    }
}

impl FromRef<Arc<Http>> for Shared {
    fn from_ref(http: &Arc<Http>) -> Self {
        Self {
            service: http.live.service(),
            http: http.clone(),
        }
    }
}

impl Http {
    /// The connection that a request came on, or one of its own where its socket is not ours.
    fn connection(&self, extensions: &Extensions) -> Arc<Connection> {
        let served = extensions.get::<Arc<Connection>>();
        served.map_or_else(|| self.outgoing.connect(), Arc::clone)
    }

    fn new(live: HotSwap, settings: HttpSettings, authenticate: Option<Arc<dyn Authenticate>>) -> Arc<Self> {
        Arc::new(Self {
            live,
            outgoing: Outgoing::new(settings.limits.unsent),
            limits: settings.limits.clone(),
            settings,
            authenticate,
            noted: Mutex::default(),
            has_administrator: AtomicBool::new(false),
            document: OnceLock::new(),
        })
    }
}

/// Everything under `/api`.
pub fn router(service: impl Into<HotSwap>, settings: HttpSettings) -> Router {
    let http = Http::new(service.into(), settings, None);
    let around = Around::of(&http);
    let router = procedures(&http)
        .route("/api/auth/sign-in", post(auth::sign_in).fallback(only_post))
        .route("/api/auth/sign-out", post(auth::sign_out).fallback(only_post))
        .route("/api/auth/session", get(auth::session).fallback(only_get))
        .route(
            "/api/auth/providers",
            get(providers::providers).fallback(only_get),
        )
        .route(
            "/api/auth/oidc/start",
            get(providers::start)
                .head(providers::only_opened)
                .fallback(providers::only_opened),
        )
        .route(
            "/api/auth/oidc/callback",
            get(providers::callback)
                .head(providers::only_opened)
                .fallback(providers::only_opened),
        )
        .route("/api/openapi", get(docs::document).fallback(only_get))
        .route("/api/docs", get(docs::page).fallback(only_get))
        .route("/api/docs/{file}", get(docs::part).fallback(only_get));
    let router = router.fallback(unknown_path).with_state(http);
    router.layer(middleware::from_fn_with_state(around, request::around))
}

/// What of it an embedding dashboard offers under a router of its own: procedure calls, REST and
/// health.
pub fn embedded_router<S>(
    live: HotSwap,
    settings: HttpSettings,
    authenticate: Arc<dyn Authenticate>,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let http = Http::new(live, settings, Some(authenticate));
    let around = Around::of(&http);
    let router = procedures(&http).with_state(http);
    router.layer(middleware::from_fn_with_state(around, request::around))
}

fn procedures(http: &Http) -> Router<Arc<Http>> {
    let router = Router::new()
        .route("/api/trpc", any(trpc::handle))
        .route("/api/trpc/", any(trpc::handle))
        .route("/api/trpc/{*path}", any(trpc::handle))
        .route("/api/health/live", get(health::live).fallback(only_get))
        .route("/api/health/ready", get(health::ready).fallback(only_get));
    let table = &http.live.service().table;
    rest::routes(table).fold(router, |router, (path, methods)| router.route(path, methods))
}

/// What stands around every request of [`router`], for routes beside it: an id (the extension
/// [`RequestId`], always a new one), a bounded head, the log, headers for safety, and an answer even if a
/// handler panics.
pub fn surround<S>(router: Router<S>, limits: &HttpLimits) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let around = Around {
        head: limits.head,
        http: None,
    };
    router.layer(middleware::from_fn_with_state(around, request::around))
}

async fn only_get(request: Request) -> Response {
    wrong_method(&request, "GET,HEAD")
}

async fn only_post(request: Request) -> Response {
    wrong_method(&request, "POST")
}

fn wrong_method(request: &Request, allowed: &str) -> Response {
    let message = format!(
        "{} is not a method of this path; it has {allowed}",
        request.method()
    );
    let mut response = error::rest(Error::new(Code::MethodNotSupported, message), None);
    if let Ok(allowed) = allowed.parse() {
        response.headers_mut().insert(axum::http::header::ALLOW, allowed);
    }
    response
}

async fn unknown_path() -> Response {
    error::rest(Error::new(Code::NotFound, "There is nothing at this path"), None)
}
