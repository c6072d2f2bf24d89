//! What the procedures of users have in common.

use alloc::string::String;

use crate::bindings::storage::{Constraint, Error as StorageError, Transaction, UserChange};
use crate::bindings::types::{ColorScheme, Error, Id, Provider, User};
use crate::error;
use crate::transaction::Failure;

/// A user with the preferences that a new user has.
pub fn new_user(id: Id, provider: Provider, name: String) -> User {
    User {
        id,
        name,
        email: None,
        email_verified: None,
        image: None,
        provider,
        home_board_id: None,
        mobile_home_board_id: None,
        first_day_of_week: 1,
        ping_icons_enabled: false,
        default_search_engine_id: None,
        open_search_in_new_tab: true,
    }
}

/// The colour scheme of a new user.
pub const NEW_USERS_COLOR_SCHEME: ColorScheme = ColorScheme::Dark;

/// Turns the refusal of storage into "name taken", if that is the reason.
pub fn name_taken(error: StorageError) -> Failure {
    match error {
        StorageError::Constraint(Constraint::UserName) => error::name_taken().into(),
        other => other.into(),
    }
}

/// Changes a user who must exist.
pub fn update(transaction: &Transaction, id: &str, change: &UserChange) -> Result<(), Failure> {
    if transaction.update_user(id, change)? {
        Ok(())
    } else {
        Err(user_not_found().into())
    }
}

/// Refuses a user who does not exist.
pub fn require_user(transaction: &Transaction, id: &str) -> Result<User, Failure> {
    transaction.get_user(id)?.ok_or_else(|| user_not_found().into())
}

/// Refuses a user of an external provider.
pub fn require_credentials(provider: Provider) -> Result<(), Error> {
    match provider {
        Provider::Credentials => Ok(()),
        Provider::Oidc | Provider::Ldap => Err(error::forbidden(
            "Name, email and password of this user belong to an external provider",
        )),
    }
}

/// There is no such user.
pub fn user_not_found() -> Error {
    error::not_found("User")
}
