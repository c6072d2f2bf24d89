//! The description of the service, and the page that shows it.
//!
//! Invariants: everything that the page needs comes from here, and nothing in it comes from
//! elsewhere, which its Content-Security-Policy holds. Addresses are relative, so that it works
//! behind any path that a proxy puts before it.

use std::sync::LazyLock;

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{Shared, unknown_path};
use crate::openapi;

/// What the page may do: load what is here, and call what is here. Swagger UI's style sheet holds its
/// icons as `data:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file as it is served: it stays as it is as long as the process runs.
pub(super) struct File {
    content_type: &'static str,
    body: Bytes,
    etag: HeaderValue,
}

impl File {
    fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
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

    /// The file, or that the client has it already.
    fn answer(&self, headers: &HeaderMap) -> Response {
        let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| {
            let tags = tags.to_str().unwrap_or_default().split(',');
            tags.map(|tag| tag.trim().trim_start_matches("W/"))
                .any(|tag| tag == "*" || tag.as_bytes() == self.etag.as_bytes())
        });
        let mut response = if known {
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

/// `GET /api/openapi`.
pub(super) async fn document(State(http): State<Shared>, headers: HeaderMap) -> Response {
    http.document
        .get_or_init(|| {
            File::new(
                "application/json",
                openapi::document(&http.service.table).to_string(),
            )
        })
        .answer(&headers)
}

/// `GET /api/docs`.
pub(super) async fn page(headers: HeaderMap) -> Response {
    static PAGE: LazyLock<File> = LazyLock::new(|| {
        File::new(
            "text/html; charset=utf-8",
            &include_bytes!("../assets/docs/index.html")[..],
        )
    });
    with_policy(PAGE.answer(&headers))
}

/// `GET /api/docs/{file}`: what the page is made of.
pub(super) async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const STYLE: &str = "text/css; charset=utf-8";
    static PARTS: LazyLock<[(&str, File); 3]> = LazyLock::new(|| {
        macro_rules! asset {
            ($path:literal) => {
                &include_bytes!(concat!("../assets/", $path))[..]
            };
        }
        [
            ("start.js", File::new(SCRIPT, asset!("docs/start.js"))),
            (
                "swagger-ui-bundle.js",
                File::new(SCRIPT, asset!("swagger-ui/swagger-ui-bundle.js")),
            ),
            (
                "swagger-ui.css",
                File::new(STYLE, asset!("swagger-ui/swagger-ui.css")),
            ),
        ]
    });
    match PARTS.iter().find(|(part, _)| *part == name) {
        Some((_, file)) => with_policy(file.answer(&headers)),
        None => unknown_path().await,
    }
}

fn with_policy(mut response: Response) -> Response {
    let policy = HeaderValue::from_static(POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}
