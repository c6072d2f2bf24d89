//! The input and the settings of a sign-in.

use std::sync::OnceLock;

use portico_model::Provider;
use serde::Deserialize;

use crate::{external::Providers, sessions::SessionTimes};

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
