//! The gate in front of apps: `GET /api/auth/verify`, which proxies ask, and `GET /api/auth/gate`, which gives a browser its
//! pass.
//!
//! Invariants:
//! - Only trusted proxies may ask. What they ask about must be there once and without contradiction.
//! - The pass is a cookie of its own, for all hosts of the domain. Nothing else reads it, and here nothing else counts.
//! - A browser goes on only to an address of an app that its user may open.

mod answer;
mod question;
pub(crate) mod settings;

use std::net::SocketAddr;

use axum::{
    extract::{ConnectInfo, Extension, Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::Response,
};
use portico_model::{error::Error, refusal::Refusal};
use portico_service::{
    gate::{Decision, Gate, Question, Target},
    identity::{self, cookie_of},
    service::report,
    shape::{Shape, required},
};
use serde_json::json;

use crate::{
    error::{self, json_response},
    finish::finish_and_report,
    request::{RequestId, client_address, identify, query_pairs},
    state::Shared,
};

/// The cookie with the pass: without TLS, and with it.
const PLAIN_COOKIE: &str = "portico_gate";
const SECURE_COOKIE: &str = "__Secure-portico_gate";

/// The cookie that counts how often a browser came for a pass within seconds: without TLS, and with it. With TLS no other host
/// of the domain can set it, and so keep a browser out.
const PLAIN_TRIES: &str = "portico_gate_tries";
const SECURE_TRIES: &str = "__Host-portico_gate_tries";

/// A browser that comes more often does not keep its pass, and would be redirected without end.
const MOST_TRIES: u32 = 10;

pub(crate) const INPUT: Shape =
    Shape::Record(&[required("next", Shape::Text).about("The URL of the app to go on to.")]);
pub(crate) const OUTPUT: Shape =
    Shape::Record(&[required("url", Shape::Text).about("The URL to go on to, as browsers write it.")]);

/// `GET /api/auth/verify`
pub(super) async fn verify(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let result = async {
        let gate = http.gate.as_ref().ok_or(Refusal::GateOff)?;
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        if !http.settings.trusted_proxies.include(peer) {
            return Err(Error::from(Refusal::GateProxy));
        }
        let asked = question::read(&parts.headers).ok_or(Refusal::GateProxy)?;
        let passes: Vec<&str> = cookies_named(&parts.headers, cookie(&http)).collect();
        let question = Question {
            target: &asked.target,
            passes: &passes,
            address: client_address(&http, &parts),
            request_id: &id.0,
        };
        Ok(match gate.decide(http.service.resources(), &question).await? {
            Decision::Pass { visitor } => answer::passes(&parts.headers, visitor.as_deref()),
            Decision::Refuse(refusal) => answer::refuses(&http, &parts.headers, &asked, &refusal),
            Decision::SignIn => answer::sign_in(&http, gate, &asked),
        })
    };
    let result: Result<Response, Error> = result.await;
    result.unwrap_or_else(|error| error::rest(report(error, "gate", &id.0), None))
}

/// `GET /api/auth/gate?next=URL`
pub(super) async fn pass(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    finish_and_report(give_pass(&http, &parts, &id).await, "gate", &id)
}

async fn give_pass(http: &Shared, parts: &Parts, id: &RequestId) -> Result<Response, Error> {
    let gate = http.gate.as_ref().ok_or(Refusal::GateOff)?;
    let headers = &parts.headers;
    let identity = identify(http, parts, id).await?;
    if identity.user_id().is_none() {
        return Err(Error::unauthorized());
    }
    let mut next = query_pairs(parts.uri.query())?
        .into_iter()
        .filter(|(key, _)| key == "next");
    let (Some((_, next)), None) = (next.next(), next.next()) else {
        return Err(Refusal::GateNoApp.into());
    };
    let target = Target::of_url(&next).ok_or(Refusal::GateNoApp)?;
    // A pass follows from the token in the browser's cookie: a program with a key or a token needs none.
    let session = http.settings.cookie();
    let is_explicit = identity::credentials_of(headers, session).is_none_or(|sent| sent.is_explicit());
    let token = cookie_of(headers, session).filter(|_| !is_explicit);
    let token = token.ok_or(Refusal::GateNeedsSession)?;
    let pass = gate
        .admit(http.service.resources(), &target, &identity, token, &id.0)
        .await?;
    let counter = http.settings.cookie_name(PLAIN_TRIES, SECURE_TRIES);
    let tries = cookies_named(headers, counter).find_map(|tries| tries.parse::<u32>().ok());
    let tries = tries.unwrap_or_default().saturating_add(1);
    if tries > MOST_TRIES {
        return Err(Refusal::GateLoop.into());
    }
    let response = json_response(json!({ "url": target.url() }).to_string());
    let seconds = http.settings.sessions.lifetime.as_secs();
    let mut response = with_pass(http, gate, response, &pass, seconds);
    let (path, secure) = match http.settings.is_secure() {
        true => ("/", "; Secure"),
        false => ("/gate", ""),
    };
    let tries = format!("{counter}={tries}; Path={path}; Max-Age=10; HttpOnly; SameSite=Lax{secure}");
    if let Ok(tries) = HeaderValue::from_str(&tries) {
        response.headers_mut().append(header::SET_COOKIE, tries);
    }
    Ok(response)
}

/// The values of all cookies of this name.
fn cookies_named<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let pairs = pairs.filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='));
    pairs.filter_map(move |(key, value)| (key == name).then_some(value))
}

/// This response, which also removes the browser's pass.
pub(super) fn without_pass(http: &Shared, response: Response) -> Response {
    match &http.gate {
        Some(gate) => with_pass(http, gate, response, "", 0),
        None => response,
    }
}

fn with_pass(http: &Shared, gate: &Gate, mut response: Response, pass: &str, seconds: u64) -> Response {
    let (name, domain) = (cookie(http), gate.domain());
    let secure = if http.settings.is_secure() { "; Secure" } else { "" };
    let cookie =
        format!("{name}={pass}; Domain={domain}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// The name of the cookie with the pass.
fn cookie(http: &Shared) -> &'static str {
    http.settings.cookie_name(PLAIN_COOKIE, SECURE_COOKIE)
}
