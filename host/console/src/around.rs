//! Around every page: makes the visit, turns errors into pages, and sets cookies and headers.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Request, State},
    http::{Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_http::{Elsewhere, RequestId};
use portico_rules::refusal::SiteRule;
use portico_service::site::{ForeignSite, foreign_site};

use crate::{
    Console,
    api::ApiError,
    respond::{add_headers, compress_off_thread, page_with, see},
    visit::{Visit, Visitor},
};

/// Marks a response that is not a page, such as the API's own, and stays unchanged.
#[derive(Clone)]
pub(crate) struct Passed;

/// The pages with forms of people who are not signed in. They work only at the public URL, because of its cookies. (While
/// there is no user, browsers are served at that name, too: a redirect of `/start` leads to where it works.)
const SIGN_IN: [&str; 5] = ["/sign-in", "/register", "/new-password", "/start", "/gate"];

/// Around every page: makes the visit, turns errors into pages, and sets cookies and headers.
pub(crate) async fn around(State(console): State<Arc<Console>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let method = parts.method.clone();
    let id = id_of(&parts);
    if !method.is_safe()
        && let Some(site) = foreign_site(&parts.headers, console.public_url.as_ref())
    {
        return refuse_foreign(&console, &parts, &site);
    }
    let is_for_sign_in = method.is_safe() && SIGN_IN.contains(&parts.uri.path());
    let elsewhere = is_for_sign_in.then(|| console.elsewhere(&parts)).flatten();
    if let Some(mut redirect) = elsewhere.as_ref().and_then(Elsewhere::redirect) {
        add_headers(&mut redirect);
        return redirect;
    }
    let (visit, mut response) = match Visit::of(&console, &parts).await {
        Ok(mut visit) => {
            visit.elsewhere = elsewhere;
            let visit = Arc::new(visit);
            parts.extensions.insert(Visitor(visit.clone()));
            let response = next.run(Request::from_parts(parts, body)).await;
            (visit, response)
        }
        Err(error) => {
            let visit = Visit::unknown(&console, &parts);
            (Arc::new(visit), error.into_response())
        }
    };
    if response.extensions_mut().remove::<Passed>().is_some() {
        return response;
    }
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        response = explain(&visit, &error, &method, &id);
    }
    let headers = response.headers_mut();
    for cookie in visit.api.take_cookies() {
        headers.append(header::SET_COOKIE, cookie);
    }
    if let Some(cookie) = &visit.secret.new_cookie {
        headers.append(header::SET_COOKIE, cookie.clone());
    }
    add_headers(&mut response);
    if visit.accepts_gzip {
        compress_off_thread(response).await
    } else {
        response
    }
}

/// The page of a refused form of another site. It sets no cookie: the browser did not send the ones that it has.
fn refuse_foreign(console: &Arc<Console>, parts: &Parts, site: &ForeignSite) -> Response {
    let error = site.refuse(SiteRule::SendForms);
    let error = ApiError::new(StatusCode::FORBIDDEN, error.message);
    let mut response = explain(
        &Visit::unknown(console, parts),
        &error,
        &parts.method,
        &id_of(parts),
    );
    add_headers(&mut response);
    response
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    v: &'a Visit,
    status: u16,
    title: &'static str,
    message: String,
    /// The request's id, with which an administrator finds the reason in the log; empty if nothing more is to be known.
    request_id: &'a str,
}

/// The id of a request; empty if it has none.
fn id_of(parts: &Parts) -> String {
    let id = parts.extensions.get::<RequestId>();
    id.map_or_else(String::new, |id| id.0.to_string())
}

/// The page of an error.
fn explain(visit: &Visit, error: &ApiError, method: &Method, request_id: &str) -> Response {
    if error.status == StatusCode::UNAUTHORIZED {
        return see(&sign_in_path(visit, method));
    }
    // A form without typed fields: its page is opened again.
    if error.is_of_old_form {
        return see(&format!("{}?note=form-old", visit.path()));
    }
    let t = &visit.t.errors;
    let (title, message) = match error.status.as_u16() {
        403 => (t.forbidden_title, visit.say(&error.message)),
        404 => (t.not_found_title, t.not_found.into()),
        429 => (t.too_many_title, visit.say(&error.message)),
        500 => (t.failed_title, t.failed.into()),
        503 | 504 => (t.unavailable_title, t.unavailable.into()),
        _ => (t.refused_title, visit.say(&error.message)),
    };
    let mut response = page_with(
        error.status,
        &ErrorPage {
            v: visit,
            status: error.status.as_u16(),
            title,
            message,
            request_id: if error.status == StatusCode::NOT_FOUND {
                ""
            } else {
                request_id
            },
        },
    );
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Where a visitor without a session signs in. A page is opened again afterwards. A form has had no effect, so people
/// return to its page.
fn sign_in_path(visit: &Visit, method: &Method) -> String {
    let here = if *method == Method::GET { &visit.here } else { "/" };
    let next = utf8_percent_encode(here, NON_ALPHANUMERIC);
    format!("/sign-in?next={next}&note=session-ended")
}
