//! Signing in with the password that a directory knows.

use axum::response::Response;

use super::{Credentials, begin_try};
use crate::{
    error::{Code, Error},
    http::{Shared, request::RequestId, session},
    identity::Identity,
    providers::{self, SignIn, ldap::Login},
};

pub(super) async fn sign_in(
    http: &Shared,
    id: &RequestId,
    identity: &Identity,
    credentials: &Credentials,
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
    let result = async {
        let login = Login {
            service,
            address: identity.address,
            request_id: &id.0,
            username: credentials.username.trim(),
            name_key: &name_key,
            password: &credentials.password,
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
    attempt.settle(&result);
    result
}
