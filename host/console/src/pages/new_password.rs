//! `/new-password?token=…`: the link with which a user sets a new password. Opening it changes nothing; the form uses it
//! up. The query contains the secret, because queries are not logged.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, response::Response, routing::get};
use serde_json::{Value, json};

use super::PageResult;
use crate::{
    form::Problems,
    respond::{page_with, see, without_address},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/new-password", get(show).post(change))
}

#[derive(Template)]
#[template(path = "new_password.html")]
struct NewPasswordPage<'a> {
    v: &'a Visit,
    token: &'a str,
    problems: Problems,
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    let token = query.text("token");
    let status = match token {
        "" => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    };
    Ok(show_form(&visit, status, token, Problems::default()))
}

async fn change(visit: Visitor, request: Request) -> PageResult {
    let form = visit.form(request).await?;
    let (token, password) = (form.text("token"), form.text("password"));
    if password != form.text("repeated") {
        let mut problems = Problems::default();
        problems.add("repeated", visit.t.profile.not_the_same);
        return Ok(show_form(
            &visit,
            StatusCode::UNPROCESSABLE_ENTITY,
            token,
            problems,
        ));
    }
    let input = json!({ "token": token, "password": password });
    match visit.api.mutate::<Value>("user.setPasswordByLink", input).await {
        Ok(_) => Ok(see("/sign-in?note=password-set")),
        Err(error) if error.is_of_input() || matches!(error.status.as_u16(), 403 | 429) => {
            let problems = Problems::of(&error, &["password"], |text| visit.say(text));
            let status = match error.status {
                StatusCode::TOO_MANY_REQUESTS => error.status,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            Ok(show_form(&visit, status, token, problems))
        }
        Err(error) => Err(error),
    }
}

fn show_form(visit: &Visit, status: StatusCode, token: &str, problems: Problems) -> Response {
    let page = NewPasswordPage {
        v: visit,
        token,
        problems,
    };
    without_address(page_with(status, &page))
}
