//! The rows of sign-in, sign-out and the session. `crate::sign_in` runs them.

use portico_model::error::Code;
use portico_sandbox::Kind;

use super::row::{Recorded, Row, route_only};
use crate::{
    audit::SIGN_IN,
    shape::{
        COLOR_SCHEME, NAMED, NULLABLE_DATE, NULLABLE_TEXT, PROVIDER,
        Shape::{Date, List, Named, Nothing, Record, Text},
        Shaped, required,
    },
    sign_in::Credentials,
};

/// The name of sign-out in the table and in the audit log.
pub(crate) const SIGN_OUT: &str = "sign-out";
/// The name of the session in the table.
pub(crate) const SESSION: &str = "session";

pub(super) static ROWS: &[Row] = &[
    // The row of a sign-in names the provider, and not the sender of the request.
    route_only(
        SIGN_IN,
        Kind::Mutation,
        "/api/auth/sign-in",
        Named("SignIn", &Credentials::SHAPE),
        Named(
            "SignedIn",
            &Record(&[
                required("token", Text)
                    .about("The session's token, also in the cookie. It is shown only here."),
                required("expiresAt", Date).about("When the session ends unless it is used before."),
                required("user", NAMED).about("Who signed in."),
            ]),
        ),
    )
    .about(
        "Begins a session with a username and a password. `UNAUTHORIZED`, with the same words and the \
         same work, for an unknown user, a wrong password, and a user of another provider. A session of \
         the same user that the request came in on ends. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::TooManyRequests, Code::Unauthorized])
    .recorded(Recorded::None),
    route_only(SIGN_OUT, Kind::Mutation, "/api/auth/sign-out", Nothing, Nothing)
        .about(
            "Ends the session and removes its cookie. A caller without a session stays signed out. An API key is \
             not a session and stays valid. `FORBIDDEN`: another site asks for it.",
        )
        .refuses(&[Code::Forbidden])
        .recorded(Recorded::Changes),
    route_only(
        SESSION,
        Kind::Query,
        "/api/auth/session",
        Nothing,
        Named(
            "CurrentSession",
            &Record(&[
                required(
                    "user",
                    Named(
                        "SessionUser",
                        &Record(&[
                            required("id", Text).about("The user's id."),
                            required("name", Text).about("The user's name."),
                            required("email", NULLABLE_TEXT).about("The user's email."),
                            required("image", NULLABLE_TEXT).about("The user's image: a data URI or a URL."),
                            required("provider", PROVIDER)
                                .about("The user's identity provider."),
                            required("colorScheme", COLOR_SCHEME)
                                .about("How the dashboard looks to the user."),
                            required("permissions", List(&Text))
                                .about("What the user may do, as the groups of the user have it; with a key, what the key gives of it."),
                        ]),
                    ),
                )
                .about("Who is signed in."),
                required("expiresAt", NULLABLE_DATE)
                    .about("When the session, unless it is used, or the key ends; null = never."),
            ]),
        ),
    )
    .about("Who is signed in, by a session or a key.")
    .protected()
    .recorded(Recorded::None),
];
