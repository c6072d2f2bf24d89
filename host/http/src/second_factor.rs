//! `/api/auth/second-factor`: how a sign-in goes on whose password was right.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::request::Parts,
    response::Response,
};
use portico_model::error::Error;
use portico_model::refusal::SiteRule;
use portico_service::{
    identity::Identity,
    sign_in::{self, SignInAttempt},
    site::foreign_site,
};
use serde_json::Value;

use super::{
    auth::{finish, sign_in_settings},
    error::{self, json_response},
    request::{InputLimit, RequestId, client_address, identify, read_json},
    session,
    state::Shared,
};

/// `POST /api/auth/second-factor {ticket, code}`.
pub(super) async fn complete(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::with_code(&http.service, client_address(&http, &parts), &id.0);
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let sent = attempt.read(input)?;
        let completed = attempt.run_code(sent, &sender, sign_in_settings(&http)).await?;
        Ok(session::signed_in(&http, &completed))
    };
    let result = result.await;
    attempt.end(&result);
    finish(result)
}

/// `POST /api/auth/second-factor/secret {ticket}`.
pub(super) async fn new_secret(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let made = sign_in::new_secret(&http.service, input, &sender, &id.0).await?;
        Ok(json_response(made))
    };
    finish(result.await)
}

/// `POST /api/auth/second-factor/set-up {ticket, secret, code}`.
pub(super) async fn set_up(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::with_first_factor(&http.service, client_address(&http, &parts), &id.0);
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let first = attempt.read(input)?;
        let completed = attempt
            .run_first_factor(first, &sender, sign_in_settings(&http))
            .await?;
        Ok(session::signed_in(&http, &completed))
    };
    let result = result.await;
    attempt.end(&result);
    finish(result)
}

/// `POST /api/auth/second-factor/passkey-options {ticket}`.
pub(super) async fn begin_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let begun = sign_in::begin_passkey(&http.service, input, &sender, &id.0).await?;
        Ok(json_response(begun))
    };
    finish(result.await)
}

/// `POST /api/auth/second-factor/passkey {ticket, credential}`.
pub(super) async fn complete_with_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::with_held_passkey(&http.service, client_address(&http, &parts), &id.0);
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let sent = attempt.read(input)?;
        let completed = attempt
            .run_held_passkey(sent, &sender, sign_in_settings(&http))
            .await?;
        Ok(session::signed_in(&http, &completed))
    };
    let result = result.await;
    attempt.end(&result);
    finish(result)
}

/// `POST /api/auth/second-factor/passkey-registration {ticket}`.
pub(super) async fn begin_first_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let begun = sign_in::begin_first_passkey(&http.service, input, &sender, &id.0).await?;
        Ok(json_response(begun))
    };
    finish(result.await)
}

/// `POST /api/auth/second-factor/set-up-passkey {ticket, name, credential}`.
pub(super) async fn set_up_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::with_first_passkey(&http.service, client_address(&http, &parts), &id.0);
    let result = async {
        let (input, sender) = read(&http, &id, &parts, body).await?;
        let first = attempt.read(input)?;
        let completed = attempt
            .run_first_passkey(first, &sender, sign_in_settings(&http))
            .await?;
        Ok(session::signed_in(&http, &completed))
    };
    let result = result.await;
    attempt.end(&result);
    finish(result)
}

/// Another site could otherwise make its visitor use an account of its choice.
pub(super) fn refuse_foreign(http: &Shared, parts: &Parts) -> Option<Response> {
    let site = foreign_site(&parts.headers, http.settings.public_url.as_ref())?;
    Some(error::rest(site.refuse(SiteRule::SignIn), None))
}

/// The input, which may be refused later, and the sender.
pub(super) async fn read(
    http: &Shared,
    id: &RequestId,
    parts: &Parts,
    body: Body,
) -> Result<(Result<Option<Value>, Error>, Identity), Error> {
    let input = read_json(http, parts, body, InputLimit::small(&http.limits)).await;
    let sender = identify(http, parts, id).await?.in_browser(&parts.headers);
    Ok((input, sender))
}
