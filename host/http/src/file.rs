//! Content that stays the same while the process runs, served with an ETag.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// Content with its type and its ETag.
pub(crate) struct File {
    content_type: &'static str,
    body: Bytes,
    etag: HeaderValue,
}

impl File {
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let hash: String = Sha256::digest(&body)[..12]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let etag = HeaderValue::try_from(format!("\"{hash}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Self {
            content_type,
            body,
            etag,
        }
    }

    /// The content, or 304 if the client's copy is current.
    pub fn respond_to(&self, headers: &HeaderMap) -> Response {
        let is_current = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| {
            let tags = tags.to_str().unwrap_or_default().split(',');
            tags.map(|tag| tag.trim().trim_start_matches("W/"))
                .any(|tag| tag == "*" || tag.as_bytes() == self.etag.as_bytes())
        });
        let mut response = if is_current {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else {
            let mut response = Response::new(Body::from(self.body.clone()));
            let content_type = HeaderValue::from_static(self.content_type);
            response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            response
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}
