//! `/profile/password`: another password for the signed-in user.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde_json::json;

use super::PageResult;
use crate::{
    form::Problems,
    respond::{page, page_with, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/profile/password", get(show).post(change))
}

#[derive(Template)]
#[template(path = "profile/password.html")]
struct PasswordPage<'a> {
    v: &'a Visit,
    problems: Problems,
}

async fn show(visit: Visitor) -> PageResult {
    visit.user()?;
    Ok(page(&PasswordPage {
        v: &visit,
        problems: Problems::default(),
    }))
}

async fn change(visit: Visitor, request: Request) -> PageResult {
    let user = visit.user()?;
    let form = visit.form(request).await?;
    let mut problems = Problems::default();
    if form.text("password") != form.text("repeated") {
        problems.add("repeated", visit.t.profile.not_the_same);
        let shown = PasswordPage { v: &visit, problems };
        return Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown));
    }
    let input = json!({
        "userId": user.id,
        "previousPassword": form.text("previousPassword"),
        "password": form.text("password"),
    });
    // The response gives the session a new cookie.
    let Err(error) = visit.api.change("user.changePassword", input).await else {
        return Ok(see("/profile/password?note=password-changed"));
    };
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    let problems = match error.status {
        StatusCode::FORBIDDEN if user.has_password() => {
            problems.add("previousPassword", visit.say(&error.message));
            problems
        }
        StatusCode::TOO_MANY_REQUESTS => {
            status = error.status;
            Problems::of(&error, &[], |text| visit.say(text))
        }
        _ => visit.problems(error, &["previousPassword", "password"])?,
    };
    Ok(page_with(status, &PasswordPage { v: &visit, problems }))
}
