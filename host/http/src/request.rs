//! What a handler reads from a request: an id, an identity, a bounded body.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
    sync::{Arc, PoisonError},
    time::Duration,
};

use axum::{
    BoxError,
    body::Body,
    extract::ConnectInfo,
    http::{Extensions, HeaderMap, header, request::Parts},
};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use portico_model::{
    Timestamp,
    error::{Code, Error},
    refusal::Refusal,
    rule::Rule,
};
use portico_service::{
    identity::{self, Identity, UsedCredential},
    imported_keys, json,
    procedures::{self, Procedure},
    service::{self, report},
    sessions,
};
use serde_json::Value;
use tokio::time::timeout;
use tracing::debug;

use crate::{
    address,
    bodies::{Sender, WasCut},
    proxy_user::ProxySignIn,
    settings::HttpLimits,
    state::Shared,
};

/// The id of a request, in its response's headers and in every line of the log about it.
#[derive(Clone)]
pub struct RequestId(pub Arc<str>);

/// The use of a key or session is noted at most once in this time, in milliseconds, so that most reads do not cause a
/// write.
const TOUCH_INTERVAL: Timestamp = 60_000;

/// The number of keys and sessions whose last use is remembered.
const MOST_NOTED: usize = 10_000;

/// The largest input that is accepted.
#[derive(Clone, Copy)]
pub(crate) struct InputLimit {
    /// Bytes of JSON.
    pub bytes: usize,
    /// Values in it. In memory, a value takes much more than the few bytes in which it may be written.
    values: usize,
}

impl InputLimit {
    /// The limit for routes that are not procedures.
    pub fn small(limits: &HttpLimits) -> Self {
        Self {
            bytes: limits.body,
            values: procedures::MOST_VALUES,
        }
    }

    /// The limit for calls of these procedures together.
    pub fn of<'a>(limits: &HttpLimits, procedures: impl IntoIterator<Item = &'a Procedure>) -> Self {
        let large = procedures
            .into_iter()
            .filter_map(|procedure| procedure.large_input);
        large.fold(Self::small(limits), |limit, values| Self {
            bytes: limit.bytes.max(limits.large_body),
            values: limit.values.max(values),
        })
    }
}

/// Identifies the sender of a request.
pub(crate) async fn identify(http: &Shared, parts: &Parts, id: &RequestId) -> Result<Identity, Error> {
    let now = http.service.clock.now();
    let headers = &parts.headers;
    let vouched = match &http.settings.proxy_sign_in {
        Some(proxy) => Box::pin(identify_by_proxy(http, proxy, parts, id)).await,
        None => Ok(None),
    };
    let vouched = vouched.map_err(|error| report(error, "authenticate", &id.0))?;
    let authenticated = match (&http.authenticate, vouched) {
        (Some(embedder), _) => embedder
            .authenticate(parts, &id.0)
            .await
            .map(|identity| (identity, None)),
        (None, Some(identity)) => Ok((identity, None)),
        (None, None) => {
            let sent = identity::credentials_of(headers, http.settings.cookie());
            let context = Identity::anonymous().context(id.0.clone());
            let address = client_address(http, parts);
            let resources = http.service.resources();
            imported_keys::authenticate(resources, sent, headers, &context, address, now).await
        }
    };
    let (identity, credential) = authenticated.map_err(|error| report(error, "authenticate", &id.0))?;
    let public_url = http.settings.public_url.as_ref();
    let mut identity = identity
        .at_public_url(headers, public_url)
        .in_page(headers, public_url);
    // A dashboard that embeds Portico may know the address better than its router does.
    identity.address = identity.address.or_else(|| client_address(http, parts));
    if let Some(sender) = parts.extensions.get::<Sender>() {
        sender.identify(identity.user_id(), identity.address);
    }
    if let Some(credential) = credential {
        note_use(http, credential, &identity, id, now);
    }
    Ok(identity)
}

/// The user for whom a trusted proxy vouches; `None` if it names no one, or if a program sent a key.
async fn identify_by_proxy(
    http: &Shared,
    proxy: &ProxySignIn,
    parts: &Parts,
    id: &RequestId,
) -> Result<Option<Identity>, Error> {
    let headers = &parts.headers;
    let sent = identity::credentials_of(headers, http.settings.cookie());
    if http.authenticate.is_some() || sent.is_some_and(|sent| sent.is_explicit()) {
        return Ok(None);
    }
    let Some(user) = proxy.read(
        parts,
        &http.settings.trusted_proxies,
        http.settings.public_url.as_ref(),
    )?
    else {
        return Ok(None);
    };
    let address = client_address(http, parts);
    let users = &http.proxy_users;
    let identity = users
        .identify(http.service.resources(), &user, address, &id.0)
        .await?;
    // A browser comes through the proxy with whatever a page of another site asks for.
    Ok(Some(identity.by_cookie(headers)))
}

pub(crate) fn client_address(http: &Shared, parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    address::client(peer, &parts.headers, &http.settings.trusted_proxies)
}

/// Notes in the background that a key or a session was used. A failure is logged and affects no call.
fn note_use(http: &Shared, used: UsedCredential, identity: &Identity, id: &RequestId, now: Timestamp) {
    let is_recent = |last: Timestamp| now < last.saturating_add(TOUCH_INTERVAL);
    if used.last_used_at.is_some_and(is_recent) {
        return;
    }
    {
        // Many requests may arrive before storage has noted the first.
        let mut noted = http.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(&used.id).is_some_and(|last| is_recent(*last)) {
            return;
        }
        if noted.len() >= MOST_NOTED {
            noted.clear();
        }
        noted.insert(used.id.clone(), now);
    }
    let (storage, context) = (http.service.storage.clone(), identity.context(id.0.clone()));
    let expires_at = used
        .ends_at
        .map(|ends_at| http.settings.sessions.expires_at(now, ends_at));
    tokio::spawn(async move {
        let noted = sessions::note_use(&*storage, &context, &used.id, now, expires_at);
        if let Err(error) = noted.await {
            debug!(
                request = &*context.request_id,
                ?error,
                "the use of a key or session was not noted"
            );
        }
    });
}

/// Whether a content type is JSON's.
pub(crate) fn is_json(content_type: &str) -> bool {
    content_type
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads a body of JSON; `None` if it is empty.
pub(crate) async fn read_json(
    http: &Shared,
    Parts {
        headers, extensions, ..
    }: &Parts,
    body: Body,
    limit: InputLimit,
) -> Result<Option<Value>, Error> {
    let bytes = read_body(body, limit.bytes, http.limits.receive_time).await?;
    parse_typed(headers, extensions, bytes, limit).await
}

/// Parses a body of JSON whose content type says so; `None` if it is empty.
async fn parse_typed(
    headers: &HeaderMap,
    extensions: &Extensions,
    bytes: Bytes,
    limit: InputLimit,
) -> Result<Option<Value>, Error> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or_default());
    match content_type {
        Some(content_type) if is_json(content_type) => parse_body(extensions, bytes, limit).await.map(Some),
        Some(_) => Err(unsupported("The body's content type must be application/json")),
        None => Err(unsupported(
            "The body needs the header content-type: application/json",
        )),
    }
}

/// Reads a body of JSON that has arrived; `None` if it is empty. For layers in front of the router, so that they read
/// JSON as the router does. Headers and extensions are those of the request.
pub async fn read_json_bytes(
    headers: &HeaderMap,
    extensions: &Extensions,
    bytes: Bytes,
) -> Result<Option<Value>, Error> {
    let limit = InputLimit {
        bytes: bytes.len(),
        values: procedures::MOST_VALUES,
    };
    parse_typed(headers, extensions, bytes, limit).await
}

/// The seconds after which a body that arrived too slowly may be sent again.
const RETRY_BODY: u64 = 10;

/// Reads a body of at most this many bytes, which may take this long. Reads nothing of one that says that it is larger.
pub async fn read_body(body: Body, limit: usize, longest: Duration) -> Result<Bytes, Error> {
    let too_slow = |refusal| Err(Error::from(refusal).retry_after(RETRY_BODY));
    let too_large = || Err(Refusal::BodyTooLarge { most: limit }.into());
    if body.size_hint().lower() > limit as u64 {
        return too_large();
    }
    match timeout(longest, join_frames(Limited::new(body, limit))).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
        Ok(Err(error)) if was_cut(&*error) => too_slow(Refusal::BodyTooSlow),
        Ok(Err(_)) => Err(Refusal::BodyCut.into()),
        Err(_) => too_slow(Refusal::BodyTooLate),
    }
}

/// Copies the parts of a body together as they arrive, because a frame of one byte would hold the buffer of kilobytes
/// into which it was read.
async fn join_frames(mut body: Limited<Body>) -> Result<Vec<u8>, BoxError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

fn was_cut(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<WasCut>() || error.source().is_some_and(was_cut)
}

/// A body of this many bytes or more is parsed on a thread that serves no requests.
const LONG_TO_PARSE: usize = 64 << 10;

/// Parses a body of JSON, from the sender of the request with these extensions.
pub(crate) async fn parse_body(
    extensions: &Extensions,
    bytes: Bytes,
    limit: InputLimit,
) -> Result<Value, Error> {
    if bytes.len() < LONG_TO_PARSE {
        return parse_json(&bytes, limit);
    }
    compute(extensions, move || parse_json(&bytes, limit)).await?
}

/// Computes something whose time grows with a request or a page, and which waits for nothing, on a thread that serves
/// no requests. The extensions are those of the request. Addresses take turns; after ten seconds it is refused with 503.
pub async fn compute<T: Send + 'static>(
    extensions: &Extensions,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let address = extensions.get::<Sender>().map(Sender::address);
    service::compute(address, work).await
}

/// Parses the text of an input, as the router does.
pub fn read_json_text(text: &[u8]) -> Result<Value, Error> {
    let limit = InputLimit {
        bytes: text.len(),
        values: procedures::MOST_VALUES,
    };
    parse_json(text, limit)
}

/// Parses JSON. Errors name the position, and quote nothing from the text.
pub(crate) fn parse_json(bytes: &[u8], limit: InputLimit) -> Result<Value, Error> {
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

/// An upper bound of the number of values in a text of JSON.
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
pub(crate) fn query_pairs(query: Option<&str>) -> Result<Vec<(String, String)>, Error> {
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

/// The keys and values of a query string, for layers in front of the router: as the router, they take no key twice.
pub fn read_query(query: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let pairs = query_pairs(query)?;
    let mut keys = BTreeSet::new();
    match pairs.iter().find(|(key, _)| !keys.insert(key)) {
        Some((key, _)) => Err(Error::invalid_field(key, Rule::KeyTwice)),
        None => Ok(pairs),
    }
}

pub(crate) fn decode(text: &str) -> Result<String, Error> {
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

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        pin::Pin,
        task::{Context, Poll},
    };

    use hyper::body::{Frame, SizeHint};

    use super::*;

    /// A body that must not be read.
    struct Unread(SizeHint);

    impl hyper::body::Body for Unread {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            panic!("it is read");
        }

        fn size_hint(&self) -> SizeHint {
            self.0
        }
    }

    #[tokio::test]
    async fn nothing_is_read_of_a_body_that_says_that_it_is_too_large() {
        let body = |bytes| Body::new(Unread(SizeHint::with_exact(bytes)));
        let refused = read_body(body(11), 10, Duration::from_secs(60)).await;
        assert_eq!(refused.unwrap_err().code, Code::PayloadTooLarge);
        let chunks = futures_util::stream::iter([Ok::<_, Infallible>("123456"), Ok("78901")]);
        let refused = read_body(Body::from_stream(chunks), 10, Duration::from_secs(60)).await;
        assert_eq!(refused.unwrap_err().code, Code::PayloadTooLarge);
        let read = read_body(Body::from("1234567890"), 10, Duration::from_secs(60)).await;
        assert_eq!(&read.unwrap()[..], b"1234567890");
    }
}
