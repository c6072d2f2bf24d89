//! HTTP responses: a picture, or that there is no picture.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};

use crate::{error::IconError, files::FAILURE_LASTS, picture::Picture};

/// What a browser may do with an SVG that it opens as a page: show it. In `<img>` it runs no scripts in any case.
const SVG_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// How long a browser caches a picture.
#[derive(Clone, Copy)]
pub(crate) enum Keep {
    /// The address of the picture changes with the icon.
    ForLong,
    /// A look-up may find another picture for the name.
    ForAnHour,
    /// The browser asks each time whether the picture is still the same.
    Ask,
}

/// The picture, or 304 if the client has it.
pub(crate) fn picture(picture: &Picture, headers: &HeaderMap, keep: Keep) -> Response {
    let etag = picture.tag();
    let is_current = headers.get_all(header::IF_NONE_MATCH).iter().any(|tags| {
        let mut tags = tags.to_str().unwrap_or_default().split(',').map(str::trim);
        tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
    });
    let body = match is_current {
        true => Body::empty(),
        false => Body::from(picture.bytes().clone()),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    if !is_current {
        let content_type = HeaderValue::from_static(picture.content_type());
        headers.insert(header::CONTENT_TYPE, content_type);
        headers.insert(header::CONTENT_LENGTH, picture.bytes().len().into());
    }
    if picture.is_svg() {
        let policy = HeaderValue::from_static(SVG_POLICY);
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(header::ETAG, etag);
    }
    let keep = HeaderValue::from_static(match keep {
        Keep::ForLong => "private, max-age=31536000, immutable",
        Keep::ForAnHour => "private, max-age=3600",
        Keep::Ask => "private, no-cache",
    });
    headers.insert(header::CACHE_CONTROL, keep);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if is_current {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// There is no picture: the browser shows what the page has instead, and asks again after a while.
pub(crate) fn no_picture(error: &IconError) -> Response {
    let seconds = match error {
        IconError::NoPicture(_) | IconError::NotAllowed(_) | IconError::TimedOut(_) => {
            FAILURE_LASTS.as_secs()
        }
        IconError::Silent | IconError::Busy => 10,
    };
    let mut response = text(StatusCode::NOT_FOUND, "There is no picture");
    if let Ok(keep) = HeaderValue::try_from(format!("private, max-age={seconds}")) {
        response.headers_mut().insert(header::CACHE_CONTROL, keep);
    }
    response
}

/// A short text, which browsers do not cache.
pub(crate) fn text(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}
