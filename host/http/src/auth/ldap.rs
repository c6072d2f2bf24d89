//! Signing in with the password that a directory knows.

use std::sync::atomic::AtomicBool;

use axum::response::Response;
use portico_model::{
    Provider,
    error::{Code, Error},
};
use portico_service::{
    external::{self as providers, Login, SignIn},
    identity::Identity,
};

use super::{Credentials, Tried, begin_try};
use crate::{request::RequestId, session, state::Shared};

pub(super) async fn sign_in(
    http: &Shared,
    id: &RequestId,
    identity: &Identity,
    credentials: &Credentials,
    tried: &Tried<'_>,
) -> Result<Response, Error> {
    let service = &http.service;
    let Some(ldap) = &http.settings.providers.ldap else {
        let rule = "must be one that is on; GET /api/auth/providers tells which";
        return Err(Error::invalid_field("provider", rule));
    };
    // Before anything is sent to the directory.
    if !service.has_users(&id.0).await? {
        return Err(Error::new(
            Code::Forbidden,
            "The first user is created by onboarding",
        ));
    }
    let (attempt, name_key) = begin_try(service, id, identity, credentials).await?;
    let context = identity.context(&id.0);
    let account = service
        .find_account_by_key(Provider::Ldap, &name_key, &context)
        .await?;
    if let Some(account) = account {
        tried.user_id.get_or_init(|| account.id);
    }
    let is_open = AtomicBool::new(false);
    let result = async {
        let login = Login {
            service,
            address: identity.address,
            request_id: &id.0,
            username: credentials.username.trim(),
            name_key: &name_key,
            password: &credentials.password,
            is_open: &is_open,
        };
        let external = ldap.authenticate(&login).await?;
        let signing_in = SignIn {
            service,
            times: &http.settings.sessions,
            sender: identity,
            request_id: &id.0,
        };
        let (user, begun) = providers::sign_in(&signing_in, external).await?;
        Ok(session::signed_in(http, &user, &begun))
    };
    let result = result.await;
    // Whoever guesses must not learn by the time that it takes, and not be counted.
    if is_open.into_inner() {
        drop(attempt);
    } else {
        attempt.settle(&result);
    }
    result
}
