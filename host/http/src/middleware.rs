//! What happens around every request: an id, the log, security headers, and a response even if its handler panics.

use std::{
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};
use futures_util::FutureExt;
use portico_model::error::{Code, Error};
use portico_service::{request_id::new_request_id, service::report};
use tracing::{debug, warn};

use crate::{
    address::TrustedProxies,
    admission, bodies,
    budget::Transfer,
    error,
    metrics::{self, RouteTemplate},
    request::RequestId,
    state::Http,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Headers of every response. Handlers must not set other values.
static ALWAYS: [(HeaderName, HeaderValue); 1] = [(
    header::X_CONTENT_TYPE_OPTIONS,
    HeaderValue::from_static("nosniff"),
)];

/// Headers of every response for which the handler sets no other value. Responses are not cacheable and not executable;
/// only pages are an exception.
static UNLESS_SET: [(HeaderName, HeaderValue); 3] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
];

/// The state of [`around`].
#[derive(Clone)]
pub(crate) struct Around {
    /// The largest head, in bytes.
    pub head: usize,
    /// The proxies whose request ids are accepted.
    pub proxies: Arc<TrustedProxies>,
    /// Settings for the checks before routing. With `None`, no request is refused.
    pub http: Option<Arc<Http>>,
}

impl Around {
    pub fn of(http: &Arc<Http>) -> Self {
        Self {
            head: http.limits.head,
            proxies: Arc::new(http.settings.trusted_proxies.clone()),
            http: Some(http.clone()),
        }
    }
}

/// The middleware.
pub(crate) async fn around(State(around): State<Around>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let Around {
        head: largest,
        proxies,
        http,
    } = around;
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_trusted = proxies.include(peer);
    // A page calls the API in process, on behalf of its request: that has one id and one line in the log.
    let outer = request.extensions().get::<RequestId>().cloned();
    let is_inner = outer.is_some();
    let id = outer.unwrap_or_else(|| RequestId(request_id(request.headers(), is_trusted)));
    let _active = (!is_inner).then(|| metrics::ACTIVE.hold());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(id.clone());
    // Handlers of the API count their own answers.
    let is_counted = http.is_some();
    let transfer = request.extensions().get::<Arc<Transfer>>();
    let transfer = transfer.filter(|_| !is_counted).cloned();
    let answer = async {
        if head_size(&request) > largest {
            let message = format!("Request line and headers are larger than {largest} bytes");
            return error::at(&path, Error::new(Code::PayloadTooLarge, message));
        }
        if let Some(http) = &http
            && let Some(refusal) =
                admission::refusal(http, &path, request.version(), request.headers(), &id).await
        {
            return refusal;
        }
        next.run(request).await
    };
    let mut response = AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| {
        let panic = Error::internal(anyhow::anyhow!("a handler panicked; the line above says where"));
        error::at(&path, report(panic, &path, &id.0))
    });

    if let Some(transfer) = transfer {
        let (parts, body) = response.into_parts();
        response = Response::from_parts(parts, bodies::hold_body(&transfer, body).await);
    }
    add_headers(&mut response, &id);
    if is_inner {
        return response;
    }
    // Not 128 bits, which the log in JSON would have as text.
    let (status, time) = (response.status().as_u16(), started.elapsed());
    let template = response.extensions().get::<RouteTemplate>();
    let route = template.map(|template| template.0);
    let route = route.or(matched.as_ref().map(MatchedPath::as_str));
    metrics::answered(route.unwrap_or_default(), &method, status, time);
    let micros = time.as_micros() as u64;
    if status >= 500 {
        warn!(request = &*id.0, %method, path, status, micros, "answered");
    } else {
        debug!(request = &*id.0, %method, path, status, micros, "answered");
    }
    response
}

/// The refusal of a request before any router has it.
pub(crate) fn refuse(method: &Method, path: &str, error: Error) -> Response {
    let is_encoded = error.code == Code::UnsupportedMediaType;
    let mut response = error::at(path, error);
    if is_encoded {
        let understood = HeaderValue::from_static("identity");
        response.headers_mut().insert(header::ACCEPT_ENCODING, understood);
    }
    metrics::answered("", method, response.status().as_u16(), Duration::ZERO);
    add_headers(&mut response, &RequestId(new_request_id().into()));
    response
}

fn add_headers(response: &mut Response, id: &RequestId) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, id);
    }
    for (name, value) in &ALWAYS {
        headers.insert(name, value.clone());
    }
    for (name, value) in &UNLESS_SET {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}

/// The size of request line and headers, in bytes.
fn head_size(request: &Request) -> usize {
    const SEPARATORS: usize = ": \r\n".len();
    let target = request
        .uri()
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + target + "  HTTP/1.1\r\n".len();
    let fields = request.headers().iter();
    line + fields
        .map(|(name, value)| name.as_str().len() + value.len() + SEPARATORS)
        .sum::<usize>()
}

/// The id that a trusted proxy gave the request, if it is well-formed; otherwise a new id. Other clients could
/// otherwise use the id of another client's request, in the log and in the audit log.
fn request_id(headers: &HeaderMap, is_trusted: bool) -> Arc<str> {
    let given = headers.get(REQUEST_ID).filter(|_| is_trusted);
    let given = given.and_then(|value| value.to_str().ok());
    let plain = |id: &&str| {
        (8..=64).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if let Some(id) = given.filter(plain) {
        return id.into();
    }
    new_request_id().into()
}
