//! What all requests have in common: an id, an identity, a bounded body.

use std::{
    hash::{BuildHasher, RandomState},
    net::{IpAddr, SocketAddr},
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError},
    time::Instant,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use portico_model::{
    Timestamp,
    error::{Code, Error},
};
use portico_service::{
    identity::{self, Identity},
    json,
    procedures::{self, Procedure},
    service::report,
    sessions,
};
use portico_storage::{Credential, SharedSnapshot, Snapshot};
use serde_json::Value;
use tokio::time::timeout;
use tracing::{debug, warn};

use super::{Http, HttpLimits, Shared, address, admission, error};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The use of a key or session is noted once in so many milliseconds, so that reading does not mean writing.
const TOUCH_INTERVAL: Timestamp = 60_000;

/// Keys and sessions whose last use is kept in memory.
const MOST_NOTED: usize = 10_000;

/// How large an input may be.
#[derive(Clone, Copy)]
pub(super) struct InputLimit {
    /// Bytes of JSON.
    pub bytes: usize,
    /// Values in it. A value takes much more room than the few bytes that it may be written in.
    values: usize,
}

impl InputLimit {
    /// Of what is no procedure.
    pub fn small(limits: &HttpLimits) -> Self {
        Self {
            bytes: limits.body,
            values: procedures::MOST_VALUES,
        }
    }

    /// Of calls of these procedures together.
    pub fn of<'a>(limits: &HttpLimits, procedures: impl IntoIterator<Item = &'a Procedure>) -> Self {
        procedures
            .into_iter()
            .fold(Self::small(limits), |limit, procedure| Self {
                bytes: if procedure.large {
                    limit.bytes.max(limits.large_body)
                } else {
                    limit.bytes
                },
                values: limit.values.max(procedure.values),
            })
    }
}

/// The id of a request, in its answer's headers and in every line of the log about it.
#[derive(Clone)]
pub struct RequestId(pub Arc<str>);

/// What [`around`] knows.
#[derive(Clone)]
pub(super) struct Around {
    /// The largest head, in bytes.
    pub head: usize,
    /// Settings for what is refused before routing, and for the proxies whose request ids are accepted.
    /// None: nothing is refused, and no client's id is accepted.
    pub http: Option<Arc<Http>>,
}

impl Around {
    pub fn of(http: &Arc<Http>) -> Self {
        Self {
            head: http.limits.head,
            http: Some(http.clone()),
        }
    }
}

/// What happens around every request: an id, the log, headers for safety, and an answer even if
/// its handler panics.
pub(super) async fn around(State(around): State<Around>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let Around { head: largest, http } = around;
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_trusted = http
        .as_ref()
        .is_some_and(|http| http.settings.trusted_proxies.include(peer));
    let id = RequestId(request_id(request.headers(), is_trusted));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(id.clone());
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

    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Answers are data: nobody keeps them, nothing in them runs. Only the page of the description says
    // otherwise.
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }

    let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
    if status >= 500 {
        warn!(request = &*id.0, %method, path, status, micros, "answered");
    } else {
        debug!(request = &*id.0, %method, path, status, micros, "answered");
    }
    response
}

/// How many bytes request line and headers took.
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

/// The id that a trusted proxy in front gave the request, if it is a plain one, or a new one. Anybody
/// else could give their requests the id of another's, in the log and in the audit log.
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

/// A new id of a request.
pub fn new_request_id() -> String {
    // The keys of a new `RandomState` are the system's random numbers, asked for once in each thread.
    format!("{:016x}", RandomState::new().hash_one(0))
}

/// A snapshot for a request that calls these procedures, if all of them just read, and no body is waited
/// for before.
pub(super) fn snapshot<'a>(
    method: &Method,
    procedures: impl IntoIterator<Item = &'a Procedure>,
) -> Option<Snapshot> {
    let has_body = !matches!(*method, Method::GET | Method::HEAD);
    let just_reads = !has_body && procedures.into_iter().all(Procedure::just_reads);
    just_reads.then(Snapshot::default)
}

/// Who sends a request.
pub(super) async fn identify(http: &Shared, parts: &Parts, id: &RequestId) -> Result<Identity, Error> {
    identify_within(&SharedSnapshot::default(), http, parts, id).await
}

/// The same, for a request that reads in this snapshot.
pub(super) async fn identify_within(
    snapshot: &SharedSnapshot,
    http: &Shared,
    parts: &Parts,
    id: &RequestId,
) -> Result<Identity, Error> {
    let now = http.service.clock.now();
    let headers = &parts.headers;
    let authenticated = match &http.authenticate {
        Some(embedder) => embedder
            .authenticate(parts, &id.0)
            .await
            .map(|identity| (identity, None)),
        None => {
            let shown = identity::shown(headers, http.settings.cookie());
            let context = Identity::anonymous().context(&id.0).within(snapshot.clone());
            identity::authenticate(&*http.service.storage, shown, headers, &context, now).await
        }
    };
    let (mut identity, credential) = authenticated.map_err(|error| report(error, "authenticate", &id.0))?;
    identity.address = client_address(http, parts);
    if let Some(credential) = credential {
        note_use(http, credential, &identity, id, now);
    }
    Ok(identity)
}

/// From where a request comes.
pub(super) fn client_address(http: &Shared, parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    address::client(peer, &parts.headers, &http.settings.trusted_proxies)
}

/// Notes in the background that a key or a session was used. Whether that succeeds matters to nobody's call.
fn note_use(http: &Shared, used: Credential, identity: &Identity, id: &RequestId, now: Timestamp) {
    let is_recent = |last: Timestamp| now < last.saturating_add(TOUCH_INTERVAL);
    if used.last_used_at.is_some_and(is_recent) {
        return;
    }
    {
        // Many requests may come before the first of them is noted in storage.
        let mut noted = http.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(&used.id).is_some_and(|last| is_recent(*last)) {
            return;
        }
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        noted.insert(used.id.clone(), now);
    }
    let (storage, context) = (http.service.storage.clone(), identity.context(&id.0));
    let expires_at = used
        .ends_at
        .map(|ends_at| http.settings.sessions.expires_at(now, ends_at));
    tokio::spawn(async move {
        let noted = sessions::note_use(&*storage, &context, &used.id, now, expires_at);
        if let Err(error) = noted.await {
            debug!(
                request = context.request_id,
                ?error,
                "the use of a key or session was not noted"
            );
        }
    });
}

/// Whether a content type is JSON's.
pub(super) fn is_json(content_type: &str) -> bool {
    content_type
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// A body of JSON; none if it is empty.
pub(super) async fn read_json(
    http: &Shared,
    headers: &HeaderMap,
    body: Body,
    limit: InputLimit,
) -> Result<Option<Value>, Error> {
    let bytes = read_body(http, body, limit.bytes).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or_default());
    match content_type {
        Some(content_type) if is_json(content_type) => parse_json(&bytes, limit).map(Some),
        Some(_) => Err(unsupported("The body's content type must be application/json")),
        None => Err(unsupported(
            "The body needs the header content-type: application/json",
        )),
    }
}

/// A body of at most so many bytes.
pub(super) async fn read_body(http: &Shared, body: Body, limit: usize) -> Result<Bytes, Error> {
    let collected = timeout(http.limits.receive_time, Limited::new(body, limit).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Error::new(
            Code::PayloadTooLarge,
            format!("The body is larger than {limit} bytes"),
        )),
        Ok(Err(_)) => Err(Error::new(Code::BadRequest, "The body ended before it was whole")),
        Err(_) => Err(Error::new(Code::Timeout, "The body took too long to arrive")),
    }
}

/// Reads JSON; says where it goes wrong, not what stands there.
pub(super) fn parse_json(bytes: &[u8], limit: InputLimit) -> Result<Value, Error> {
    if values(bytes) > limit.values {
        let message = format!("The input holds more than {} values", limit.values);
        return Err(Error::new(Code::BadRequest, message));
    }
    json::read(bytes).map_err(|error| match error {
        json::Error::Syntax(error) => {
            Error::new(Code::BadRequest, format!("The input is not valid JSON: {error}"))
        }
        json::Error::Repeated(issue) => Error::invalid(vec![issue]),
    })
}

/// How many values a text of JSON holds, and no fewer.
fn values(json: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

fn unsupported(message: &str) -> Error {
    Error::new(Code::UnsupportedMediaType, message)
}

/// The keys and values of a query string, decoded.
pub(super) fn query_pairs(query: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let pairs = query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(&key.replace('+', " "))?, decode(&value.replace('+', " "))?))
        })
        .collect()
}

/// Percent-decoding.
pub(super) fn decode(text: &str) -> Result<String, Error> {
    let broken = text
        .split('%')
        .skip(1)
        .any(|rest| rest.len() < 2 || !rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit));
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    match decoded {
        Ok(decoded) if !broken => Ok(decoded.into_owned()),
        _ => Err(Error::new(Code::BadRequest, "Invalid URL-encoding")),
    }
}
