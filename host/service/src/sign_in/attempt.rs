//! One sign-in with a username and a password, from its request until it is recorded.

use std::{net::IpAddr, sync::Arc};

use portico_model::{Provider, error::Error};
use portico_rules::refusal::{Missing, Refusal};
use portico_sandbox::SignedIn;
use serde_json::Value;

use super::{
    credentials::{Credentials, Progress, SignInSettings},
    directory, password,
};
use crate::{
    audit::SIGN_IN,
    identity::Identity,
    procedures::{Call, Procedure},
    service::{Service, report},
    sessions::IssuedSession,
};

/// A sign-in that is not recorded yet. If it is dropped before it has ended, the client disconnected before the answer:
/// that is recorded too.
pub struct SignInAttempt<'a> {
    service: &'a Service,
    /// The row of the procedure table; `None` if the table has no dashboard side.
    procedure: Option<&'a Procedure>,
    request_id: &'a str,
    address: Option<IpAddr>,
    progress: Arc<Progress>,
    has_ended: bool,
}

impl<'a> SignInAttempt<'a> {
    /// A sign-in from this address. Begin it before the body is read.
    pub fn new(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self {
            service,
            procedure: service.table.find_route(SIGN_IN),
            request_id,
            address,
            progress: Arc::default(),
            has_ended: false,
        }
    }

    /// Reads the credentials from the input.
    pub fn credentials(&self, input: Result<Option<Value>, Error>) -> Result<Credentials, Error> {
        let read = || {
            let input = self.procedure()?.input.check(input?)?;
            serde_json::from_value(input).map_err(Error::internal)
        };
        read().map_err(|error| report(error, SIGN_IN, self.request_id))
    }

    /// Checks the credentials, and begins a session for the sender of the request.
    pub async fn run(
        &self,
        credentials: Credentials,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<(SignedIn, IssuedSession), Error> {
        self.progress.provider.get_or_init(|| credentials.provider());
        let progress = self.progress.clone();
        self.service
            .call_with(self.procedure()?, sender, self.request_id, |call| {
                sign_in(call, credentials, settings, progress)
            })
            .await
    }

    fn procedure(&self) -> Result<&'a Procedure, Error> {
        self.procedure.ok_or_else(|| Error::not_found(Missing::Procedure))
    }

    /// Records how it ended.
    pub fn end<T>(mut self, result: &Result<T, Error>) {
        self.has_ended = true;
        match result {
            Ok(_) => self.service.audit.signed_in(self.provider()),
            Err(error) => self.refuse(error),
        }
    }

    fn provider(&self) -> Provider {
        let provider = self.progress.provider.get().copied();
        provider.unwrap_or(Provider::Credentials)
    }

    fn refuse(&self, error: &Error) {
        self.service.audit.refuse_sign_in(
            self.provider(),
            self.progress.user_id.get().cloned(),
            self.address,
            self.request_id,
            error,
        );
    }
}

impl Drop for SignInAttempt<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.refuse(&Refusal::ClientLeft.into());
        }
    }
}

async fn sign_in(
    call: Call,
    credentials: Credentials,
    settings: SignInSettings,
    progress: Arc<Progress>,
) -> Result<(SignedIn, IssuedSession), Error> {
    if credentials.provider() == Provider::Ldap {
        directory::sign_in(&call, &credentials, &settings, &progress).await
    } else {
        password::sign_in(&call, credentials, &settings.times, progress).await
    }
}
