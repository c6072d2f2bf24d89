//! The routes that are no procedures: signing in, health, and the description itself.

use portico_model::error::Code::{self, *};
use portico_service::{procedures::Route, shape::Shape};

use crate::{auth, health, providers};

/// A route that is no procedure.
pub(super) struct Endpoint {
    pub route: Route,
    /// The operation's id.
    pub id: &'static str,
    pub tag: &'static str,
    pub about: &'static str,
    pub input: Shape,
    /// What it answers as JSON.
    pub output: Shape,
    /// Whether it concerns somebody who is signed in.
    pub signed_in: bool,
    pub refusals: &'static [Code],
    /// Whether it sends the browser somewhere else.
    pub redirects: bool,
    /// Another type than JSON.
    pub content_type: Option<&'static str>,
    /// A header of its answer, and what it holds.
    pub header: Option<(&'static str, &'static str)>,
}

const fn endpoint(
    method: &'static str,
    path: &'static str,
    id: &'static str,
    about: &'static str,
) -> Endpoint {
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
        content_type: None,
        header: None,
    }
}

const COOKIE: (&str, &str) = (
    "Set-Cookie",
    "The session's cookie: HttpOnly, SameSite=Lax, and Secure behind TLS.",
);
const WAY_COOKIE: (&str, &str) = (
    "Set-Cookie",
    "What the browser is known by when it comes back, for ten minutes: HttpOnly, SameSite=Lax, and Secure \
     behind TLS.",
);
const ETAG: (&str, &str) = ("ETag", "Changes with the content; send it back in If-None-Match.");

pub(super) static ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        tag: "auth",
        input: auth::SIGN_IN,
        output: auth::SIGNED_IN,
        refusals: &[
            BadRequest,
            Unauthorized,
            PayloadTooLarge,
            UnsupportedMediaType,
            TooManyRequests,
            InternalServerError,
            ServiceUnavailable,
            Timeout,
        ],
        header: Some(COOKIE),
        ..endpoint(
            "POST",
            "/api/auth/sign-in",
            "signIn",
            "Begins a session with a username and a password. `UNAUTHORIZED`, with the same words and the \
             same work, for an unknown user, a wrong password, and a user of another provider. A session of \
             the same user that the request came in on ends.",
        )
    },
    Endpoint {
        tag: "auth",
        refusals: &[
            Forbidden,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
        ],
        header: Some(COOKIE),
        ..endpoint(
            "POST",
            "/api/auth/sign-out",
            "signOut",
            "Ends the session and takes its cookie back. Whoever is not signed in, is so afterwards as \
             well. An API key is no session: it stays. `FORBIDDEN`: another site asks for it.",
        )
    },
    Endpoint {
        tag: "auth",
        output: auth::CURRENT_SESSION,
        signed_in: true,
        refusals: &[
            Unauthorized,
            PayloadTooLarge,
            InternalServerError,
            ServiceUnavailable,
        ],
        ..endpoint(
            "GET",
            "/api/auth/session",
            "getSession",
            "Who is signed in, by a session or a key.",
        )
    },
    Endpoint {
        tag: "auth",
        output: providers::PROVIDERS,
        ..endpoint(
            "GET",
            "/api/auth/providers",
            "getProviders",
            "Who may vouch for users here, and how one signs in with them.",
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
        header: Some(WAY_COOKIE),
        ..endpoint(
            "GET",
            "/api/auth/oidc/start",
            "startOidc",
            "Sends a browser to the issuer to sign in. `FORBIDDEN` while no user exists; `NOT_FOUND` where \
             OpenID Connect is off.",
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
             for every reason, where the issuer does not vouch for whoever comes; `FORBIDDEN` where its user \
             does not fit here.",
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
        output: health::HEALTH,
        refusals: &[PayloadTooLarge, InternalServerError, ServiceUnavailable],
        ..endpoint(
            "GET",
            "/api/health/ready",
            "getReadiness",
            "Whether storage answers and the component runs.",
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
