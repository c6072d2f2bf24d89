//! What the procedures of users have in common.

use alloc::string::String;

use portico_rules::refusal::{Missing, Refusal};

use crate::bindings::storage::{AccountKey, Constraint, Error as StorageError, ProviderName, Transaction};
use crate::bindings::types::{ColorScheme, Error, Id, Provider, User};
use crate::transaction::{self, Failure, get_user};
use crate::validate::text;
use crate::{error, names};

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

/// How a user with this name is found.
pub fn account_key(provider: Provider, name: &str) -> AccountKey {
    let name_key = names::key(name);
    AccountKey::Name(ProviderName { provider, name_key })
}

/// Turns a refusal by storage into "name taken", if that is the reason.
pub fn name_taken(error: StorageError) -> Failure {
    match error {
        StorageError::Constraint(Constraint::UserName) => error::name_taken().into(),
        other => other.into(),
    }
}

/// Changes a user who must exist, in a transaction of its own.
///
/// The user is read first, because storage that keeps ids as UUIDs would change them under another spelling of the id.
pub fn change(
    context: &str,
    user_id: &str,
    set: impl Fn(&Transaction) -> Result<bool, StorageError>,
) -> Result<(), Error> {
    require_storable(user_id)?;
    transaction::write(context, |transaction| {
        require_user(transaction, user_id)?;
        Ok(require_found(set(transaction)?)?)
    })
}

/// Refuses an id that no user can have.
pub fn require_storable(user_id: &str) -> Result<(), Error> {
    require_found(text::is_storable(user_id))
}

/// Refuses if there was no such user.
pub fn require_found(found: bool) -> Result<(), Error> {
    if found { Ok(()) } else { Err(user_not_found()) }
}

/// Refuses a user who does not exist.
pub fn require_user(transaction: &Transaction, id: &str) -> Result<User, Failure> {
    get_user(transaction, id)?.ok_or_else(|| user_not_found().into())
}

/// Refuses a user of an external provider.
pub fn require_credentials(provider: Provider) -> Result<(), Error> {
    match provider {
        Provider::Credentials => Ok(()),
        Provider::Oidc | Provider::Ldap => Err(Refusal::ExternalUser.into()),
    }
}

/// There is no such user.
pub fn user_not_found() -> Error {
    error::not_found(Missing::User)
}
