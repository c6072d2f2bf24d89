//! `/sign-in` and `/sign-out`, and words for what OpenID Connect refuses.

use askama::Template;
use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, header},
    routing::{any, get, post},
};
use portico_http::Elsewhere;
use serde_json::Value;

use super::{
    PageResult,
    go_on::go_on,
    onboarding::{is_open, with_password},
    second_step,
    sign_in_page::sign_in_page,
};
use crate::{
    api::ApiError,
    around::Passed,
    form::{Form, Problems},
    links::own_path,
    respond::{page, page_with, see},
    visit::{Query, Visit, Visitor},
};

const START: &str = "/api/auth/oidc/start";

pub(super) fn routes() -> Router {
    Router::new()
        .route("/sign-in", get(show).post(sign_in))
        .route("/sign-out", post(sign_out))
        .route(START, any(oidc))
        .route("/api/auth/oidc/sign-out", any(oidc))
        .route("/api/auth/oidc/callback", any(oidc))
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    if visit.user.is_some() {
        return Ok(see(own_path(query.text("next"))));
    }
    if is_open(&visit.api).await? {
        return Ok(see("/start"));
    }
    let form = Form::default();
    let problems = Problems::default();
    let shown = sign_in_page(&visit, &form, problems, query.text("next")).await?;
    match shown.leads_to {
        Some(issuer) if !query.has("local") && !query.has("note") => Ok(see(&issuer)),
        _ => Ok(page(&shown)),
    }
}

async fn sign_in(visit: Visitor, request: Request) -> PageResult {
    let form = match visit.form(request).await {
        Ok(form) if form.is_old() => return Ok(see("/")),
        Ok(form) => form,
        // This person has signed in elsewhere in this browser, or their browser had no cookie yet.
        Err(error) if error.status == StatusCode::FORBIDDEN && visit.user.is_some() => return Ok(see("/")),
        Err(error) if error.status == StatusCode::FORBIDDEN => {
            let problems = Problems::of(&error, &[], |text| visit.say(text));
            let form = Form::default();
            return Ok(page_with(
                error.status,
                &sign_in_page(&visit, &form, problems, "").await?,
            ));
        }
        Err(error) => return Err(error),
    };
    let provider = form.optional("provider");
    match with_password(&visit.api, form.text("username"), form.text("password"), provider).await {
        Ok(()) => Ok(see(own_path(form.text("next")))),
        Err(error) if error.missing_factor.is_some() => {
            second_step::show(&visit, &error, own_path(form.text("next"))).await
        }
        Err(error) if error.is_of_input() || matches!(error.status.as_u16(), 401 | 429) => {
            let problems = Problems::of(&error, &["username", "password"], |text| visit.say(text));
            let status = match error.status {
                StatusCode::TOO_MANY_REQUESTS => error.status,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            let again = sign_in_page(&visit, &form, problems, form.text("next")).await?;
            Ok(page_with(status, &again))
        }
        Err(error) => Err(error),
    }
}

async fn sign_out(visit: Visitor, request: Request) -> PageResult {
    if visit.form(request).await?.is_old() {
        return Ok(see("/?note=form-old"));
    }
    visit.api.post::<Value>("/api/auth/sign-out", Value::Null).await?;
    // Who is signed in without a session came by way of a proxy, and not from the issuer.
    if visit.api.get::<Value>("/api/auth/session").await.is_ok() {
        return Ok(see("/?note=still-signed-in"));
    }
    match &visit.sign_out_url {
        Some(address) => {
            let (title, link) = (visit.t.sign_in.signing_out, visit.t.sign_in.sign_out_there);
            Ok(go_on(&visit, address.clone(), title, link))
        }
        None => Ok(see("/sign-in?note=signed-out")),
    }
}

#[derive(Template)]
#[template(path = "sign_in_refused.html")]
struct Refused<'a> {
    v: &'a Visit,
    status: u16,
    title: &'static str,
    message: String,
    /// The request's id, with which an administrator finds the reason in the log.
    request_id: String,
}

#[derive(Template)]
#[template(path = "elsewhere.html")]
struct ElsewherePage<'a> {
    v: &'a Visit,
    elsewhere: Elsewhere,
}

/// The routes of OpenID Connect belong to the API. People who open them in a browser get a page if the API refuses.
async fn oidc(visit: Visitor, request: Request) -> PageResult {
    let (parts, _) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let accepted = parts.headers.get(header::ACCEPT);
    let is_for_people =
        accepted.is_some_and(|kinds| kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")));
    if is_for_people
        && parts.method == Method::GET
        && parts.uri.path() == START
        && let Some(elsewhere) = visit.console.elsewhere(&parts)
        // The API redirects where it can.
        && elsewhere.redirect().is_none()
    {
        return Ok(page(&ElsewherePage { v: &visit, elsewhere }));
    }
    let mut response = visit.api.pass(parts.method, path).await;
    if response.status().is_success() || response.status().is_redirection() || !is_for_people {
        response.extensions_mut().insert(Passed);
        return Ok(response);
    }
    let status = response.status();
    let request_id = response.headers().get("x-request-id");
    let request_id = request_id.and_then(|id| id.to_str().ok()).unwrap_or_default();
    let request_id = request_id.to_owned();
    let error = ApiError::of(response).await;
    let refused = Refused {
        v: &visit,
        status: status.as_u16(),
        title: visit.t.errors.sign_in_failed_title,
        message: visit.say(&error.message),
        request_id,
    };
    let mut page = page_with(status, &refused);
    if let Some(seconds) = error.retry_after {
        page.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(page)
}
