//! `/register?invite=…&token=…`: the link of an invite. The query contains the secret, because queries are not logged.

use askama::Template;
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use serde_json::{Value, json};

use super::{PageResult, onboarding::begin};
use crate::{
    form::{Form, Problems},
    respond::{page, page_with, see, without_address},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/register", get(show).post(create))
}

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage<'a> {
    v: &'a Visit,
    form: &'a Form,
    invite: &'a str,
    token: &'a str,
    problems: Problems,
}

impl RegisterPage<'_> {
    /// Whether the link was cut, so that no account can be created with it.
    fn is_cut(&self) -> bool {
        self.invite.is_empty() || self.token.is_empty()
    }
}

async fn show(visit: Visitor, query: Query) -> PageResult {
    // Programs that write `&` as HTML put this into the address.
    let token = match query.text("token") {
        "" => query.text("amp;token"),
        token => token,
    };
    Ok(without_address(page(&RegisterPage {
        v: &visit,
        form: &Form::default(),
        invite: query.text("invite"),
        token,
        problems: Problems::default(),
    })))
}

async fn create(visit: Visitor, request: Request) -> PageResult {
    let form = visit.form(request).await?;
    let input = json!({
        "username": form.text("username"),
        "password": form.text("password"),
        "email": form.text("email"),
        "inviteId": form.text("invite"),
        "token": form.text("token"),
    });
    match visit.api.mutate::<Value>("user.register", input).await {
        Ok(_) => match begin(&visit.api, &form).await {
            Ok(()) => Ok(see("/")),
            Err(_) => Ok(see("/sign-in?note=registered")),
        },
        // An invite that is used up or has expired is refused too.
        Err(error) if error.is_of_input() || error.status == StatusCode::FORBIDDEN => {
            let problems = Problems::of(&error, &["username", "password", "email"], |text| visit.say(text));
            let again = RegisterPage {
                v: &visit,
                form: &form,
                invite: form.shown("invite"),
                token: form.shown("token"),
                problems,
            };
            Ok(page_with(StatusCode::UNPROCESSABLE_ENTITY, &again))
        }
        Err(error) => Err(error),
    }
}
