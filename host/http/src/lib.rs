//! HTTP: procedure calls, REST, sign-in, health, and the OpenAPI document.
//!
//! Invariants:
//! - Every answer under `/api` is JSON, refusals included; only the page at `/api/docs`, pictures, and
//!   what the gate shows a person who may not open an app are not.
//! - A request is authenticated first, then authorised; its body is read last. Sign-in reads its body first: the
//!   body holds the credentials.
//! - Everything that comes in is bounded ([`HttpLimits`]), and so is what waits to be sent (`budget.rs`).
//! - Query strings, headers and bodies are not logged, because they may hold secrets.

mod address;
mod admission;
mod auth;
mod bodies;
mod budget;
mod docs;
mod error;
mod fallback;
mod file;
mod finish;
mod gate;
mod health;
mod in_process;
mod linger;
pub mod metrics;
mod middleware;
pub mod openapi;
mod passkeys;
mod pictures;
mod place;
mod providers;
mod proxy_user;
mod request;
mod rest;
mod second_factor;
mod server;
mod session;
mod settings;
mod socket;
mod state;
mod trpc;

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::Extensions,
    middleware::from_fn_with_state,
    routing::{any, get, post},
};
use portico_service::{hot_swap::HotSwap, identity::Authenticate};

pub use self::{
    address::TrustedProxies,
    error::rpc as rpc_error,
    gate::settings::{GateSettings, RefusalPage},
    in_process::InProcess,
    metrics::RouteTemplate,
    place::Elsewhere,
    proxy_user::ProxySignIn,
    request::{RequestId, compute, read_body, read_json_bytes, read_json_text, read_query},
    server::{Site, serve},
    settings::{HttpLimits, HttpSettings},
    trpc::superjson::is_wrapped as is_superjson,
};
use self::{
    fallback::{only_get, only_post, unknown_path},
    middleware::{Around, around},
    state::Http,
};
pub use portico_service::{
    gate::{GateDomain, ReservedNames},
    sessions::SessionTimes,
    site::PublicUrl,
};

/// Everything under `/api`.
pub fn router(service: impl Into<HotSwap>, settings: HttpSettings) -> Router {
    let http = Http::new(service.into(), settings, None);
    let state = Around::of(&http);
    let router = procedures(&http)
        .route("/api/auth/sign-in", post(auth::sign_in).fallback(only_post))
        .route(
            "/api/auth/second-factor",
            post(second_factor::complete).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/secret",
            post(second_factor::new_secret).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/set-up",
            post(second_factor::set_up).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/passkey-options",
            post(second_factor::begin_passkey).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/passkey",
            post(second_factor::complete_with_passkey).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/passkey-registration",
            post(second_factor::begin_first_passkey).fallback(only_post),
        )
        .route(
            "/api/auth/second-factor/set-up-passkey",
            post(second_factor::set_up_passkey).fallback(only_post),
        )
        .route(
            "/api/auth/passkeys/options",
            post(passkeys::options).fallback(only_post),
        )
        .route(
            "/api/auth/passkeys/sign-in",
            post(passkeys::sign_in).fallback(only_post),
        )
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
            "/api/auth/oidc/sign-out",
            get(providers::sign_out)
                .head(providers::only_opened)
                .fallback(providers::only_opened),
        )
        .route(
            "/api/auth/oidc/callback",
            get(providers::callback)
                .head(providers::only_opened)
                .fallback(providers::only_opened),
        )
        .route("/api/auth/verify", get(gate::verify).fallback(only_get))
        .route("/api/auth/gate", get(gate::pass).fallback(only_get))
        .route("/api/pictures/{id}", get(pictures::picture).fallback(only_get))
        .route("/api/openapi", get(docs::document).fallback(only_get))
        .route("/api/docs", get(docs::page).fallback(only_get))
        .route("/api/docs/{file}", get(docs::part).fallback(only_get));
    let router = router.fallback(unknown_path).with_state(http);
    router.layer(from_fn_with_state(state, around))
}

/// The part of [`router`] for a dashboard that embeds Portico, to mount in a router of its own:
/// procedure calls, REST and health.
pub fn embedded_router<S>(
    live: HotSwap,
    settings: HttpSettings,
    authenticate: Arc<dyn Authenticate>,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let http = Http::new(live, settings, Some(authenticate));
    let state = Around::of(&http);
    let router = procedures(&http).with_state(http);
    router.layer(from_fn_with_state(state, around))
}

/// What a host serves while it waits for its database: it is alive, not ready, and everything else gets 503.
pub fn waiting_router(limits: &HttpLimits) -> Router {
    let router = Router::new()
        .route("/api/health/live", get(health::live).fallback(only_get))
        .fallback(health::waiting);
    surround(router, limits, &TrustedProxies::default())
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

/// A body for the client of the request with these extensions. Until that client has read it, it counts as an answer
/// that waits ([`HttpLimits::unsent`]), like the answers of [`router`].
pub fn counted_body(extensions: &Extensions, text: String) -> Body {
    bodies::hold(extensions.get(), text.into_bytes()).into()
}

/// Adds to other routes what [`router`] does around every request: an id (the extension [`RequestId`]; one that the
/// request brings only if it comes from one of these proxies), a bounded head, the log, security headers, and a response
/// even if a handler panics. Large answers of known length are counted like those of [`router`] ([`HttpLimits::unsent`]).
pub fn surround<S>(router: Router<S>, limits: &HttpLimits, proxies: &TrustedProxies) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let state = Around {
        head: limits.head,
        proxies: Arc::new(proxies.clone()),
        http: None,
    };
    router.layer(from_fn_with_state(state, around))
}
