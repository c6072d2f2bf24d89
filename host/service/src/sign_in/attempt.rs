//! One sign-in with a username and a password, from its request until it is recorded.

use std::{
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
};

use portico_model::{Provider, error::Error};
use portico_rules::refusal::{Missing, Refusal};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    completion::Completed,
    credentials::{
        Credentials, FirstFactor, FirstPasskey, HeldPasskey, HeldTicket, Progress, SentCode, SignInSettings,
    },
    directory,
    passkey::{self, SentPasskey},
    password,
    ticket::{self, Next},
};
use crate::{
    audit::{Audit, SIGN_IN},
    identity::Identity,
    procedures::{
        Call, Procedure,
        sign_in::{CODE, PASSKEY, PASSKEY_SIGN_IN, SET_UP, SET_UP_PASSKEY},
    },
    service::{Service, report},
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
        Self::at(SIGN_IN, service, address, request_id)
    }

    /// The code of one whose password was right.
    pub fn with_code(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(CODE, service, address, request_id)
    }

    /// The first factor of one whose password was right.
    pub fn with_first_factor(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(SET_UP, service, address, request_id)
    }

    /// A passkey of one whose password was right.
    pub fn with_held_passkey(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(PASSKEY, service, address, request_id)
    }

    /// The first factor of one whose password was right: a passkey.
    pub fn with_first_passkey(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(SET_UP_PASSKEY, service, address, request_id)
    }

    /// A sign-in with a passkey alone.
    pub fn with_passkey(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(PASSKEY_SIGN_IN, service, address, request_id)
    }

    fn at(name: &str, service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self {
            service,
            procedure: service.table.find_route(name),
            request_id,
            address,
            progress: Arc::default(),
            has_ended: false,
        }
    }

    /// Reads the input.
    pub fn read<T: DeserializeOwned>(&self, input: Result<Option<Value>, Error>) -> Result<T, Error> {
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
    ) -> Result<Completed, Error> {
        self.progress.provider.get_or_init(|| credentials.provider());
        let progress = self.progress.clone();
        self.service
            .call_with(self.procedure()?, sender, self.request_id, |call| {
                sign_in(call, credentials, settings, progress)
            })
            .await
    }

    /// Checks the code, and begins a session for the sender of the request.
    pub async fn run_code(
        &self,
        sent: SentCode,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        self.go_on(sent.held, Next::Code(sent.code), sender, settings)
            .await
    }

    /// Sets up the first factor, and begins a session for the sender of the request.
    pub async fn run_first_factor(
        &self,
        first: FirstFactor,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let next = Next::FirstCodes {
            secret: first.secret,
            code: first.code,
        };
        self.go_on(first.held, next, sender, settings).await
    }

    /// Checks the passkey, and begins a session for the sender of the request.
    pub async fn run_held_passkey(
        &self,
        sent: HeldPasskey,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let next = Next::Passkey(sent.credential);
        self.go_on(sent.held, next, sender, settings).await
    }

    /// Sets up the first factor, a passkey, and begins a session for the sender of the request.
    pub async fn run_first_passkey(
        &self,
        first: FirstPasskey,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let next = Next::FirstPasskey {
            name: first.name,
            credential: first.credential,
        };
        self.go_on(first.held, next, sender, settings).await
    }

    /// Checks a passkey alone, from the browser that has this secret, and begins a session for the sender of the request.
    pub async fn run_passkey(
        &self,
        sent: SentPasskey,
        browser: String,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let progress = self.progress.clone();
        self.service
            .call_with(self.procedure()?, sender, self.request_id, |call| async move {
                passkey::sign_in(&call, sent, &browser, &settings, &progress).await
            })
            .await
    }

    async fn go_on(
        &self,
        held: HeldTicket,
        next: Next,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let progress = self.progress.clone();
        self.service
            .call_with(self.procedure()?, sender, self.request_id, |call| async move {
                ticket::go_on(&call, &held, next, &settings, &progress).await
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
        let (provider, user_id) = (self.provider(), self.progress.user_id.get());
        let (address, request_id) = (self.address, self.request_id);
        if self.progress.is_recorded.load(Ordering::Relaxed) {
            let user_id = user_id.map(String::as_str);
            return Audit::count_refused_sign_in(provider, user_id, address, request_id, error);
        }
        let user_id = user_id.cloned();
        self.service
            .audit
            .refuse_sign_in(provider, user_id, address, request_id, error);
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
) -> Result<Completed, Error> {
    if credentials.provider() == Provider::Ldap {
        directory::sign_in(&call, &credentials, &settings, &progress).await
    } else {
        password::sign_in(&call, credentials, &settings.times, progress).await
    }
}
