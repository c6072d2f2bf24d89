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

/// The second step of a sign-in whose password was right.
#[derive(Clone, Copy)]
pub enum SecondStep {
    /// A code of an app, or a recovery code.
    Code,
    /// A passkey of the user.
    Passkey,
    /// Codes of an app, as the first second factor of the user.
    FirstCodes,
    /// A passkey, as the first second factor of the user.
    FirstPasskey,
}

impl SecondStep {
    /// The name of its row in the procedure table.
    fn route(self) -> &'static str {
        match self {
            Self::Code => CODE,
            Self::Passkey => PASSKEY,
            Self::FirstCodes => SET_UP,
            Self::FirstPasskey => SET_UP_PASSKEY,
        }
    }
}

impl<'a> SignInAttempt<'a> {
    /// A sign-in from this address. Begin it before the body is read.
    pub fn new(service: &'a Service, address: Option<IpAddr>, request_id: &'a str) -> Self {
        Self::at(SIGN_IN, service, address, request_id)
    }

    /// The second step of a sign-in from this address.
    pub fn with_second_step(
        step: SecondStep,
        service: &'a Service,
        address: Option<IpAddr>,
        request_id: &'a str,
    ) -> Self {
        Self::at(step.route(), service, address, request_id)
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

    /// Checks or sets up the second factor, and begins a session for the sender of the request.
    pub async fn run_second_step(
        &self,
        step: SecondStep,
        input: Result<Option<Value>, Error>,
        sender: &Identity,
        settings: SignInSettings,
    ) -> Result<Completed, Error> {
        let (held, next) = self.read_second_step(step, input)?;
        let progress = self.progress.clone();
        self.service
            .call_with(self.procedure()?, sender, self.request_id, |call| async move {
                ticket::go_on(&call, &held, next, &settings, &progress).await
            })
            .await
    }

    fn read_second_step(
        &self,
        step: SecondStep,
        input: Result<Option<Value>, Error>,
    ) -> Result<(HeldTicket, Next), Error> {
        Ok(match step {
            SecondStep::Code => {
                let SentCode { held, code } = self.read(input)?;
                (held, Next::Code(code))
            }
            SecondStep::Passkey => {
                let HeldPasskey { held, credential } = self.read(input)?;
                (held, Next::Passkey(credential))
            }
            SecondStep::FirstCodes => {
                let FirstFactor { held, secret, code } = self.read(input)?;
                (held, Next::FirstCodes { secret, code })
            }
            SecondStep::FirstPasskey => {
                let FirstPasskey {
                    held,
                    name,
                    credential,
                } = self.read(input)?;
                (held, Next::FirstPasskey { name, credential })
            }
        })
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
