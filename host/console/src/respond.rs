//! How pages are sent: headers, compression, redirects.

use std::io::Write as _;

use askama::Template;
use axum::{
    body::{Body, HttpBody},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::GzEncoder};
use futures_util::FutureExt;
use http_body_util::BodyExt;

use crate::api::compute_in_any_case;

/// Pages run the console's own scripts and show pictures of this host and of `data:` URLs. They cannot be framed, and
/// send forms only to this host.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src \
                      'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Smaller pages gain nothing from compression.
const LEAST_COMPRESSED: usize = 1_000;

/// Larger pages are compressed on a thread that serves no requests.
const MOST_INLINE: u64 = 64_000;

pub(crate) fn page(template: &impl Template) -> Response {
    page_with(StatusCode::OK, template)
}

/// The page of a form that was refused because of what was typed.
pub(crate) fn again(template: &impl Template) -> Response {
    page_with(StatusCode::UNPROCESSABLE_ENTITY, template)
}

pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Response {
    written(status, template.render())
}

pub(crate) fn written(status: StatusCode, html: askama::Result<String>) -> Response {
    match html {
        Ok(html) => {
            let html_type = HeaderValue::from_static("text/html; charset=utf-8");
            (status, [(header::CONTENT_TYPE, html_type)], html).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a page cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The response after a change: the browser opens another page, so that a reload repeats nothing.
pub(crate) fn see(path: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(path) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

/// A page with a secret in its address, which the browser then sends nowhere else: as the referrer, only the origin.
pub(crate) fn without_address(mut response: Response) -> Response {
    let policy = HeaderValue::from_static("strict-origin");
    response.headers_mut().insert(header::REFERRER_POLICY, policy);
    response
}

/// Sets the headers of every page.
pub(crate) fn add_headers(response: &mut Response) {
    let headers = response.headers_mut();
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // Forms name this site as their origin only if pages send a referrer to it.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=()",
        ),
    ];
    for (name, value) in all {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.append(
        header::VARY,
        HeaderValue::from_static("accept-encoding, accept-language"),
    );
}

pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    accepted.any(|value| {
        let mut codings = value.to_str().unwrap_or_default().split(',');
        codings.any(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00")
        })
    })
}

/// Compresses a page that is not compressed yet; a long one on a thread that serves no requests.
pub(crate) async fn compress_off_thread(response: Response) -> Response {
    if !can_be_compressed(&response) || response.body().size_hint().lower() <= MOST_INLINE {
        return compress(response);
    }
    compute_in_any_case(move || compress(response)).await
}

fn can_be_compressed(response: &Response) -> bool {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    is_page && !headers.contains_key(header::CONTENT_ENCODING)
}

pub(crate) fn compress(response: Response) -> Response {
    if !can_be_compressed(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // A page is in memory as a whole, so this waits for nothing.
    let Some(Ok(body)) = body.collect().now_or_never() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let body = body.to_bytes();
    if body.len() < LEAST_COMPRESSED {
        return Response::from_parts(parts, Body::from(body));
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(4));
    let compressed = encoder.write_all(&body).and_then(|()| encoder.finish());
    let Ok(compressed) = compressed else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    let gzip = HeaderValue::from_static("gzip");
    parts.headers.insert(header::CONTENT_ENCODING, gzip);
    Response::from_parts(parts, Body::from(compressed))
}
