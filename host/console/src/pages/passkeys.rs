//! Signing in with a passkey alone, and what all forms that send a passkey share. Their script, `assets/passkeys.js`, gets
//! the passkey from the browser; without scripts such forms are not shown.

use axum::{Router, extract::Request, http::StatusCode, response::Response, routing::get};
use serde_json::{Value, json};

use super::{PageResult, sign_in_page::begin_again};
use crate::{
    api::ApiError,
    fields::WITH_PASSKEY,
    form::Form,
    links::own_path,
    respond::see,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new().route("/sign-in/passkey", get(begin).post(sign_in))
}

/// The passkey form of a person who is not signed in; `None` if this browser has signed in meanwhile.
pub(super) async fn read(visit: &Visit, request: Request) -> Result<Option<Form>, ApiError> {
    match visit.form_with(&WITH_PASSKEY, request).await {
        Ok(form) if form.is_old() => Ok(None),
        Ok(form) => Ok(Some(form)),
        Err(error) if error.status == StatusCode::FORBIDDEN && visit.user.is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The passkey in a form; null if there is none, or if it is not JSON.
pub(super) fn credential(form: &Form) -> Value {
    serde_json::from_str(form.text("credential")).unwrap_or_default()
}

/// The form is only reached from the page of signing in.
async fn begin() -> Response {
    see("/sign-in")
}

async fn sign_in(visit: Visitor, request: Request) -> PageResult {
    let Some(form) = read(&visit, request).await? else {
        return Ok(see("/"));
    };
    let next = own_path(form.text("next"));
    let input = json!({ "credential": credential(&form) });
    match visit.api.post::<Value>("/api/auth/passkeys/sign-in", input).await {
        Ok(_) => Ok(see(next)),
        Err(error) if error.is_of_input() || matches!(error.status.as_u16(), 401 | 404 | 429) => {
            begin_again(&visit, &error, next).await
        }
        Err(error) => Err(error),
    }
}
