//! The rows of sign-in, sign-out and the session. `crate::sign_in` runs them.

use portico_model::error::Code;
use portico_sandbox::Kind;

use super::row::{Recorded, Row, route_only};
use crate::{
    audit::SIGN_IN,
    second_factor::passkeys::OPTIONS,
    shape::{
        COLOR_SCHEME, Field, NAMED, NULLABLE_DATE, NULLABLE_TEXT, PROVIDER,
        Shape::{self, Date, List, Named, Nothing, Record, Text},
        Shaped, join, required,
    },
    sign_in::{Credentials, FirstFactor, FirstPasskey, HeldPasskey, HeldTicket, SentCode, SentPasskey},
};

/// The name of sign-out in the table and in the audit log.
pub(crate) const SIGN_OUT: &str = "sign-out";
/// The name of the session in the table.
pub(crate) const SESSION: &str = "session";

/// The names of the routes by which a sign-in in two steps goes on.
pub(crate) const CODE: &str = "second-factor";
pub(crate) const SECRET: &str = "second-factor-secret";
pub(crate) const SET_UP: &str = "second-factor-set-up";
pub(crate) const FACTOR_OPTIONS: &str = "second-factor-passkey-options";
pub(crate) const PASSKEY: &str = "second-factor-passkey";
pub(crate) const FACTOR_REGISTRATION: &str = "second-factor-passkey-registration";
pub(crate) const SET_UP_PASSKEY: &str = "second-factor-set-up-passkey";

/// The names of the routes by which people sign in with a passkey alone.
pub(crate) const PASSKEY_OPTIONS: &str = "passkey-options";
pub(crate) const PASSKEY_SIGN_IN: &str = "passkey-sign-in";

/// How the routes of passkeys refuse.
const REFUSALS: &[Code] = &[
    Code::Forbidden,
    Code::NotFound,
    Code::TooManyRequests,
    Code::Unauthorized,
];
const REFUSALS_OF_OPTIONS: &[Code] = &[
    Code::Conflict,
    Code::Forbidden,
    Code::NotFound,
    Code::TooManyRequests,
    Code::Unauthorized,
];

const SIGNED_IN: &[Field] = &[
    required("token", Text).about("The session's token, also in the cookie. It is shown only here."),
    required("expiresAt", Date).about("When the session ends unless it is used before."),
    required("user", NAMED).about("Who signed in."),
];

pub(crate) const NEW_SECRET: Shape = Named(
    "NewSecret",
    &Record(&[
        required("secret", Text).about("The secret, in Base32, to type into an app."),
        required("uri", Text).about("The same as a URI (`otpauth:`), to show as a QR code."),
    ]),
);

pub(crate) const RECOVERY_CODES: Shape = List(&Text);

pub(super) static ROWS: &[Row] = &[
    // The row of a sign-in names the provider, and not the sender of the request.
    route_only(
        SIGN_IN,
        Kind::Mutation,
        "/api/auth/sign-in",
        Named("SignIn", &Credentials::SHAPE),
        Named("SignedIn", &Record(SIGNED_IN)),
    )
    .about(
        "Begins a session with a username and a password. `UNAUTHORIZED`, with the same words and the \
         same work, for an unknown user, a wrong password, and a user of another provider. A right password without \
         the second factor that its user has, or must have, is `UNAUTHORIZED` with `data.secondFactor` and \
         `data.ticket`. A session of \
         the same user that the request came in on ends. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::TooManyRequests, Code::Unauthorized])
    .recorded(Recorded::None),
    route_only(
        CODE,
        Kind::Mutation,
        "/api/auth/second-factor",
        Named("SecondFactorCode", &SentCode::SHAPE),
        Named("SignedIn", &Record(SIGNED_IN)),
    )
    .about(
        "Completes a sign-in whose password was right, with the second factor of the user. `UNAUTHORIZED`: the code is \
         wrong or was used before, or the ticket has ended: after ten minutes, ten wrong codes, or another password. \
         `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::TooManyRequests, Code::Unauthorized])
    .recorded(Recorded::None),
    route_only(
        SECRET,
        Kind::Mutation,
        "/api/auth/second-factor/secret",
        Named("SignInTicket", &HeldTicket::SHAPE),
        NEW_SECRET,
    )
    .about(
        "Makes a secret for the app of a user who must set up a second factor to sign in. Nothing is stored. \
         `UNAUTHORIZED`: the ticket has ended. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::TooManyRequests, Code::Unauthorized])
    .recorded(Recorded::None),
    route_only(
        SET_UP,
        Kind::Mutation,
        "/api/auth/second-factor/set-up",
        Named("FirstSecondFactor", &FirstFactor::SHAPE),
        Named(
            "SignedInWithFactor",
            &Record(join!(SIGNED_IN, &[required("recoveryCodes", RECOVERY_CODES)
                .about("Codes for when the app is lost, each good once. They are shown only here.")])),
        ),
    )
    .about(
        "Sets up the first second factor of a user who must have one, and completes their sign-in. `UNAUTHORIZED`: the \
         ticket has ended, or the user has a second factor by now. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::Conflict, Code::TooManyRequests, Code::Unauthorized])
    .recorded(Recorded::None),
    route_only(
        FACTOR_OPTIONS,
        Kind::Mutation,
        "/api/auth/second-factor/passkey-options",
        Named("SignInTicket", &HeldTicket::SHAPE),
        OPTIONS,
    )
    .about(
        "Begins to complete a sign-in whose password was right with a passkey of the user. `UNAUTHORIZED`: the ticket has \
         ended. `CONFLICT`: the user has no passkey. `NOT_FOUND`: passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(REFUSALS_OF_OPTIONS)
    .recorded(Recorded::None),
    route_only(
        PASSKEY,
        Kind::Mutation,
        "/api/auth/second-factor/passkey",
        Named("SecondFactorPasskey", &HeldPasskey::SHAPE),
        Named("SignedIn", &Record(SIGNED_IN)),
    )
    .about(
        "Completes a sign-in whose password was right, with a passkey of the user. `UNAUTHORIZED`: the passkey was not \
         accepted, or the ticket has ended. `NOT_FOUND`: passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(REFUSALS)
    .recorded(Recorded::None),
    route_only(
        FACTOR_REGISTRATION,
        Kind::Mutation,
        "/api/auth/second-factor/passkey-registration",
        Named("SignInTicket", &HeldTicket::SHAPE),
        OPTIONS,
    )
    .about(
        "Begins to make the first passkey of a user who must set up a second factor to sign in. Nothing is stored. \
         `UNAUTHORIZED`: the ticket has ended. `NOT_FOUND`: passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(REFUSALS)
    .recorded(Recorded::None),
    route_only(
        SET_UP_PASSKEY,
        Kind::Mutation,
        "/api/auth/second-factor/set-up-passkey",
        Named("FirstPasskey", &FirstPasskey::SHAPE),
        Named(
            "SignedInWithFactor",
            &Record(join!(SIGNED_IN, &[required("recoveryCodes", RECOVERY_CODES)
                .about("Codes for when the second factor is lost, each good once. They are shown only here.")])),
        ),
    )
    .about(
        "Sets up a passkey as the first second factor of a user who must have one, and completes their sign-in. \
         `UNAUTHORIZED`: the ticket has ended, or the user has a second factor by now. `CONFLICT`: the passkey is known. \
         `NOT_FOUND`: passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(REFUSALS_OF_OPTIONS)
    .recorded(Recorded::None),
    route_only(
        PASSKEY_OPTIONS,
        Kind::Mutation,
        "/api/auth/passkeys/options",
        Nothing,
        OPTIONS,
    )
    .about(
        "Begins to sign in with a passkey alone. The browser gets a cookie that it must send with the passkey. `NOT_FOUND`: \
         passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(&[Code::Forbidden, Code::NotFound, Code::TooManyRequests])
    .recorded(Recorded::None),
    route_only(
        PASSKEY_SIGN_IN,
        Kind::Mutation,
        "/api/auth/passkeys/sign-in",
        Named("PasskeySignIn", &SentPasskey::SHAPE),
        Named("SignedIn", &Record(SIGNED_IN)),
    )
    .about(
        "Begins a session with a passkey alone, whose authenticator has verified the person by a PIN or their body: neither a \
         password nor a second factor is needed. `UNAUTHORIZED`, with the same words, for whatever is wrong. `NOT_FOUND`: \
         passkeys are off. `FORBIDDEN`: another site asks for it.",
    )
    .refuses(REFUSALS)
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
                required("signOutUrl", NULLABLE_TEXT)
                    .about("Where a browser goes on to sign out at the issuer too, after `POST /api/auth/sign-out`; null: the user is not known there, or this is off."),
            ]),
        ),
    )
    .about("Who is signed in, by a session or a key.")
    .protected()
    .recorded(Recorded::None),
];
