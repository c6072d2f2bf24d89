//! The session's cookie under the name that Auth.js gives it.
//!
//! A client of Homarr stores the cookie whose name it knows. That is a second name for Portico's own cookie, with the
//! same value, and counts only if Portico's own is not sent.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use portico_service::identity::{PLAIN_COOKIE, SECURE_COOKIE, cookie_of};

use crate::Compat;

const PLAIN_ALIAS: &str = "authjs.session-token";
const SECURE_ALIAS: &str = "__Secure-authjs.session-token";

impl Compat {
    /// The name of Portico's cookie, and Auth.js's name for it.
    fn names(&self) -> (&'static str, &'static str) {
        if self.is_secure {
            (SECURE_COOKIE, SECURE_ALIAS)
        } else {
            (PLAIN_COOKIE, PLAIN_ALIAS)
        }
    }
}

/// Adds the cookie of Auth.js under Portico's name. Returns whether it was there.
pub(crate) fn translate(compat: &Compat, headers: &mut HeaderMap) -> bool {
    let (own, alias) = compat.names();
    // Another site of the domain can set the alias, but not Portico's own (`__Host-`), which browsers also have.
    let is_browser = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if compat.is_secure && is_browser {
        return false;
    }
    let Some(token) = cookie_of(headers, alias) else {
        return false;
    };
    if cookie_of(headers, own).is_none()
        && let Ok(cookie) = HeaderValue::from_str(&format!("{own}={token}"))
    {
        headers.append(header::COOKIE, cookie);
    }
    true
}

/// Sets the cookie of Auth.js wherever this response sets Portico's.
pub(crate) fn repeat(compat: &Compat, mut response: Response, has_alias: bool) -> Response {
    if !has_alias {
        return response;
    }
    let (own, alias) = compat.names();
    let is_alias = |cookie: &HeaderValue| cookie.as_bytes().starts_with(alias.as_bytes());
    if response
        .headers()
        .get_all(header::SET_COOKIE)
        .iter()
        .any(is_alias)
    {
        return response;
    }
    let set = response.headers().get_all(header::SET_COOKIE).iter();
    let set = set.filter_map(|cookie| {
        let (name, rest) = cookie.to_str().ok()?.split_once('=')?;
        (name == own).then(|| HeaderValue::from_str(&format!("{alias}={rest}")).ok())?
    });
    for cookie in set.collect::<Vec<_>>() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
