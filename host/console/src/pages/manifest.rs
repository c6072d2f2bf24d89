//! `/manifest.webmanifest`: what makes the site an app that can be installed, with its name, logo and colour.

use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use crate::{around::Passed, assets::path, visit::Visitor};

pub(super) fn routes() -> Router {
    Router::new().route("/manifest.webmanifest", get(show))
}

async fn show(visit: Visitor) -> Response {
    let looks = visit.looks();
    let icon = |name, sizes, kind, purpose| json!({ "src": path(name), "sizes": sizes, "type": kind, "purpose": purpose });
    let icons = match looks.logo_path() {
        Some(logo) => json!([{ "src": logo, "sizes": "any", "purpose": "any" }]),
        None => json!([
            icon("icon.svg", "any", "image/svg+xml", "any"),
            icon("icon-192.png", "192x192", "image/png", "any"),
            icon("icon-512.png", "512x512", "image/png", "any"),
            icon("icon-512.png", "512x512", "image/png", "maskable"),
        ]),
    };
    let manifest = json!({
        "id": "/",
        "name": visit.brand(),
        "short_name": visit.brand(),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f5f6f8",
        "theme_color": looks.accent_color.as_deref().unwrap_or("#3b5bdb"),
        "icons": icons,
    });
    let headers = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let mut response = (headers, manifest.to_string()).into_response();
    // It is the same for everyone, and sets no cookies.
    response.extensions_mut().insert(Passed);
    response
}
