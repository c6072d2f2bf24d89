//! Sign-in in the manner of Auth.js: for its web client, and for scripts that sign in with a form.
//!
//! The token against forged requests is issued but not checked. Portico has other means against them: it refuses a
//! request that another site makes a browser send.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use portico_http::read_json_bytes;
use portico_model::error::Code;
use portico_model::refusal::{Refusal, SiteRule};
use portico_service::site::foreign_site;
use serde_json::{Map, Value, json};

use crate::{
    caller::{Caller, Reply, is_json},
    cookies, form,
    outcome::{Failure, json_response},
};

/// With this header, Auth.js's client wants the address in the response instead of a redirect.
const RETURN_REDIRECT: HeaderName = HeaderName::from_static("x-auth-return-redirect");

/// The end of a session without an end, for clients that require one.
const NEVER: &str = "9999-12-31T23:59:59.999Z";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Csrf,
    Providers,
    Session,
    SignOut,
    /// With a username and a password at this provider.
    Credentials(&'static str),
    /// With the pages of an issuer.
    Issuer,
}

/// Method, path and what is there.
static ROUTES: [(Method, &str, Route); 7] = [
    (Method::GET, "/api/auth/csrf", Route::Csrf),
    (Method::GET, "/api/auth/providers", Route::Providers),
    (Method::GET, "/api/auth/session", Route::Session),
    (Method::POST, "/api/auth/signout", Route::SignOut),
    (
        Method::POST,
        "/api/auth/callback/credentials",
        Route::Credentials("credentials"),
    ),
    (
        Method::POST,
        "/api/auth/callback/ldap",
        Route::Credentials("ldap"),
    ),
    (Method::POST, "/api/auth/signin/oidc", Route::Issuer),
];

/// The route of a request, if it is one of Auth.js.
pub(crate) fn find(method: &Method, path: &str) -> Option<Route> {
    let mut routes = ROUTES.iter();
    let (.., route) = routes.find(|(own, at, _)| own == method && *at == path)?;
    Some(*route)
}

/// All routes: method and path.
pub(crate) fn routes() -> impl Iterator<Item = (&'static Method, &'static str)> {
    ROUTES.iter().map(|(method, path, _)| (method, *path))
}

pub(crate) async fn respond(caller: &Caller, route: Route, body: Body) -> Response {
    let answered = match route {
        Route::Csrf => csrf(caller),
        Route::Providers => providers(caller).await,
        Route::Session => session(caller).await,
        Route::SignOut => sign_out(caller, body).await,
        Route::Credentials(provider) => sign_in(caller, provider, body).await,
        Route::Issuer => issuer(caller, body).await,
    };
    answered.unwrap_or_else(|failure| failure.rest("sign-in"))
}

/// `GET /api/auth/csrf`
fn csrf(caller: &Caller) -> Result<Response, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| Refusal::Internal)?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (name, secure) = match caller.compat.is_secure {
        true => ("__Host-authjs.csrf-token", "; Secure"),
        false => ("authjs.csrf-token", ""),
    };
    let cookie = format!("{name}={token}; Path=/; HttpOnly; SameSite=Lax{secure}");
    let mut response = json_response(StatusCode::OK, json!({ "csrfToken": token }).to_string());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `GET /api/auth/providers`: those that are on, by id.
async fn providers(caller: &Caller) -> Result<Response, Failure> {
    let reply = caller.send(Method::GET, "/api/auth/providers", None).await?;
    let listed = reply.json().await;
    let Value::Array(listed) = listed else {
        return Ok(as_it_is(reply));
    };
    let origin = caller.origin();
    let on = listed.iter().filter(|provider| provider["isOn"] == true);
    let by_id: Map<_, _> = on
        .filter_map(|provider| {
            let id = provider["provider"].as_str()?;
            let kind = if id == "oidc" { "oidc" } else { "credentials" };
            let provider = json!({
                "id": id,
                "name": provider["label"],
                "type": kind,
                "signinUrl": format!("{origin}/api/auth/signin/{id}"),
                "callbackUrl": format!("{origin}/api/auth/callback/{id}"),
            });
            Some((id.to_owned(), provider))
        })
        .collect();
    Ok(json_response(StatusCode::OK, Value::Object(by_id).to_string()))
}

/// `GET /api/auth/session`: null if no user is signed in.
async fn session(caller: &Caller) -> Result<Response, Failure> {
    let reply = caller.send(Method::GET, "/api/auth/session", None).await?;
    if reply.status == StatusCode::UNAUTHORIZED {
        return Ok(json_response(StatusCode::OK, "null"));
    }
    if reply.status != StatusCode::OK {
        return Ok(as_it_is(reply));
    }
    let mut session = reply.json().await;
    session["expires"] = match &session["expiresAt"] {
        Value::Null => NEVER.into(),
        end => end.clone(),
    };
    Ok(json_response(StatusCode::OK, session.to_string()))
}

/// `POST /api/auth/callback/credentials`, with a form: `name`, `password`, `code?`, `callbackUrl?`.
async fn sign_in(caller: &Caller, provider: &str, body: Body) -> Result<Response, Failure> {
    let sent = Sent::read(caller, body).await?;
    let mut credentials = json!({
        "username": sent.value("name").or_else(|| sent.value("username")),
        "password": sent.value("password"),
        "provider": provider,
    });
    if let Some(code) = sent.value("code") {
        credentials["code"] = code.into();
    }
    let reply = caller
        .send(Method::POST, "/api/auth/sign-in", Some(&credentials))
        .await?;
    if reply.status == StatusCode::OK {
        let response = sent.leads_to(&sent.callback_url());
        return Ok(with_cookies(caller, response, &reply));
    }
    let code = match reply.status {
        StatusCode::UNAUTHORIZED if reply.json().await["data"]["secondFactor"].is_array() => "second_factor",
        StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST => "credentials",
        StatusCode::TOO_MANY_REQUESTS => "too_many_requests",
        _ => return Ok(as_it_is(reply)),
    };
    let url = format!("{}/auth/login?error=CredentialsSignin&code={code}", sent.origin);
    let mut response = sent.leads_to(&url);
    if let Some(seconds) = reply.headers.get(header::RETRY_AFTER) {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.clone());
    }
    Ok(response)
}

/// `POST /api/auth/signin/oidc`: leads to the issuer.
async fn issuer(caller: &Caller, body: Body) -> Result<Response, Failure> {
    let sent = Sent::read(caller, body).await?;
    let callback = sent.callback_url();
    let path = callback.strip_prefix(&sent.origin).unwrap_or_default();
    let path = if path.is_empty() { "/" } else { path };
    let url = format!(
        "{}/api/auth/oidc/start?returnTo={}",
        sent.origin,
        form::escape(path)
    );
    Ok(sent.leads_to(&url))
}

/// `POST /api/auth/signout`
async fn sign_out(caller: &Caller, body: Body) -> Result<Response, Failure> {
    let sent = Sent::read(caller, body).await?;
    let reply = caller.send(Method::POST, "/api/auth/sign-out", None).await?;
    if reply.status != StatusCode::OK {
        return Ok(as_it_is(reply));
    }
    let response = sent.leads_to(&sent.callback_url());
    Ok(with_cookies(caller, response, &reply))
}

/// A form that was sent to sign in or out.
struct Sent {
    fields: Vec<(String, String)>,
    origin: String,
    /// Whether the client wants the address in the response instead of a redirect.
    wants_json: bool,
}

impl Sent {
    /// Reads a form, or the same as JSON. Another site cannot send it.
    async fn read(caller: &Caller, body: Body) -> Result<Self, Failure> {
        if let Some(site) = foreign_site(caller.headers(), caller.compat.public_url.as_ref()) {
            return Err(Failure::from(site.refuse(SiteRule::SignInOrOut)));
        }
        let body = caller.read_small(body).await?;
        let fields: Vec<_> = if is_json(caller.headers()) {
            match read_json_bytes(caller.headers(), caller.extensions(), body).await? {
                None => Vec::new(),
                Some(Value::Object(fields)) => fields
                    .into_iter()
                    .filter_map(|(key, value)| Some((key, value.as_str()?.to_owned())))
                    .collect(),
                Some(_) => return Err(Failure::new(Code::BadRequest, "The input must be an object")),
            }
        } else {
            form::pairs(&String::from_utf8_lossy(&body)).collect()
        };
        let is_json = fields.iter().any(|(key, value)| key == "json" && value == "true");
        Ok(Self {
            fields,
            origin: caller.origin(),
            wants_json: is_json || caller.headers().contains_key(RETURN_REDIRECT),
        })
    }

    fn value(&self, key: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(name, _)| name == key)?;
        Some(value)
    }

    /// Where the client wants to go, if that is on this host; otherwise the host's first page.
    fn callback_url(&self) -> String {
        let wanted = self.value("callbackUrl").unwrap_or_default();
        let path = wanted.strip_prefix(&self.origin).unwrap_or(wanted);
        let is_path = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        if is_path && path.bytes().all(|byte| byte.is_ascii_graphic()) {
            format!("{}{path}", self.origin)
        } else {
            self.origin.clone()
        }
    }

    /// A response that leads to this address.
    fn leads_to(&self, url: &str) -> Response {
        if self.wants_json {
            return json_response(StatusCode::OK, json!({ "url": url }).to_string());
        }
        let mut response = json_response(StatusCode::FOUND, Body::empty());
        if let Ok(url) = HeaderValue::from_str(url) {
            response.headers_mut().insert(header::LOCATION, url);
        }
        response
    }
}

/// This response, with the cookies of Portico's response, and the session's cookie also under Auth.js's name.
fn with_cookies(caller: &Caller, mut response: Response, reply: &Reply) -> Response {
    for cookie in reply.headers.get_all(header::SET_COOKIE) {
        response.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    cookies::repeat(&caller.compat, response, true)
}

/// Portico's own response.
fn as_it_is(reply: Reply) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}
