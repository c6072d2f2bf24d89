//! `/api/auth`: signing in and out with a username and a password, and the session.

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Shared,
    error::{self, json_response},
    request::{InputLimit, RequestId, identify, read_json},
};
use crate::{
    error::{Code, Error},
    identity::{Identity, SESSION_COOKIE},
    model::{Provider, Timestamp},
    sandbox::Kind,
    service::{hash, report},
    shape::{
        NAMED, NULLABLE_DATE, NULLABLE_TEXT,
        Shape::{self, Choice, Date, List, Named, Record, Text},
        optional, required,
    },
    storage::{Access, AccountKey, Authentication, Session, SessionUser},
    time,
};

/// What signing in takes. Any username and password may be tried: no bound is told from no user.
pub(crate) const SIGN_IN: Shape = Named(
    "SignIn",
    &Record(&[
        required("username", Text).about("The username, in any case."),
        required("password", Text).about("The password."),
        optional("provider", Choice(&["credentials"])).about("Who vouches for the user."),
    ]),
);

/// What signing in answers.
pub(crate) const SIGNED_IN: Shape = Named(
    "SignedIn",
    &Record(&[
        required("token", Text).about("The session's token, also in the cookie. It is shown only here."),
        required("expiresAt", Date).about("When the session ends."),
        required("user", NAMED).about("Who signed in."),
    ]),
);

/// What the session's route answers.
pub(crate) const CURRENT_SESSION: Shape = Named(
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
                    required("provider", Choice(&["credentials", "oidc", "ldap"]))
                        .about("Who vouches for the user."),
                    required("colorScheme", Choice(&["light", "dark", "auto"]))
                        .about("How the dashboard looks to the user."),
                    required("permissions", List(&Text))
                        .about("What the user may do, as the groups of the user have it."),
                ]),
            ),
        )
        .about("Who is signed in."),
        required("expiresAt", NULLABLE_DATE).about("When the session or the key ends; null = never."),
    ]),
);

#[derive(Deserialize)]
struct Credentials {
    username: String,
    password: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CurrentSession {
    user: SessionUser,
    #[serde(serialize_with = "time::serialize_option")]
    expires_at: Option<Timestamp>,
}

/// `POST /api/auth/sign-in {username, password, provider?}`.
pub(super) async fn sign_in(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    answer(try_sign_in(&http, &id, request).await, "sign-in", &id)
}

async fn try_sign_in(http: &Shared, id: &RequestId, request: Request) -> Result<Response, Error> {
    let service = &http.service;
    let (parts, body) = request.into_parts();
    let input = read_json(http, &parts.headers, body, InputLimit::small(&http.limits)).await?;
    let input = SIGN_IN.check(input)?;
    let credentials: Credentials = serde_json::from_value(input).map_err(Error::internal)?;

    let context = Identity::anonymous().context(&id.0);
    let hashing = {
        let (service, context) = (service.clone(), context.clone());
        async move {
            let Credentials { username, password } = &credentials;
            // Read before it is checked, to see afterwards whether it was changed meanwhile. (A hash
            // never comes back: each has a salt of its own.)
            let before = service
                .find_account(Provider::Credentials, username, &context)
                .await?;
            let mut instance = service.sandbox.enter(context).await?;
            let (plugin, store) = instance.parts();
            let sign_in = plugin.portico_dashboard_sign_in();
            let answer = sign_in.call_password(store, username, password).await;
            let user = instance.answer(answer)?;
            Ok((user, before))
        }
    };
    let (user, before) = hash(service.turn_to_hash().await?, hashing).await?;

    let now = service.clock.now();
    let issued = service.secrets.session(service.secrets.id(now));
    let lifetime = http.limits.session_lifetime;
    let session = Session {
        id: issued.id,
        user_id: user.id.clone(),
        created_at: now,
        expires_at: now + lifetime.as_millis() as Timestamp,
    };
    let mut transaction = service.storage.begin_dashboard(Access::Write, &context).await?;
    // Whoever signs in with a password that is changed meanwhile, or is deleted, has no session.
    let present = transaction.find_account(&AccountKey::Id(user.id.clone())).await?;
    let hashes = (
        before.map(|account| account.password_hash),
        present.map(|account| account.password_hash),
    );
    if !matches!(&hashes, (Some(before), Some(present)) if before == present) {
        return Err(Error::new(
            Code::Unauthorized,
            "The password was changed meanwhile; sign in again",
        ));
    }
    transaction.delete_expired_sessions(now).await?;
    transaction.insert_session(&session, &issued.hash).await?;
    transaction.commit().await?;

    let answer = json!({
        "token": issued.text,
        "expiresAt": time::format(session.expires_at),
        "user": { "id": user.id, "name": user.name },
    });
    Ok(with_cookie(
        json_response(answer.to_string()),
        &issued.text,
        lifetime.as_secs(),
    ))
}

/// `POST /api/auth/sign-out`. Whoever is not signed in, is so afterwards as well.
pub(super) async fn sign_out(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    answer(try_sign_out(&http, &id, &headers).await, "sign-out", &id)
}

async fn try_sign_out(http: &Shared, id: &RequestId, headers: &HeaderMap) -> Result<Response, Error> {
    let identity = identify(http, headers, id).await?;
    identity.check_site(Kind::Mutation)?;
    if let Authentication::Session(session) = &identity.authentication {
        let context = identity.context(&id.0);
        let mut transaction = http
            .service
            .storage
            .begin_dashboard(Access::Write, &context)
            .await?;
        transaction.delete_session(session).await?;
        transaction.commit().await?;
    }
    Ok(with_cookie(json_response(Body::empty()), "", 0))
}

/// `GET /api/auth/session`.
pub(super) async fn session(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    answer(try_session(&http, &id, &headers).await, "session", &id)
}

async fn try_session(http: &Shared, id: &RequestId, headers: &HeaderMap) -> Result<Response, Error> {
    let identity = identify(http, headers, id).await?;
    let user_id = identity.user_id().ok_or_else(Error::unauthorized)?;
    let context = identity.context(&id.0);
    let mut transaction = http
        .service
        .storage
        .begin_dashboard(Access::Read, &context)
        .await?;
    let user = transaction
        .get_session_user(user_id)
        .await?
        .ok_or_else(Error::unauthorized)?;
    let session = CurrentSession {
        user,
        expires_at: identity.expires_at,
    };
    Ok(json_response(
        serde_json::to_string(&session).map_err(Error::internal)?,
    ))
}

fn answer(result: Result<Response, Error>, what: &str, id: &RequestId) -> Response {
    result.unwrap_or_else(|error| error::rest(report(error, what, &id.0), None))
}

/// The cookie is out of reach of scripts and does not travel with requests from other sites.
fn with_cookie(mut response: Response, token: &str, seconds: u64) -> Response {
    let cookie = format!("{SESSION_COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
