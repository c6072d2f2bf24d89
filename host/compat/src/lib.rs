//! The interface of Homarr, as far as Portico can provide it, for clients that were written for Homarr.
//!
//! It is a layer in front of Portico's router, and calls that router as a client would: with the caller's
//! own headers, cookie and address. Invariants:
//! - Access, throttle, audit and limits are those of the router behind it. This crate decides none of them.
//! - What needs no change passes through as it is, with its body unread.
//! - A request with the header [`NATIVE`] passes through as it is, so that Portico's own pages get Portico's
//!   own forms.
//! - What it reads itself is bounded: a body by the limit of bodies, or by a small one before the caller is known, and
//!   a response of Portico by `LARGEST_ANSWER`.

mod auth;
mod caller;
mod cookies;
mod form;
mod href;
mod openapi;
mod outcome;
mod procedures;
mod rest;
mod superjson;
mod trpc;

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode},
    response::Response,
};
use bytes::Bytes;
use portico_http::{HttpLimits, HttpSettings, PublicUrl};
use portico_model::error::Code;
use tokio::sync::{Mutex, OnceCell, Semaphore};

use self::{caller::Caller, outcome::Failure};

/// A request with this header gets Portico's own responses.
pub const NATIVE: &str = "portico-native";

/// Requests that this layer works on at the same time; others wait. What passes through does not count.
const AT_ONCE: usize = 16;

/// What all requests share.
struct Compat {
    /// Portico's own router.
    portico: Router,
    limits: HttpLimits,
    /// Bounds the requests that are worked on here at the same time.
    turns: Semaphore,
    /// Held while the extras of a board or a user are read, changed and written back.
    changes: Mutex<()>,
    /// Whether people reach the service over TLS.
    is_secure: bool,
    /// Where people reach the service.
    public_url: Option<PublicUrl>,
    /// The description of the whole interface, once it was requested.
    description: OnceCell<Bytes>,
}

/// Portico's router, with this layer that also responds like Homarr.
pub fn layer(portico: Router, settings: &HttpSettings) -> Router {
    let compat = Arc::new(Compat {
        portico,
        limits: settings.limits.clone(),
        turns: Semaphore::new(AT_ONCE),
        changes: Mutex::default(),
        is_secure: settings.is_secure(),
        public_url: settings.public_url.clone(),
        description: OnceCell::new(),
    });
    Router::new().fallback(move |request: Request| respond(compat.clone(), request))
}

/// The response, with 404 where a path is known with other methods: clients of Homarr take 404 for "not there".
fn as_unknown(response: Response, path: &str) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED || !path.starts_with("/api/") {
        return response;
    }
    Failure::new(Code::NotFound, "Not found").rest(path)
}

async fn respond(compat: Arc<Compat>, mut request: Request) -> Response {
    if request.headers().contains_key(NATIVE) {
        return caller::pass_on(&compat, request).await;
    }
    let has_alias = cookies::translate(&compat, request.headers_mut());
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let response = if let Some(names) = path.strip_prefix("/api/trpc/") {
        trpc::respond(&compat, names, request).await
    } else if let Some(route) = auth::find(&method, &path) {
        let (parts, body) = request.into_parts();
        auth::respond(&Caller::new(&compat, parts), route, body).await
    } else if let Some(found) = rest::find(&method, &path) {
        rest::respond(&compat, found, request).await
    } else if path == "/api/openapi" && method == Method::GET {
        openapi::respond(&compat, request).await
    } else {
        as_unknown(caller::pass_on(&compat, request).await, &path)
    };
    let response = match href::concerns(&path) {
        true => href::shortened(&compat, response),
        false => response,
    };
    cookies::repeat(&compat, response, has_alias)
}
