//! `/api/auth/providers` and `/api/auth/oidc`: sign-in by an external provider.

use std::collections::HashSet;

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use portico_model::refusal::Refusal;
use portico_model::rule::Rule;
use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_service::{
    external::{
        Directory, Invitation, Issuer, NotResumed, PATIENCE_SECONDS, Returned, SignIn, SignUp, StartRequest,
        find_user, sign_in,
    },
    identity::cookie_of,
    shape::{
        NULLABLE_TEXT, PROVIDER,
        Shape::{self, Boolean, Choice, List, Named, Record, Text},
        optional, required,
    },
    sign_in::PasswordSignIn,
};
use serde_json::json;

use super::{
    error::json_response,
    fallback::wrong_method,
    finish::finish_and_report,
    place::Elsewhere,
    request::{RequestId, client_address, identify, query_pairs},
    session,
    state::Shared,
};

const START: &str = "/api/auth/oidc/start";
pub(super) const SIGN_OUT: &str = "/api/auth/oidc/sign-out";

/// The cookie by which a browser is recognised when it comes back from the issuer: without TLS, and with it.
const PLAIN_COOKIE: &str = "portico_oidc";
const SECURE_COOKIE: &str = "__Host-portico_oidc";

/// The longest path to return to, in characters.
const LONGEST_PATH: usize = 512;

pub(crate) const START_INPUT: Shape = Record(&[
    optional("returnTo", Text)
        .about("The path on this host to go to afterwards, with query and fragment; at most 512 characters of ASCII. The default is /."),
    optional("inviteId", Text)
        .about("The id of the invite by which a person who has no user yet becomes one; it is then used up."),
    optional("token", Text).about("The invite's secret."),
]);

pub(crate) const CALLBACK_INPUT: Shape = Record(&[
    optional("state", Text).about("Identifies the sign-in."),
    optional("code", Text).about("The code that is exchanged for a token at the issuer."),
    optional("iss", Text).about("The issuer."),
    optional("error", Text).about("The issuer's error code."),
    optional("error_description", Text).about("The issuer's explanation, for the log."),
]);

/// The response with the list of providers.
pub(crate) const PROVIDERS: Shape = List(&Named(
    "IdentityProvider",
    &Record(&[
        required("provider", PROVIDER).about("The provider's identifier."),
        required("label", Text).about("The provider's name for people."),
        required("isOn", Boolean).about("Whether sign-in with this provider is enabled."),
        required("isDefault", Boolean).about("Whether a page for signing in leads there by itself."),
        required("signUp", Choice(&["on", "invite", "off"])).about(
            "Whether a person who has no user yet becomes one by signing in; `invite`: with the link of an invite.",
        ),
        required("signOutUrl", NULLABLE_TEXT)
            .about("Where a browser goes on to sign out at the provider, after `POST /api/auth/sign-out`; null: nowhere."),
        required("startUrl", NULLABLE_TEXT)
            .about("Where a browser begins to sign in; null: `POST /api/auth/sign-in`, with this provider."),
    ]),
));

/// `GET /api/auth/providers`
pub(super) async fn providers(State(http): State<Shared>) -> Response {
    let providers = &http.settings.providers;
    let oidc = providers.oidc.as_deref();
    let ldap = providers.ldap.as_deref();
    let passwords = http.service.passwords;
    // As `user.register` does.
    let by_password = match passwords {
        PasswordSignIn::On => SignUp::ByInvite,
        PasswordSignIn::Administrators | PasswordSignIn::Off => SignUp::Off,
    };
    // A directory needs the form of the sign-in page.
    let is_default = passwords != PasswordSignIn::On && ldap.is_none() && oidc.is_some();
    let answer = json!([
        {
            "provider": "credentials",
            "label": "Username and password",
            "isOn": passwords != PasswordSignIn::Off,
            "signUp": by_password.name(),
            "startUrl": null,
            "signOutUrl": null,
            "isDefault": !is_default,
        },
        {
            "provider": "oidc",
            "label": oidc.map_or("OpenID Connect", |oidc| oidc.label()),
            "isOn": oidc.is_some(),
            "signUp": oidc.map_or(SignUp::Off, Issuer::sign_up).name(),
            "startUrl": START,
            "signOutUrl": oidc.filter(|oidc| oidc.signs_out()).map(|_| SIGN_OUT),
            "isDefault": is_default,
        },
        {
            "provider": "ldap",
            "label": ldap.map_or("LDAP", |ldap| ldap.label()),
            "isOn": ldap.is_some(),
            "signUp": ldap.map_or(SignUp::Off, Directory::sign_up).name(),
            "startUrl": null,
            "signOutUrl": null,
            "isDefault": false,
        },
    ]);
    json_response(answer.to_string())
}

/// Refuses any method but `GET` at the two paths below. axum would treat `HEAD` like `GET`, and so begin or end a
/// sign-in for a client that only checks the address.
pub(super) async fn only_opened(request: Request) -> Response {
    wrong_method(&request, "GET")
}

/// `GET /api/auth/oidc/start?returnTo=/path`
pub(super) async fn start(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let started = try_start(&http, &id, &parts).await;
    record_refusal(&http, &id, &parts, None, &started);
    finish_and_report(started, "oidc.start", &id)
}

/// Records a refusal in the audit log, with the id of the user if they are known, unless OpenID Connect is off.
fn record_refusal(
    http: &Shared,
    id: &RequestId,
    parts: &Parts,
    user_id: Option<String>,
    answer: &Result<Response, Error>,
) {
    if let Err(error) = answer
        && error.code != Code::NotFound
    {
        let address = client_address(http, parts);
        let audit = &http.service.audit;
        audit.refuse_sign_in(Provider::Oidc, user_id, address, &id.0, error);
    }
}

async fn try_start(http: &Shared, id: &RequestId, parts: &Parts) -> Result<Response, Error> {
    let (oidc, service) = (on(http)?, &http.service);
    check_opened(parts)?;
    check_not_framed(parts)?;
    let settings = &http.settings;
    let elsewhere = Elsewhere::of(parts, settings.public_url.as_ref(), &settings.trusted_proxies);
    if let Some(redirect) = elsewhere.and_then(|elsewhere| elsewhere.redirect()) {
        return Ok(redirect);
    }
    let query = Query::read(parts)?;
    let return_to = query.get("returnTo").map_or("/", String::as_str);
    check_path(return_to).map_err(|rule| Error::invalid_field("returnTo", rule))?;
    let identity = identify(http, parts, id).await?;
    let attempt = service.throttle.begin(None, identity.address).await?;
    service.require_users(&id.0).await?;
    let (invite, token) = (query.get("inviteId"), query.get("token"));
    let mut invitation = None;
    if invite.is_some() || token.is_some() {
        let text = |given: Option<&String>| given.cloned().unwrap_or_default();
        // Tries to guess one count like a password's: the attempt is dropped with the refusal.
        invitation = Some(Invitation::open(service, &text(invite), &text(token), &id.0).await?);
    }
    let request = StartRequest {
        browser: browser(http, &parts.headers),
        return_to: return_to.into(),
        invitation,
    };
    let started = oidc.start(&service.secrets, request, attempt, &id.0).await?;
    let response = redirect(&started.url)?;
    Ok(with_browser(http, response, &started.browser, PATIENCE_SECONDS))
}

/// `GET /api/auth/oidc/sign-out`
pub(super) async fn sign_out(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let led = async {
        let oidc = on(&http)?;
        if !oidc.signs_out() {
            return Err(Refusal::ProviderSignOutOff.into());
        }
        check_opened(&parts)?;
        check_not_framed(&parts)?;
        redirect(&oidc.sign_out_url(&id.0).await?)
    };
    finish_and_report(led.await, "oidc.sign-out", &id)
}

/// `GET /api/auth/oidc/callback`
pub(super) async fn callback(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let mut refused_user = None;
    let returned = try_callback(&http, &id, &parts, &mut refused_user).await;
    record_refusal(&http, &id, &parts, refused_user, &returned);
    finish_and_report(returned, "oidc.callback", &id)
}

async fn try_callback(
    http: &Shared,
    id: &RequestId,
    parts: &Parts,
    refused_user: &mut Option<String>,
) -> Result<Response, Error> {
    let (oidc, service) = (on(http)?, &http.service);
    check_opened(parts)?;
    let identity = identify(http, parts, id).await?;
    let browser = browser(http, &parts.headers).unwrap_or_default();
    let returned = Query::read(parts).map(|query| query.returned(&browser));
    let resumed = match returned {
        Ok(returned) => oidc.resume(returned, &service.throttle).await,
        Err(_) => Err(NotResumed::Refused(
            "the query of the callback cannot be read".into(),
        )),
    };
    let resumed = match resumed {
        Ok(resumed) => resumed,
        Err(NotResumed::Failed(error)) => return Err(error),
        Err(NotResumed::Refused(why)) => {
            check_not_framed(parts)?;
            // The browser's history or its button "back" opens a callback again, whose sign-in is complete.
            if identity.user_id().is_some() {
                return redirect("/");
            }
            let attempt = service.throttle.begin(None, identity.address).await?;
            // Logged only once the throttle has counted it, so that the throttle bounds the log too.
            let refused = Err(oidc.refuse(&why, &id.0));
            attempt.settle(&refused).await;
            return refused;
        }
    };
    let signed_in = async {
        let external = oidc.complete(&resumed, &id.0).await?;
        let request = SignIn {
            resources: service,
            times: Some(&http.settings.sessions),
            sender: &identity.in_browser(&parts.headers),
            request_id: &id.0,
            invitation: resumed.invitation.as_ref(),
        };
        let person = external.identity.clone();
        let signed_in = sign_in(&request, external).await;
        let is_refused = |error: &Error| matches!(error.code, Code::Unauthorized | Code::Forbidden);
        if signed_in.as_ref().is_err_and(is_refused) {
            // If it cannot be read, the refusal stays what it is.
            let known = service.in_time(find_user(service, &person, &id.0)).await;
            *refused_user = known.unwrap_or_default();
        }
        signed_in
    };
    let signed_in = signed_in.await;
    let return_to = resumed.settle(&signed_in).await;
    let (_, issued) = signed_in?;
    service.audit.signed_in(Provider::Oidc);
    let mut response = session::with_session(http, redirect(&return_to)?, &issued);
    // If that is not known, the cookie stays until it expires.
    if !oidc.awaits(&browser).await.unwrap_or(true) {
        response = with_browser(http, response, "", 0);
    }
    Ok(response)
}

/// Refuses a frame in a page of another site. The frame may be invisible, and would use up the login attempts of the
/// person who looks at that page. Sign-in could not work there, because browsers send no cookies for such a frame.
fn check_not_framed(parts: &Parts) -> Result<(), Error> {
    let has = |name, value| parts.headers.get(name).is_some_and(|sent| sent == value);
    let is_framed = parts.headers.contains_key("sec-fetch-dest") && !has("sec-fetch-dest", "document");
    if is_framed && has("sec-fetch-site", "cross-site") {
        return Err(Refusal::InFrame.into());
    }
    Ok(())
}

/// Refuses a browser's request unless it opens a page. An image or a script in a page of another site would use
/// up the login attempts of the person who looks at that page.
fn check_opened(parts: &Parts) -> Result<(), Error> {
    match parts.headers.get("sec-fetch-mode") {
        Some(mode) if mode != "navigate" => Err(Refusal::NotOpened.into()),
        _ => Ok(()),
    }
}

fn on(http: &Shared) -> Result<&dyn Issuer, Error> {
    let oidc = http.settings.providers.oidc.as_deref();
    oidc.ok_or_else(|| Refusal::ProviderOff.into())
}

/// A query string in which no key occurs twice.
struct Query(Vec<(String, String)>);

impl Query {
    fn read(parts: &Parts) -> Result<Self, Error> {
        let pairs = query_pairs(parts.uri.query())?;
        let mut keys = HashSet::new();
        if !pairs.iter().all(|(key, _)| keys.insert(key)) {
            return Err(Refusal::QueryKeyTwice.into());
        }
        Ok(Self(pairs))
    }

    fn get(&self, key: &str) -> Option<&String> {
        let mut pairs = self.0.iter();
        pairs.find_map(|(found, value)| (found == key).then_some(value))
    }

    fn returned(&self, browser: &str) -> Returned {
        Returned {
            state: self.get("state").cloned().unwrap_or_default(),
            code: self.get("code").cloned(),
            error: self.get("error").cloned(),
            error_description: self.get("error_description").cloned(),
            issuer: self.get("iss").cloned(),
            browser: browser.into(),
        }
    }
}

/// Checks that browsers read a path as one on this host. (They read `\` as `/`, ignore tabs and line ends, and read
/// what follows `//` as another host.)
fn check_path(path: &str) -> Result<(), Rule> {
    let mut bytes = path.bytes();
    if bytes.next() != Some(b'/') || bytes.next() == Some(b'/') {
        return Err(Rule::NotPathOfHost);
    }
    if path.len() > LONGEST_PATH {
        return Err(Rule::PathTooLong { most: LONGEST_PATH });
    }
    if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        return Err(Rule::NotVisiblePath);
    }
    Ok(())
}

fn redirect(to: &str) -> Result<Response, Error> {
    let to = HeaderValue::from_str(to).map_err(Error::internal)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

fn cookie(http: &Shared) -> &'static str {
    http.settings.cookie_name(PLAIN_COOKIE, SECURE_COOKIE)
}

fn browser(http: &Shared, headers: &HeaderMap) -> Option<String> {
    cookie_of(headers, cookie(http)).map(Into::into)
}

fn with_browser(http: &Shared, response: Response, browser: &str, seconds: u64) -> Response {
    session::with_cookie_named(http, cookie(http), response, browser, seconds)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn a_path_to_return_to_is_on_this_host_as_browsers_read_it() {
        let here = Url::parse("https://portico.example/api/auth/oidc/callback").unwrap();
        for path in [
            "/",
            "/boards/1?edit=true#top",
            "/%2f%2fevil.example",
            "/%5cevil.example",
            "/..//evil.example",
            "/.//evil.example",
            "/@evil.example",
            "/:80",
            "/;//evil.example",
            "/?next=https://evil.example",
        ] {
            assert_eq!(check_path(path), Ok(()), "{path}");
            assert_eq!(here.join(path).unwrap().origin(), here.origin(), "{path}");
        }
        for path in [
            "",
            "boards",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/a\\b",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "/ /evil.example",
            "https://evil.example",
            "https:/evil.example",
            "javascript:alert(1)",
            "/\u{2f}/evil.example",
            "/ü",
            "/\u{7f}",
        ] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert!(check_path(&format!("/{}", "a".repeat(511))).is_ok());
        assert!(check_path(&format!("/{}", "a".repeat(512))).is_err());
    }
}
