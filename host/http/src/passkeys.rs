//! `/api/auth/passkeys`: sign-in with a passkey alone.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, request::Parts},
    response::Response,
};
use portico_model::error::Error;
use portico_service::{
    identity::cookie_of,
    sign_in::{self, SignInAttempt},
};

use super::{
    auth::{refuse_foreign, sign_in_settings},
    error::json_response,
    finish::finish,
    request::{RequestId, client_address, identify},
    second_factor::read,
    session,
    state::Shared,
};

/// The cookie of the browser that has begun to sign in with a passkey: without TLS, and with it.
const PLAIN_COOKIE: &str = "portico_passkey";
const SECURE_COOKIE: &str = "__Host-portico_passkey";

/// How long it is kept, in seconds: as long as its challenge is good.
const PATIENCE: u64 = 300;

/// `POST /api/auth/passkeys/options`
pub(super) async fn options(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let begun = async {
        let sender = identify(&http, &parts, &id).await?;
        let browser = browser(&http, &parts.headers);
        let browser = browser.unwrap_or_else(|| http.service.secrets.one_time());
        let begun = sign_in::begin_passkey_sign_in(&http.service, &sender, browser.clone(), &id.0);
        Ok(with_browser(
            &http,
            json_response(begun.await?),
            &browser,
            PATIENCE,
        ))
    };
    finish(begun.await)
}

/// `POST /api/auth/passkeys/sign-in {credential}`
pub(super) async fn sign_in(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::with_passkey(&http.service, client_address(&http, &parts), &id.0);
    let result = try_sign_in(&http, &id, &parts, body, &attempt).await;
    attempt.end(&result);
    finish(result)
}

async fn try_sign_in(
    http: &Shared,
    id: &RequestId,
    parts: &Parts,
    body: Body,
    attempt: &SignInAttempt<'_>,
) -> Result<Response, Error> {
    let (input, sender) = read(http, id, parts, body).await?;
    let sent = attempt.read(input)?;
    let browser = browser(http, &parts.headers).unwrap_or_default();
    let completed = attempt
        .run_passkey(sent, browser, &sender, sign_in_settings(http))
        .await?;
    let response = session::signed_in(http, &completed);
    Ok(with_browser(http, response, "", 0))
}

fn cookie(http: &Shared) -> &'static str {
    http.settings.cookie_name(PLAIN_COOKIE, SECURE_COOKIE)
}

fn browser(http: &Shared, headers: &HeaderMap) -> Option<String> {
    let sent = cookie_of(headers, cookie(http)).map(str::to_owned);
    sent.filter(|secret| !secret.is_empty())
}

fn with_browser(http: &Shared, response: Response, browser: &str, seconds: u64) -> Response {
    session::with_cookie_named(http, cookie(http), response, browser, seconds)
}
