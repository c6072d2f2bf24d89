//! The input and the settings of a sign-in.

use std::sync::{OnceLock, atomic::AtomicBool};

use portico_model::Provider;

use crate::{
    external::Providers,
    second_factor::passkeys::{ASSERTION, REGISTRATION, SentAssertion, SentRegistration},
    sessions::SessionTimes,
    shape::{
        Shape::{Choice, Text},
        optional, records, required,
    },
};

records! {
    /// The input of a sign-in. No bounds: a refusal by a bound would reveal that no user has this name or this
    /// password.
    pub struct Credentials {
        username: String = required("username", Text).about("The username, in any case."),
        password: String = required("password", Text).about("The password."),
        provider: Option<Provider> = optional("provider", Choice(&["credentials", "ldap"]))
            .about("The user's identity provider: this service, or the directory."),
        code: Option<String> = optional("code", Text)
            .about("The second factor of a user who has one: a code of the app, or a recovery code."),
    }

    /// What continues a sign-in whose password was right.
    pub struct HeldTicket {
        ticket: String = required("ticket", Text).about("What `sign-in` has given as `data.ticket`."),
    }

    /// The code of a user who has a second factor.
    pub struct SentCode {
        ..held: HeldTicket,
        code: String = required("code", Text).about("A code of the app, or a recovery code."),
    }

    /// The passkey of a user who has one.
    pub struct HeldPasskey {
        ..held: HeldTicket,
        credential: SentAssertion = required("credential", ASSERTION)
            .about("What `navigator.credentials.get` has given for the options, as its `toJSON` writes it."),
    }

    /// The first passkey of a user who must have a second factor.
    pub struct FirstPasskey {
        ..held: HeldTicket,
        name: String = required("name", Text)
            .about("What its user calls it, such as the device that has it: 1 to 64 characters on one line, trimmed."),
        credential: SentRegistration = required("credential", REGISTRATION)
            .about("What `navigator.credentials.create` has given for the options, as its `toJSON` writes it."),
    }

    /// The first factor of a user who must have one.
    pub struct FirstFactor {
        ..held: HeldTicket,
        secret: String = required("secret", Text).about("The secret that `second-factor-secret` has given."),
        code: String = required("code", Text).about("The code that the app shows for it now."),
    }
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
    /// Whether a transaction has written the row of the refusal.
    pub is_recorded: AtomicBool,
}
