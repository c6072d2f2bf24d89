//! `/start`: the first administrator.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde_json::{Value, json};

use super::{
    PageResult,
    onboarding::{begin, is_open},
    second_step, visibility,
};
use crate::{
    form::{Form, Problems},
    respond::{page, page_with, see},
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/start", get(show).post(create))
}

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    problems: Problems,
}

async fn show(visit: Visitor) -> PageResult {
    if !is_open(&visit.api).await? {
        return Ok(see("/"));
    }
    Ok(page(&StartPage {
        v: &visit,
        form: &Form::default(),
        problems: Problems::default(),
    }))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    let form = visit.form(request).await?;
    let mut input = json!({ "username": form.text("username"), "password": form.text("password") });
    if let Some(email) = form.optional("email") {
        input["email"] = email.into();
    }
    match visit.api.mutate::<Value>("user.initUser", input).await {
        Ok(_) => match begin(&visit.api, &form).await {
            // At first everyone sees every app.
            Ok(()) if form.text("appVisibility") != "boards" => Ok(see("/welcome")),
            Ok(()) => match visibility::store(&visit.api.with_new_session(), &form).await {
                Ok(()) => Ok(see("/welcome")),
                Err(error) => {
                    tracing::warn!(
                        error.message,
                        "who sees which app was not stored at the first start"
                    );
                    Ok(see("/welcome?note=visibility-not-stored"))
                }
            },
            Err(error) if error.missing_factor.is_some() => {
                // There is no session yet with which the choice could be stored.
                let next = match form.text("appVisibility") {
                    "boards" => "/welcome?note=visibility-not-stored",
                    _ => "/welcome",
                };
                second_step::show(&visit, &error, next).await
            }
            Err(_) => Ok(see("/sign-in?note=registered")),
        },
        Err(error) if error.is_of_input() => {
            let problems = Problems::of(&error, &["username", "password", "email"], |text| visit.say(text));
            let again = StartPage {
                v: &visit,
                form: &form,
                problems,
            };
            Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &again))
        }
        Err(error) => Err(error),
    }
}
