//! The routes that are not procedure calls: sign-in, health, and the description itself.

use portico_model::error::Code::{self, *};
use portico_sandbox::{Access, Kind};
use portico_service::{
    procedures::{Procedure, Route},
    shape::{Shape, required},
};

use crate::{gate, health, providers};

/// A route that is not a procedure call.
pub(super) struct Endpoint<'a> {
    pub route: Route,
    pub id: &'a str,
    pub tag: &'static str,
    pub about: &'static str,
    pub input: Shape,
    /// The shape of its JSON response.
    pub output: Shape,
    /// Whether the caller has to be signed in.
    pub signed_in: bool,
    pub refusals: &'a [Code],
    /// Whether it redirects the browser.
    pub redirects: bool,
    /// Whether proxies call it: it returns no body where a request may pass, and where a person has to sign in first with a
    /// redirect.
    pub is_gate: bool,
    /// The content type, if it is not JSON.
    pub content_type: Option<&'static str>,
    /// A header of its response, and the header's description.
    pub header: Option<(&'static str, &'static str)>,
}

impl<'a> Endpoint<'a> {
    /// A procedure that is reached only at its route, with its [`id`] and [`refusals`].
    pub fn of(procedure: &Procedure, id: &'a str, refusals: &'a [Code]) -> Option<Self> {
        Some(Self {
            route: procedure.route?,
            id,
            tag: "auth",
            about: procedure.about(),
            input: procedure.input,
            output: procedure.output,
            signed_in: matches!(procedure.access, Access::Protected),
            refusals,
            redirects: false,
            is_gate: false,
            content_type: None,
            header: cookie_of(procedure),
        })
    }
}

/// How a procedure that is reached only at its route may refuse a call.
pub(super) fn refusals(procedure: &Procedure) -> Vec<Code> {
    let mut refusals = vec![PayloadTooLarge, InternalServerError, ServiceUnavailable];
    if !matches!(procedure.input, Shape::Nothing) {
        refusals.extend([BadRequest, UnsupportedMediaType, Timeout]);
    }
    if matches!(procedure.access, Access::Protected) {
        refusals.push(Unauthorized);
    }
    refusals.extend(procedure.refusals);
    refusals
}

/// The id of its operation: `signIn` for `sign-in`, `getSession` for the query `session`.
pub(super) fn id(procedure: &Procedure) -> String {
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    let mut words = procedure.name.split('-');
    let first = words.next().unwrap_or_default();
    let first = match procedure.kind {
        Kind::Query => format!("get{}", capitalised(first)),
        Kind::Mutation => first.to_owned(),
    };
    first + &words.map(capitalised).collect::<String>()
}

const fn endpoint(
    method: &'static str,
    path: &'static str,
    id: &'static str,
    about: &'static str,
) -> Endpoint<'static> {
    Endpoint {
        route: Route { method, path },
        id,
        tag: "description",
        about,
        input: Shape::Nothing,
        output: Shape::Nothing,
        signed_in: false,
        refusals: &[PayloadTooLarge],
        redirects: false,
        is_gate: false,
        content_type: None,
        header: None,
    }
}

/// What comes before the session.
const BEFORE_SESSION: [&str; 3] = [
    "second-factor-secret",
    "second-factor-passkey-options",
    "second-factor-passkey-registration",
];
const PASSKEY_OPTIONS: &str = "passkey-options";

/// The cookie that it sets: sign-in sets that of the session, and sign-out removes it.
fn cookie_of(procedure: &Procedure) -> Option<(&'static str, &'static str)> {
    match procedure.name {
        PASSKEY_OPTIONS => Some(PASSKEY_COOKIE),
        name if BEFORE_SESSION.contains(&name) => None,
        _ => (procedure.kind == Kind::Mutation).then_some(COOKIE),
    }
}

const COOKIE: (&str, &str) = (
    "Set-Cookie",
    "The session's cookie: HttpOnly, SameSite=Lax, and Secure behind TLS.",
);
const GATE_COOKIE: (&str, &str) = (
    "Set-Cookie",
    "The pass, for all hosts of the gate's domain: HttpOnly, SameSite=Lax, and Secure behind TLS.",
);
const BROWSER_COOKIE: (&str, &str) = (
    "Set-Cookie",
    "A name by which the browser is recognised when it comes back, for ten minutes: HttpOnly, SameSite=Lax, and Secure \
     behind TLS.",
);
const PASSKEY_COOKIE: (&str, &str) = (
    "Set-Cookie",
    "A name by which the browser is recognised when it sends the passkey, for five minutes: HttpOnly, SameSite=Lax, and Secure \
     behind TLS.",
);
const ETAG: (&str, &str) = ("ETag", "Changes with the content; send it back in If-None-Match.");

const PICTURE_INPUT: Shape =
    Shape::Record(&[required("id", Shape::Text).about("The picture's id: 64 hexadecimal digits.")]);

pub(super) static ENDPOINTS: &[Endpoint<'_>] = &[
    Endpoint {
        tag: "pictures",
        input: PICTURE_INPUT,
        refusals: &[
            BadRequest,
            NotFound,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
            Timeout,
        ],
        content_type: Some("image/*"),
        header: Some(ETAG),
        ..endpoint(
            "GET",
            "/api/pictures/{id}",
            "getPicture",
            "An uploaded picture: PNG, JPEG, WebP, GIF, AVIF or ICO. Everyone who knows the id gets it, and clients may keep \
             it for ever.",
        )
    },
    Endpoint {
        tag: "auth",
        output: providers::PROVIDERS,
        ..endpoint(
            "GET",
            "/api/auth/providers",
            "getProviders",
            "The identity providers of this service, and how to sign in with each.",
        )
    },
    Endpoint {
        tag: "auth",
        input: providers::START_INPUT,
        redirects: true,
        refusals: &[
            BadRequest,
            Forbidden,
            NotFound,
            PayloadTooLarge,
            TooManyRequests,
            InternalServerError,
            ServiceUnavailable,
        ],
        header: Some(BROWSER_COOKIE),
        ..endpoint(
            "GET",
            "/api/auth/oidc/start",
            "startOidc",
            "Sends a browser to the issuer to sign in, or first to the public URL if it was opened elsewhere. `FORBIDDEN` while no user exists; `NOT_FOUND` where \
             OpenID Connect is off.",
        )
    },
    Endpoint {
        tag: "auth",
        redirects: true,
        refusals: &[
            Forbidden,
            NotFound,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
        ],
        ..endpoint(
            "GET",
            "/api/auth/oidc/sign-out",
            "signOutOidc",
            "Sends a browser to the issuer to sign out there too. The session here ends with `POST /api/auth/sign-out`. \
             `NOT_FOUND` where that is off.",
        )
    },
    Endpoint {
        tag: "auth",
        input: providers::CALLBACK_INPUT,
        redirects: true,
        refusals: &[
            Unauthorized,
            Forbidden,
            NotFound,
            PayloadTooLarge,
            TooManyRequests,
            InternalServerError,
            ServiceUnavailable,
            Timeout,
        ],
        header: Some(COOKIE),
        ..endpoint(
            "GET",
            "/api/auth/oidc/callback",
            "completeOidc",
            "Where the issuer sends the browser back to: begins a session. `UNAUTHORIZED`, with the same words \
             for every reason, where the issuer does not vouch for the user; `FORBIDDEN` if the \
             account cannot be accepted.",
        )
    },
    Endpoint {
        tag: "auth",
        is_gate: true,
        refusals: &[
            Unauthorized,
            Forbidden,
            NotFound,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
            Timeout,
        ],
        ..endpoint(
            "GET",
            "/api/auth/verify",
            "verifyAtGate",
            "Whether a request at a proxy may reach its app (docs/gate.md), for proxies alone. `NOT_FOUND` where the gate is \
             off.",
        )
    },
    Endpoint {
        tag: "auth",
        input: gate::INPUT,
        output: gate::OUTPUT,
        refusals: &[
            BadRequest,
            Unauthorized,
            Forbidden,
            NotFound,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
            Timeout,
        ],
        header: Some(GATE_COOKIE),
        ..endpoint(
            "GET",
            "/api/auth/gate",
            "getGatePass",
            "Gives the browser of a session its pass at the gate, if its user may open the app. `NOT_FOUND` where the gate is \
             off.",
        )
    },
    Endpoint {
        tag: "health",
        output: health::HEALTH,
        ..endpoint(
            "GET",
            "/api/health/live",
            "getLiveness",
            "Whether the process answers.",
        )
    },
    Endpoint {
        tag: "health",
        output: health::READINESS,
        refusals: &[PayloadTooLarge, InternalServerError, ServiceUnavailable],
        ..endpoint(
            "GET",
            "/api/health/ready",
            "getReadiness",
            "Whether storage answers and the component runs, and which component it is.",
        )
    },
    Endpoint {
        content_type: Some("application/json"),
        header: Some(ETAG),
        ..endpoint("GET", "/api/openapi", "getDescription", "This document.")
    },
    Endpoint {
        content_type: Some("text/html; charset=utf-8"),
        header: Some(ETAG),
        ..endpoint(
            "GET",
            "/api/docs",
            "getDocs",
            "This document as a page for people.",
        )
    },
];
