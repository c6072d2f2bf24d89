//! The current session, and sign-out.

use portico_model::{Provider, Timestamp, error::Error, time};
use portico_rules::refusal::Missing;
use portico_sandbox::Kind;
use portico_storage::{Access, Authentication, SessionUser};
use serde::Serialize;

use crate::{
    external::is_of_proxy,
    identity::Identity,
    procedures::{
        Call, Output, Procedure,
        call::json,
        sign_in::{SESSION, SIGN_OUT},
    },
    service::Service,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CurrentSession {
    user: SessionUser,
    #[serde(serialize_with = "time::serialize_option")]
    expires_at: Option<Timestamp>,
    sign_out_url: Option<&'static str>,
}

pub(super) fn route<'a>(service: &'a Service, name: &str) -> Result<&'a Procedure, Error> {
    let procedure = service.table.find_route(name);
    procedure.ok_or_else(|| Error::not_found(Missing::Procedure))
}

/// Ends the caller's session. A caller without one stays signed out; an API key is not a session and stays valid.
pub async fn sign_out(service: &Service, identity: &Identity, request_id: &str) -> Result<(), Error> {
    service
        .call_with(route(service, SIGN_OUT)?, identity, request_id, end_session)
        .await
}

async fn end_session(call: Call) -> Result<(), Error> {
    call.identity.check_site(Kind::Mutation)?;
    if let Authentication::Session(session) = &call.identity.authentication {
        let storage = &call.resources.storage;
        let mut transaction = storage.begin_dashboard(Access::Write, &call.context()).await?;
        transaction.delete_session(session).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// The signed-in user, and when the session or the key ends, as JSON. `sign_out_url` is where people sign out at the issuer, if
/// that is on.
pub async fn current_session(
    service: &Service,
    identity: &Identity,
    sign_out_url: Option<&'static str>,
    request_id: &str,
) -> Result<Output, Error> {
    service
        .call_with(route(service, SESSION)?, identity, request_id, |call| {
            read_session(call, sign_out_url)
        })
        .await
}

async fn read_session(call: Call, mut sign_out_url: Option<&'static str>) -> Result<Output, Error> {
    // The operator is not a user.
    let user_id = call.identity.user_id().ok_or_else(Error::unauthorized)?;
    let storage = &call.resources.storage;
    let mut transaction = storage.begin_dashboard(Access::Read, &call.context()).await?;
    let user = transaction.get_session_user(user_id).await?;
    let user = user.ok_or_else(Error::unauthorized)?;
    if sign_out_url.is_some() {
        let is_session = matches!(call.identity.authentication, Authentication::Session(_));
        let subject = transaction.get_subject(user_id, Provider::Oidc).await?;
        let is_known_there = subject.is_some_and(|subject| !is_of_proxy(&subject));
        sign_out_url = sign_out_url.filter(|_| is_session && is_known_there);
    }
    json(&CurrentSession {
        user: SessionUser {
            // A key may have fewer than its user.
            permissions: call.identity.permissions().to_vec(),
            ..user
        },
        expires_at: call.identity.expires_at,
        sign_out_url,
    })
}
