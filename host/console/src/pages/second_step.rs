//! The second step of signing in: the code of the second factor, or setting up the first one.
//!
//! The ticket of the sign-in is a field of the forms, and in no address. No session exists before the step is done.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, response::Response, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    PageResult,
    passkeys::{self, credential},
    sign_in_page::begin_again,
};
use crate::{
    api::{ApiError, MissingFactor},
    form::{Form, Problems},
    links::own_path,
    qr::{NewSecret, Qr},
    respond::{page, page_with, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/sign-in/code", get(begin).post(send_code))
        .route("/sign-in/code/passkey", get(begin).post(send_passkey))
        .route("/sign-in/set-up", get(begin).post(set_up))
        .route("/sign-in/set-up/passkey", get(begin).post(set_up_passkey))
}

#[derive(Template)]
#[template(path = "second_step/code.html")]
struct CodePage<'a> {
    v: &'a Visit,
    ticket: &'a str,
    /// The kinds of the user's factors, between spaces.
    kinds: String,
    next: &'a str,
    problems: Problems,
}

impl CodePage<'_> {
    fn has_app(&self) -> bool {
        self.kinds.split(' ').any(|kind| kind == "totp")
    }

    fn has_passkey(&self) -> bool {
        self.v.has_passkeys() && self.kinds.split(' ').any(|kind| kind == "passkey")
    }
}

#[derive(Template)]
#[template(path = "second_step/set_up.html")]
struct SetUpPage<'a> {
    v: &'a Visit,
    ticket: &'a str,
    next: &'a str,
    secret: NewSecret,
    problems: Problems,
}

impl SetUpPage<'_> {
    fn qr(&self) -> Option<Qr> {
        self.secret.qr()
    }
}

#[derive(Template)]
#[template(path = "second_step/codes.html")]
struct CodesPage<'a> {
    v: &'a Visit,
    codes: Vec<String>,
    next: &'a str,
}

/// The page that asks for the second factor, or sets up the first one.
pub(super) async fn show(visit: &Visit, error: &ApiError, next: &str) -> PageResult {
    let Some(missing) = &error.missing_factor else {
        return Err(error.clone());
    };
    if missing.second_factor.is_empty() {
        return show_set_up(visit, missing, next).await;
    }
    Ok(page(&CodePage {
        v: visit,
        ticket: &missing.ticket,
        kinds: missing.second_factor.join(" "),
        next,
        problems: Problems::default(),
    }))
}

async fn show_set_up(visit: &Visit, missing: &MissingFactor, next: &str) -> PageResult {
    let input = json!({ "ticket": missing.ticket });
    let secret = visit.api.post("/api/auth/second-factor/secret", input).await?;
    Ok(page(&SetUpPage {
        v: visit,
        ticket: &missing.ticket,
        next,
        secret,
        problems: Problems::default(),
    }))
}

/// A step is only reached from the first one.
async fn begin() -> Response {
    see("/sign-in")
}

/// The form of a step; `None` if this browser has signed in meanwhile.
async fn read(visit: &Visit, request: Request) -> Result<Option<Form>, ApiError> {
    match visit.form(request).await {
        Ok(form) if form.is_old() => Ok(None),
        Ok(form) => Ok(Some(form)),
        Err(error) if error.status == StatusCode::FORBIDDEN && visit.user.is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn send_code(visit: Visitor, request: Request) -> PageResult {
    let Some(form) = read(&visit, request).await? else {
        return Ok(see("/"));
    };
    let input = json!({ "ticket": form.text("ticket"), "code": form.text("code") });
    go_on(&visit, &form, "/api/auth/second-factor", input).await
}

async fn send_passkey(visit: Visitor, request: Request) -> PageResult {
    let Some(form) = passkeys::read(&visit, request).await? else {
        return Ok(see("/"));
    };
    let input = json!({ "ticket": form.text("ticket"), "credential": credential(&form) });
    go_on(&visit, &form, "/api/auth/second-factor/passkey", input).await
}

/// Sends a factor to this route. If it is wrong, the page is shown again.
async fn go_on(visit: &Visit, form: &Form, route: &str, input: Value) -> PageResult {
    let next = own_path(form.text("next"));
    let sent = visit.api.post::<Value>(route, input).await;
    let Err(error) = sent else {
        return Ok(see(next));
    };
    let is_wrong = error.missing_factor.is_some();
    if error.status == StatusCode::UNAUTHORIZED && !is_wrong {
        return begin_again(visit, &error, next).await;
    }
    if !is_wrong && !error.is_of_input() && error.status != StatusCode::TOO_MANY_REQUESTS {
        return Err(error);
    }
    let mut problems = Problems::default();
    problems.add("code", visit.say(&error.message));
    let shown = CodePage {
        v: visit,
        ticket: form.shown("ticket"),
        kinds: form.shown("kinds").to_owned(),
        next,
        problems,
    };
    Ok(again(&error, &shown))
}

async fn set_up(visit: Visitor, request: Request) -> PageResult {
    let Some(form) = read(&visit, request).await? else {
        return Ok(see("/"));
    };
    let input = json!({
        "ticket": form.text("ticket"),
        "secret": form.text("secret"),
        "code": form.text("code"),
    });
    set_up_by(&visit, &form, "/api/auth/second-factor/set-up", input).await
}

async fn set_up_passkey(visit: Visitor, request: Request) -> PageResult {
    let Some(form) = passkeys::read(&visit, request).await? else {
        return Ok(see("/"));
    };
    let input = json!({
        "ticket": form.text("ticket"),
        "name": form.text("name"),
        "credential": credential(&form),
    });
    set_up_by(&visit, &form, "/api/auth/second-factor/set-up-passkey", input).await
}

/// Sends the first factor to this route. If it is wrong, the page is shown again.
async fn set_up_by(visit: &Visit, form: &Form, route: &str, input: Value) -> PageResult {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SignedIn {
        recovery_codes: Vec<String>,
    }
    let next = own_path(form.text("next"));
    let error = match visit.api.post(route, input).await {
        Ok(SignedIn { recovery_codes }) => {
            return Ok(page(&CodesPage {
                v: visit,
                codes: recovery_codes,
                next,
            }));
        }
        Err(error) => error,
    };
    if error.missing_factor.is_some() {
        // They have set one up elsewhere meanwhile.
        return show(visit, &error, next).await;
    }
    match error.status {
        StatusCode::UNAUTHORIZED | StatusCode::CONFLICT => begin_again(visit, &error, next).await,
        StatusCode::BAD_REQUEST | StatusCode::TOO_MANY_REQUESTS => {
            let shown = SetUpPage {
                v: visit,
                ticket: form.shown("ticket"),
                next,
                secret: NewSecret::sent(form),
                problems: Problems::of(&error, &["code", "name"], |text| visit.say(text)),
            };
            Ok(again(&error, &shown))
        }
        _ => Err(error),
    }
}

/// A step that was refused, with what is wrong.
fn again(error: &ApiError, shown: &impl Template) -> Response {
    let status = match error.status {
        StatusCode::TOO_MANY_REQUESTS => error.status,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    page_with(status, shown)
}
