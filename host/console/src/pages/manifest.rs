//! `/manifest.webmanifest`: what makes the site an app that can be installed, with its name, logo and colour.

use axum::{
    Router,
    http::{Method, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{around::Passed, assets::path, visit::Visitor};

pub(super) fn routes() -> Router {
    Router::new().route("/manifest.webmanifest", get(show))
}

async fn show(visit: Visitor) -> Response {
    let looks = visit.looks();
    let icon = |name, sizes, kind, purpose| json!({ "src": path(name), "sizes": sizes, "type": kind, "purpose": purpose });
    let first = match looks.logo_path() {
        Some(logo) => logo_icon(&visit, &logo).await,
        None => icon("icon.svg", "any", "image/svg+xml", "any"),
    };
    // Browsers that cannot use a logo of its type install the site with the others.
    let icons = json!([
        first,
        icon("icon-192.png", "192x192", "image/png", "any"),
        icon("icon-512.png", "512x512", "image/png", "any"),
        icon("icon-512.png", "512x512", "image/png", "maskable"),
    ]);
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

/// The logo, with its type, which its path does not tell.
async fn logo_icon(visit: &Visitor, logo: &str) -> Value {
    let mut icon = json!({ "src": logo, "sizes": "any", "purpose": "any" });
    let picture = visit.api.pass(Method::HEAD, logo).await;
    let kind = picture.headers().get(header::CONTENT_TYPE);
    if picture.status().is_success()
        && let Some(kind) = kind.and_then(|kind| kind.to_str().ok())
    {
        icon["type"] = kind.into();
    }
    icon
}
