//! Responses that set or remove the session's cookie.

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use portico_model::time;
use portico_service::{identity::Identity, sessions::IssuedSession, sign_in::Completed};
use serde_json::json;

use super::{error::json_response, state::Shared};

/// The response to a successful sign-in.
pub(super) fn signed_in(http: &Shared, completed: &Completed) -> Response {
    let Completed {
        user,
        issued,
        recovery_codes,
    } = completed;
    let mut answer = json!({
        "token": issued.token,
        "expiresAt": time::format(issued.session.expires_at),
        "user": { "id": user.id, "name": user.name },
    });
    if !recovery_codes.is_empty() {
        answer["recoveryCodes"] = json!(recovery_codes);
    }
    with_session(http, json_response(answer.to_string()), issued)
}

/// This response, with the cookie of a new session.
pub(super) fn with_session(http: &Shared, response: Response, issued: &IssuedSession) -> Response {
    let seconds = http.settings.sessions.lifetime.as_secs();
    with_cookie(http, response, &issued.token, seconds)
}

/// This response, with a new cookie if the request gave its session another token.
pub(super) fn with_renewed(http: &Shared, response: Response, identity: &Identity) -> Response {
    match identity.renewed_token() {
        // The session may end before its cookie, which is then invalid.
        Some(token) => with_cookie(http, response, token, http.settings.sessions.lifetime.as_secs()),
        None => response,
    }
}

/// This response, with the session's cookie.
pub(super) fn with_cookie(http: &Shared, response: Response, token: &str, seconds: u64) -> Response {
    with_cookie_named(http, http.settings.cookie(), response, token, seconds)
}

/// This response, with a cookie that scripts cannot read and that browsers do not send with requests from other sites.
pub(super) fn with_cookie_named(
    http: &Shared,
    name: &str,
    mut response: Response,
    token: &str,
    seconds: u64,
) -> Response {
    let secure = if http.settings.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
