//! A page that goes on to another host after a form. A redirect would be part of the form, which may be sent only to this
//! host (`form-action` of the Content-Security-Policy).

use askama::Template;
use axum::response::Response;

use crate::{respond::page, visit::Visit};

#[derive(Template)]
#[template(path = "go_on.html")]
struct GoOnPage<'a> {
    v: &'a Visit,
    address: String,
    title: &'a str,
    link: &'a str,
}

/// The page that goes on to this address, by itself or by its link.
pub(super) fn go_on(visit: &Visit, address: String, title: &str, link: &str) -> Response {
    page(&GoOnPage {
        v: visit,
        address,
        title,
        link,
    })
}
