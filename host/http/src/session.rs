//! The answer to whoever signed in or out, with the session's cookie.

use axum::{
    http::{HeaderValue, header},
    response::Response,
};
use portico_model::time;
use portico_sandbox::SignedIn;
use portico_service::{identity::Identity, sessions::Begun};
use serde_json::json;

use super::{error::json_response, state::Shared};

/// The answer to whoever signed in.
pub(super) fn signed_in(http: &Shared, user: &SignedIn, begun: &Begun) -> Response {
    let answer = json!({
        "token": begun.token,
        "expiresAt": time::format(begun.session.expires_at),
        "user": { "id": user.id, "name": user.name },
    });
    with_session(http, json_response(answer.to_string()), begun)
}

/// This answer, with the cookie of a session that began.
pub(super) fn with_session(http: &Shared, response: Response, begun: &Begun) -> Response {
    let seconds = http.settings.sessions.lifetime.as_secs();
    with_cookie(http, response, &begun.token, seconds)
}

/// This answer, with the new cookie of a session that was given another token by the request itself.
pub(super) fn with_renewed(http: &Shared, response: Response, identity: &Identity) -> Response {
    match identity.renewed_token() {
        // Whenever the session ends, the cookie is worth nothing from then on.
        Some(token) => with_cookie(http, response, token, http.settings.sessions.lifetime.as_secs()),
        None => response,
    }
}

/// This answer, with the session's cookie.
pub(super) fn with_cookie(http: &Shared, response: Response, token: &str, seconds: u64) -> Response {
    with_cookie_named(http, http.settings.cookie(), response, token, seconds)
}

/// A cookie is out of reach of scripts and does not travel with requests from other sites.
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
