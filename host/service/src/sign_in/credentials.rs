//! The input and the settings of a sign-in, and its count in the throttle.

use std::sync::OnceLock;

use portico_model::{Provider, error::Error};
use serde::Deserialize;

use crate::{
    external::Providers,
    identity::Identity,
    procedures::Call,
    sessions::SessionTimes,
    throttle::{LoginAttempt, ThrottledAccount},
};

/// The input of a sign-in.
#[derive(Deserialize)]
pub struct Credentials {
    pub(super) username: String,
    pub(super) password: String,
    provider: Option<Provider>,
}

impl Credentials {
    /// The provider that checks the password.
    pub(super) fn provider(&self) -> Provider {
        self.provider.unwrap_or(Provider::Credentials)
    }

    /// Begins an attempt to sign in to the named account; also gives its name-key.
    pub(super) async fn begin_attempt(&self, call: &Call) -> Result<(LoginAttempt, String), Error> {
        let resources = &call.resources;
        let context = Identity::anonymous().context(&call.request_id);
        let name_key = resources.sandbox.name_key(context, self.username.trim()).await?;
        let account = ThrottledAccount::new(self.provider(), &name_key);
        let attempt = resources.throttle.begin(Some(account), call.identity.address)?;
        Ok((attempt, name_key))
    }
}

/// The settings of a sign-in.
pub struct SignInSettings {
    /// How long the session lasts.
    pub times: SessionTimes,
    /// The external providers that are on.
    pub providers: Providers,
}

/// The facts about a sign-in for the audit log, as they become known.
#[derive(Default)]
pub(super) struct Progress {
    pub provider: OnceLock<Provider>,
    /// The id of the user with this name.
    pub user_id: OnceLock<String>,
}
