//! `/api/auth/second-factor`: the second step of a sign-in whose password was right.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::request::Parts,
    response::Response,
};
use portico_model::error::Error;
use portico_service::{
    identity::Identity,
    sign_in::{self, Preparation, SecondStep, SignInAttempt},
};
use serde_json::Value;

use super::{
    auth::{refuse_foreign, sign_in_settings},
    error::json_response,
    finish::finish,
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
    go_on(&http, &id, request, SecondStep::Code).await
}

/// `POST /api/auth/second-factor/secret {ticket}`.
pub(super) async fn new_secret(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    prepare(&http, &id, request, Preparation::Secret).await
}

/// `POST /api/auth/second-factor/set-up {ticket, secret, code}`.
pub(super) async fn set_up(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    go_on(&http, &id, request, SecondStep::FirstCodes).await
}

/// `POST /api/auth/second-factor/passkey-options {ticket}`.
pub(super) async fn begin_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    prepare(&http, &id, request, Preparation::PasskeyOptions).await
}

/// `POST /api/auth/second-factor/passkey {ticket, credential}`.
pub(super) async fn complete_with_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    go_on(&http, &id, request, SecondStep::Passkey).await
}

/// `POST /api/auth/second-factor/passkey-registration {ticket}`.
pub(super) async fn begin_first_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    prepare(&http, &id, request, Preparation::PasskeyRegistration).await
}

/// `POST /api/auth/second-factor/set-up-passkey {ticket, name, credential}`.
pub(super) async fn set_up_passkey(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    go_on(&http, &id, request, SecondStep::FirstPasskey).await
}

/// Runs the second step of a sign-in, and begins a session.
async fn go_on(http: &Shared, id: &RequestId, request: Request, step: SecondStep) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(http, &parts) {
        return refused;
    }
    let address = client_address(http, &parts);
    let attempt = SignInAttempt::with_second_step(step, &http.service, address, &id.0);
    let result = async {
        let (input, sender) = read(http, id, &parts, body).await?;
        let completed = attempt
            .run_second_step(step, input, &sender, sign_in_settings(http))
            .await?;
        Ok(session::signed_in(http, &completed))
    };
    let result = result.await;
    attempt.end(&result);
    finish(result)
}

/// Prepares the second step.
async fn prepare(http: &Shared, id: &RequestId, request: Request, preparation: Preparation) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(http, &parts) {
        return refused;
    }
    let result = async {
        let (input, sender) = read(http, id, &parts, body).await?;
        let output = sign_in::prepare(&http.service, preparation, input, &sender, &id.0).await?;
        Ok(json_response(output))
    };
    finish(result.await)
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
