//! Style sheet, scripts and the site's icon, in the binary, compressed at build time.

use std::io::Read as _;

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use flate2::read::GzDecoder;

use crate::respond::accepts_gzip;

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

pub(crate) struct Asset {
    name: &'static str,
    /// Where it is served. The path contains the hash of the content.
    path: &'static str,
    content_type: &'static str,
    etag: &'static str,
    compressed: &'static [u8],
}

pub(crate) fn routes() -> Router {
    let routes = ASSETS.iter().fold(Router::new(), |router, asset| {
        router.route(
            asset.path,
            get(async move |headers: HeaderMap| asset.respond_to(&headers)),
        )
    });
    routes.route("/favicon.ico", get(favicon))
}

/// The site's icon where browsers look for it if no page has named it.
async fn favicon(headers: HeaderMap) -> Response {
    let Some(icon) = ASSETS.iter().find(|asset| asset.name == "icon.svg") else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = icon.respond_to(&headers);
    let a_day = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(header::CACHE_CONTROL, a_day);
    response
}

pub(crate) fn path(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or("", |asset| asset.path)
}

impl Asset {
    fn respond_to(&self, headers: &HeaderMap) -> Response {
        let is_current = headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|tag| tag == self.etag);
        let is_compressed = accepts_gzip(headers);
        let mut response = match (is_current, is_compressed) {
            (true, _) => Response::new(Body::empty()),
            (false, true) => Response::new(Body::from(self.compressed)),
            (false, false) => Response::new(Body::from(self.content())),
        };
        if is_current {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let answer = response.headers_mut();
        let mut set = |name, value| answer.insert(name, HeaderValue::from_static(value));
        if is_compressed && !is_current {
            set(header::CONTENT_ENCODING, "gzip");
        }
        set(header::CONTENT_TYPE, self.content_type);
        set(header::ETAG, self.etag);
        set(header::VARY, "accept-encoding");
        set(header::CACHE_CONTROL, "public, max-age=31536000, immutable");
        set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        response
    }

    /// For the few clients that do not accept it compressed.
    fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let read = GzDecoder::new(self.compressed).read_to_end(&mut content);
        read.expect("build.rs has compressed it");
        content
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn htmx_is_the_pinned_file() {
        let pinned = include_str!("../assets/htmx.sha256").split_whitespace().next();
        let htmx = ASSETS.iter().find(|asset| asset.name == "htmx.min.js").unwrap();
        let hash: String = Sha256::digest(htmx.content())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(Some(hash.as_str()), pinned);
    }
}
