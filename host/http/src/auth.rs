//! `/api/auth`: the routes of sign-in, sign-out and the session.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::request::Parts,
    response::Response,
};
use portico_model::error::Error;
use portico_model::refusal::SiteRule;
use portico_service::{
    sign_in::{self, SignInAttempt, SignInSettings},
    site::foreign_site,
};

use super::{
    error::{self, json_response},
    finish::finish,
    gate, providers,
    request::{InputLimit, RequestId, client_address, identify, read_json},
    session,
    state::Shared,
};

/// `POST /api/auth/sign-in {username, password, provider?, code?}`.
pub(super) async fn sign_in(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(refused) = refuse_foreign(&http, &parts) {
        return refused;
    }
    let attempt = SignInAttempt::new(&http.service, client_address(&http, &parts), &id.0);
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
    let input = read_json(http, parts, body, InputLimit::small(&http.limits)).await;
    let credentials = attempt.read(input)?;
    let sender = identify(http, parts, id).await?.in_browser(&parts.headers);
    let completed = attempt.run(credentials, &sender, sign_in_settings(http)).await?;
    Ok(session::signed_in(http, &completed))
}

/// Another site could otherwise make its visitor use an account of its choice.
pub(super) fn refuse_foreign(http: &Shared, parts: &Parts) -> Option<Response> {
    let site = foreign_site(&parts.headers, http.settings.public_url.as_ref())?;
    Some(error::rest(site.refuse(SiteRule::SignIn), None))
}

pub(super) fn sign_in_settings(http: &Shared) -> SignInSettings {
    SignInSettings {
        times: http.settings.sessions,
        providers: http.settings.providers.clone(),
    }
}

/// `POST /api/auth/sign-out`.
pub(super) async fn sign_out(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let result = async {
        let identity = identify(&http, &parts, &id).await?;
        sign_in::sign_out(&http.service, &identity, &id.0).await?;
        let response = session::with_cookie(&http, json_response(Body::empty()), "", 0);
        Ok(gate::without_pass(&http, response))
    };
    finish(result.await)
}

/// `GET /api/auth/session`.
pub(super) async fn session(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let result = async {
        let identity = identify(&http, &parts, &id).await?;
        let oidc = http.settings.providers.oidc.as_deref();
        let sign_out_url = oidc.filter(|oidc| oidc.signs_out()).map(|_| providers::SIGN_OUT);
        let current = sign_in::current_session(&http.service, &identity, sign_out_url, &id.0).await?;
        Ok(json_response(current))
    };
    finish(result.await)
}
