//! The page of a person who may not open an app. A proxy shows it at the address of the app, so it has nothing of this host
//! but its style sheet, by its whole address.

use askama::Template;
use axum::http::HeaderMap;
use portico_http::PublicUrl;

use crate::{
    assets,
    texts::{Language, Texts, rules},
};

#[derive(Template)]
#[template(path = "gate_refused.html")]
struct RefusedPage<'a> {
    t: &'static Texts,
    message: String,
    public_url: &'a PublicUrl,
    css: &'static str,
}

/// The page that shows this message, in the language that a browser with these headers prefers.
pub fn gate_page(headers: &HeaderMap, message: &str, public_url: &PublicUrl) -> String {
    let t = Language::of(headers).texts();
    let page = RefusedPage {
        t,
        message: rules::say(t.language, message),
        public_url,
        css: assets::path("console.css"),
    };
    page.render().unwrap_or_else(|_| message.to_owned())
}
