//! Every other path: the page without the slash at the end, the page of signing in where clients of Homarr look for it,
//! or one that says that there is nothing. Programs get the API's refusal.

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::PageResult;
use crate::{
    api::ApiError,
    around::Passed,
    links::own_path,
    respond::see,
    visit::{Query, Visitor},
};

/// Homarr's page of signing in. Its sign-in leads there when it has failed, with `error` in the query.
const SIGN_IN_OF_HOMARR: &str = "/auth/login";

pub(crate) fn routes() -> Router {
    Router::new().route("/{*path}", any(explain))
}

async fn explain(visit: Visitor, query: Query, request: Request) -> PageResult {
    let (parts, _) = request.into_parts();
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    if is_read && parts.uri.path() == SIGN_IN_OF_HOMARR {
        let next = utf8_percent_encode(own_path(query.text("callbackUrl")), NON_ALPHANUMERIC);
        let note = if query.has("error") {
            "&note=sign-in-failed"
        } else {
            ""
        };
        return Ok(see(&format!("/sign-in?next={next}{note}")));
    }
    let kinds = parts.headers.get(header::ACCEPT);
    let is_for_people =
        kinds.is_some_and(|kinds| kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")));
    if !is_for_people || visit.is_in("/api") {
        let mut response = visit.api.pass(parts.method, &visit.here).await;
        response.extensions_mut().insert(Passed);
        return Ok(response);
    }
    match without_slash(&visit.here).filter(|_| is_read) {
        Some(path) => Ok(moved(&path)),
        None => Err(ApiError::not_found()),
    }
}

/// The path without the slashes at its end; `None` if it has none there, or if browsers would read it as another host's.
fn without_slash(here: &str) -> Option<String> {
    let (path, query) = here.split_once('?').unwrap_or((here, ""));
    let shorter = path.trim_end_matches('/');
    let is_own = shorter.starts_with('/') && !shorter.starts_with("//") && !shorter.contains('\\');
    let mark = if query.is_empty() { "" } else { "?" };
    (is_own && shorter != path).then(|| format!("{shorter}{mark}{query}"))
}

fn moved(path: &str) -> Response {
    match HeaderValue::from_str(path) {
        Ok(location) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_slash;

    #[test]
    fn a_slash_at_the_end_is_left_out_on_this_host_only() {
        assert_eq!(without_slash("/apps/?q=a"), Some("/apps?q=a".into()));
        assert_eq!(without_slash("/manage/boards//"), Some("/manage/boards".into()));
        for other in ["/apps", "//evil.example/", "/\\evil.example/", "///", "/", "*/"] {
            assert_eq!(without_slash(other), None, "{other}");
        }
    }
}
