//! `/api/auth`: signing in and out with a username and a password, and the session.

mod ldap;

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use axum::{
    body::Body,
    extract::{Extension, Request, State},
    http::request::Parts,
    response::Response,
};
use portico_model::{
    Provider, Timestamp,
    error::{Code, Error},
    time,
};
use portico_sandbox::{Kind, SignedIn};
use portico_service::{
    audit::{SIGN_IN as SIGN_IN_NAME, SIGN_OUT},
    identity::Identity,
    service::{Service, hash, report},
    sessions,
    shape::{
        NAMED, NULLABLE_DATE, NULLABLE_TEXT,
        Shape::{self, Choice, Date, List, Named, Record, Text},
        optional, required,
    },
    throttle::{LoginAttempt, ThrottledAccount},
};
use portico_storage::{Access, AccountKey, Authentication, CallContext, SessionUser};
use serde::{Deserialize, Serialize};

use super::{
    error::{self, json_response},
    request::{InputLimit, RequestId, client_address, identify, read_json},
    session,
    state::Shared,
};

/// What signing in takes. Any username and password may be tried: no bound is told from no user.
pub(crate) const SIGN_IN: Shape = Named(
    "SignIn",
    &Record(&[
        required("username", Text).about("The username, in any case."),
        required("password", Text).about("The password."),
        optional("provider", Choice(&["credentials", "ldap"]))
            .about("Who vouches for the user: this service, or the directory."),
    ]),
);

/// What signing in answers.
pub(crate) const SIGNED_IN: Shape = Named(
    "SignedIn",
    &Record(&[
        required("token", Text).about("The session's token, also in the cookie. It is shown only here."),
        required("expiresAt", Date).about("When the session ends unless it is used before."),
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
        required("expiresAt", NULLABLE_DATE)
            .about("When the session, unless it is used, or the key ends; null = never."),
    ]),
);

#[derive(Deserialize)]
struct Credentials {
    username: String,
    password: String,
    provider: Option<Provider>,
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
    let (parts, body) = request.into_parts();
    let mut tried = Tried::new(&http, &id, &parts);
    let result = try_sign_in(&http, &id, &parts, body, &tried).await;
    tried.ended(&result);
    answer(result, SIGN_IN_NAME, &id)
}

/// What is known of a try so far, for the audit log. If it is dropped before it ended, whoever tried
/// has left without waiting for the answer: that is recorded, too.
struct Tried<'a> {
    http: &'a Shared,
    request_id: &'a str,
    address: Option<IpAddr>,
    provider: OnceLock<Provider>,
    /// Whose name it is.
    user_id: Arc<OnceLock<String>>,
    has_ended: bool,
}

impl<'a> Tried<'a> {
    fn new(http: &'a Shared, id: &'a RequestId, parts: &Parts) -> Self {
        Self {
            http,
            request_id: &id.0,
            address: client_address(http, parts),
            provider: OnceLock::new(),
            user_id: Arc::default(),
            has_ended: false,
        }
    }

    fn ended(&mut self, result: &Result<Response, Error>) {
        self.has_ended = true;
        if let Err(error) = result {
            self.refuse(error);
        }
    }

    fn refuse(&self, error: &Error) {
        let provider = self.provider.get().copied().unwrap_or(Provider::Credentials);
        let user_id = self.user_id.get().cloned();
        let audit = &self.http.service.audit;
        audit.refuse_sign_in(provider, user_id, self.address, self.request_id, error);
    }
}

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.refuse(&Error::new(Code::Timeout, "Nobody waits for the answer"));
        }
    }
}

async fn try_sign_in(
    http: &Shared,
    id: &RequestId,
    parts: &Parts,
    body: Body,
    tried: &Tried<'_>,
) -> Result<Response, Error> {
    let service = &http.service;
    let input = read_json(http, &parts.headers, body, InputLimit::small(&http.limits)).await?;
    let input = SIGN_IN.check(input)?;
    let credentials: Credentials = serde_json::from_value(input).map_err(Error::internal)?;
    let identity = identify(http, parts, id).await?;

    let provider = credentials.provider.unwrap_or(Provider::Credentials);
    tried.provider.get_or_init(|| provider);
    if provider == Provider::Ldap {
        return ldap::sign_in(http, id, &identity, &credentials, tried).await;
    }

    let (attempt, name_key) = begin_try(service, id, &identity, &credentials).await?;
    let context = Identity::anonymous().context(&id.0);
    let result = async {
        let turn = service.turn_to_hash(identity.address).await?;
        let checking = check(
            service.clone(),
            context.clone(),
            name_key,
            credentials,
            tried.user_id.clone(),
        );
        let proof = hash(turn, checking).await?;
        begin_session(http, &identity, context, proof).await
    };
    let result = result.await;
    attempt.settle(&result);
    result
}

/// Begins a try at the account that is named; gives its name-key too.
async fn begin_try(
    service: &Service,
    id: &RequestId,
    identity: &Identity,
    credentials: &Credentials,
) -> Result<(LoginAttempt, String), Error> {
    let context = Identity::anonymous().context(&id.0);
    let name = credentials.username.trim();
    let name_key = service.sandbox.name_key(context, name).await?;
    let provider = credentials.provider.unwrap_or(Provider::Credentials);
    let account = ThrottledAccount::new(provider, &name_key);
    let attempt = service.throttle.begin(Some(account), identity.address)?;
    Ok((attempt, name_key))
}

/// A user who knew the password.
struct Proof {
    user: SignedIn,
    /// How often it had been set before it was checked; none: it may be another user's.
    password_version: Option<u32>,
}

async fn check(
    service: Arc<Service>,
    context: CallContext,
    name_key: String,
    credentials: Credentials,
    user_id: Arc<OnceLock<String>>,
) -> Result<Proof, Error> {
    // Read before it is checked, to see afterwards whether it was changed meanwhile.
    let mut transaction = service.storage.begin_dashboard(Access::Read, &context).await?;
    let key = AccountKey::Name((Provider::Credentials, name_key));
    let account = transaction.find_account(&key).await?;
    // Also for nobody, so that it is the same work.
    let account = account.map(|account| user_id.get_or_init(|| account.id).clone());
    let id = account.unwrap_or_default();
    let password_version = transaction.password_version(&id).await?;
    drop(transaction);

    let Credentials {
        username, password, ..
    } = &credentials;
    let mut instance = service.sandbox.enter_to_hash(context).await?;
    let (plugin, store) = instance.parts()?;
    let sign_in = plugin.portico_dashboard_sign_in();
    let answer = sign_in.call_password(store, username, password).await;
    let user = instance.answer(answer)?;
    let password_version = password_version.filter(|_| user.id == id);
    Ok(Proof {
        user,
        password_version,
    })
}

async fn begin_session(
    http: &Shared,
    identity: &Identity,
    context: CallContext,
    proof: Proof,
) -> Result<Response, Error> {
    let service = &http.service;
    let Proof {
        user,
        password_version,
    } = proof;
    let now = service.clock.now();
    let audited = service
        .audit
        .sign_in(Provider::Credentials, identity.address, &context.request_id);
    let context = context.audited(audited);
    let mut transaction = service.storage.begin_dashboard(Access::Write, &context).await?;
    // Whoever signs in with a password that is changed meanwhile, or is deleted, has no session.
    let present = transaction.password_version(&user.id).await?;
    if password_version.is_none() || password_version != present {
        return Err(Error::new(
            Code::Unauthorized,
            "The password was changed meanwhile; sign in again",
        ));
    }
    let times = &http.settings.sessions;
    let begun = sessions::begin(service, times, &mut *transaction, &user.id, identity, now).await?;
    context.signed_in(&begun.session);
    transaction.commit().await?;
    Ok(session::signed_in(http, &user, &begun))
}

/// `POST /api/auth/sign-out`. Whoever is not signed in, is so afterwards as well.
pub(super) async fn sign_out(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    answer(
        try_sign_out(&http, &id, &request.into_parts().0).await,
        SIGN_OUT,
        &id,
    )
}

async fn try_sign_out(http: &Shared, id: &RequestId, parts: &Parts) -> Result<Response, Error> {
    let identity = identify(http, parts, id).await?;
    let result = end_session(http, id, &identity).await;
    let audit = &http.service.audit;
    result.inspect_err(|error| audit.refuse_sign_out(&identity, &id.0, error))?;
    Ok(session::with_cookie(http, json_response(Body::empty()), "", 0))
}

async fn end_session(http: &Shared, id: &RequestId, identity: &Identity) -> Result<(), Error> {
    identity.check_site(Kind::Mutation)?;
    if let Authentication::Session(session) = &identity.authentication {
        let audited = http.service.audit.sign_out(identity, &id.0);
        let context = identity.context(&id.0).audited(audited);
        let mut transaction = http
            .service
            .storage
            .begin_dashboard(Access::Write, &context)
            .await?;
        transaction.delete_session(session).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// `GET /api/auth/session`.
pub(super) async fn session(
    State(http): State<Shared>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    answer(
        try_session(&http, &id, &request.into_parts().0).await,
        "session",
        &id,
    )
}

async fn try_session(http: &Shared, id: &RequestId, parts: &Parts) -> Result<Response, Error> {
    let identity = identify(http, parts, id).await?;
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

pub(super) fn answer(result: Result<Response, Error>, what: &str, id: &RequestId) -> Response {
    result.unwrap_or_else(|error| error::rest(report(error, what, &id.0), None))
}
