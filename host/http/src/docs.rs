//! The OpenAPI document, and the page that shows it.
//!
//! Invariants: the page loads nothing from other hosts, which its Content-Security-Policy enforces.
//! Addresses are relative, so that it works behind any path prefix that a proxy adds.

use std::sync::LazyLock;

use axum::{
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

use crate::{fallback::unknown_path, file::File, openapi, state::Shared};

/// The page may load from this host and call this host. Swagger UI's style sheet contains its icons as `data:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /api/openapi`.
pub(crate) async fn document(State(http): State<Shared>, headers: HeaderMap) -> Response {
    http.document
        .get_or_init(|| {
            File::new(
                "application/json",
                openapi::document(&http.service.table).to_string(),
            )
        })
        .respond_to(&headers)
}

/// `GET /api/docs`.
pub(crate) async fn page(headers: HeaderMap) -> Response {
    static PAGE: LazyLock<File> = LazyLock::new(|| {
        File::new(
            "text/html; charset=utf-8",
            &include_bytes!("../assets/docs/index.html")[..],
        )
    });
    with_policy(PAGE.respond_to(&headers))
}

/// `GET /api/docs/{file}`: the page's scripts and style sheet.
pub(crate) async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const STYLE: &str = "text/css; charset=utf-8";
    /// A file of `assets/`.
    macro_rules! asset {
        ($type:ident, $path:literal) => {
            File::new($type, &include_bytes!(concat!("../assets/", $path))[..])
        };
    }
    static PARTS: LazyLock<[(&str, File); 3]> = LazyLock::new(|| {
        [
            ("start.js", asset!(SCRIPT, "docs/start.js")),
            (
                "swagger-ui-bundle.js",
                asset!(SCRIPT, "swagger-ui/swagger-ui-bundle.js"),
            ),
            ("swagger-ui.css", asset!(STYLE, "swagger-ui/swagger-ui.css")),
        ]
    });
    match PARTS.iter().find(|(part, _)| *part == name) {
        Some((_, file)) => with_policy(file.respond_to(&headers)),
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
