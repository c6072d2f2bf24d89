//! Who may sign in with a password that Portico stores.
//!
//! Invariant: what a sign-in with a password answers, and how long it takes, does not tell who is an administrator. The
//! password of a user who may not use it is not compared, so not even who knows it learns that it is right.

use portico_model::error::Error;
use portico_rules::refusal::Refusal;
use portico_storage::{ADMIN, Authentication, DashboardTransaction};

use crate::identity::Identity;

/// Who may sign in with a password that Portico stores. Sessions and keys that exist stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasswordSignIn {
    /// Every user who has one.
    #[default]
    On,
    /// Administrators.
    Administrators,
    /// No one.
    Off,
}

/// By these, people get a password.
const REGISTER: &str = "user.register";
const SET_PASSWORD: [&str; 3] = [
    "user.changePassword",
    "user.createPasswordLink",
    "user.setPasswordByLink",
];

impl PasswordSignIn {
    /// Refuses every sign-in with a password if there are none.
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::Off => Err(Refusal::PasswordsOff.into()),
            Self::On | Self::Administrators => Ok(()),
        }
    }

    /// Refuses a procedure by which a caller would get a password that is good for nothing. The operator may still set one,
    /// before passwords are turned on again.
    pub(crate) fn check_procedure(self, procedure: &str, identity: &Identity) -> Result<(), Error> {
        let is_closed = match self {
            Self::On => false,
            Self::Administrators => procedure == REGISTER,
            Self::Off => procedure == REGISTER || SET_PASSWORD.contains(&procedure),
        };
        if !is_closed || identity.authentication == Authentication::Operator {
            return Ok(());
        }
        Err(match self {
            Self::Off => Refusal::PasswordsOff,
            Self::On | Self::Administrators => Refusal::PasswordsOfAdministrators,
        }
        .into())
    }

    /// Whether this user may sign in with their password.
    pub(crate) async fn allows(
        self,
        transaction: &mut dyn DashboardTransaction,
        user_id: &str,
    ) -> Result<bool, Error> {
        Ok(match self {
            Self::On => true,
            Self::Off => false,
            Self::Administrators => {
                let user = transaction.get_session_user(user_id).await?;
                user.is_some_and(|user| user.permissions.iter().any(|held| held == ADMIN))
            }
        })
    }
}
