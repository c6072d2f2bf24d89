//! Calls of a router in this process, on behalf of the sender of a request. Pages, icons and layers of other interfaces
//! are built on it.
//!
//! Invariant: a call carries the headers and extensions of that request. So the router identifies, authorises,
//! throttles and records it like any request of that sender.

use axum::{
    Router,
    body::Body,
    http::{
        Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Version, header, request::Parts,
        uri::InvalidUri,
    },
    response::Response,
};
use tower::ServiceExt;

/// Headers of a request that describe not its sender, but its own body or how its response may be sent.
const OF_THE_REQUEST: [HeaderName; 13] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::EXPECT,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::RANGE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("trpc-accept"),
];

/// A router, with the rights of the sender of one request.
///
/// The extensions contain path parameters if axum has matched some for that request. Routes of the router that read
/// such parameters by themselves would see them, so call procedures (`/api/trpc/…`) and routes with a fixed path.
#[derive(Clone)]
pub struct InProcess {
    router: Router,
    version: Version,
    headers: HeaderMap,
    extensions: Extensions,
}

impl InProcess {
    /// The router on behalf of the sender of this request.
    pub fn new(router: Router, request: &Parts) -> Self {
        let mut headers = request.headers.clone();
        for name in &OF_THE_REQUEST {
            headers.remove(name);
        }
        Self {
            router,
            version: request.version,
            headers,
            extensions: request.extensions.clone(),
        }
    }

    /// Sends a request, if requests can have this path. The body is JSON.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        json: Option<String>,
    ) -> Result<Response, InvalidUri> {
        let mut request = Request::new(json.map_or_else(Body::empty, Body::from));
        *request.version_mut() = self.version;
        *request.uri_mut() = path.parse()?;
        *request.headers_mut() = self.headers.clone();
        *request.extensions_mut() = self.extensions.clone();
        if method != Method::GET {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        *request.method_mut() = method;
        let Ok(response) = self.router.clone().oneshot(request).await;
        Ok(response)
    }

    /// The same sender with these cookies, which a response has set since.
    #[must_use]
    pub fn with_cookies<'a>(&self, set: impl IntoIterator<Item = &'a HeaderValue>) -> Self {
        let set = set
            .into_iter()
            .filter_map(|cookie| cookie.to_str().ok()?.split(';').next());
        let sent = self
            .headers
            .get(header::COOKIE)
            .and_then(|cookies| cookies.to_str().ok());
        // The first cookie of a name counts.
        let all: Vec<&str> = set.chain(sent).collect();
        let mut same = self.clone();
        if let Ok(cookies) = HeaderValue::try_from(all.join("; ")) {
            same.headers.insert(header::COOKIE, cookies);
        }
        same
    }

    /// The extensions of the sender's request.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}
