//! Reading users: all, those to choose from, those found by name, and one.

use alloc::vec::Vec;

use super::user::require_user;
use crate::bindings::storage::UserFilter;
use crate::bindings::types::{Caller, Error, Provider, User, UserMatch, UserOption, UserSummary};
use crate::procedures::{Procedure, authorise};
use crate::validate::{field, number, username};
use crate::{names, transaction};

const EVERYONE: UserFilter = UserFilter {
    provider: None,
    name_contains: None,
    email: None,
    limit: None,
};

/// `user.getAll`
pub fn get_all(caller: &Caller) -> Result<Vec<UserSummary>, Error> {
    authorise(caller, Procedure::UserGetAll)?;
    list(&EVERYONE)
}

/// `user.selectable`
pub fn selectable(caller: &Caller, only_credentials: bool) -> Result<Vec<UserOption>, Error> {
    authorise(caller, Procedure::UserSelectable)?;
    let provider = only_credentials.then_some(Provider::Credentials);
    let users = list(&UserFilter { provider, ..EVERYONE })?;
    Ok(users
        .into_iter()
        .map(|user| UserOption {
            id: user.id,
            name: user.name,
            image: user.image,
        })
        .collect())
}

/// `user.search`
pub fn search(caller: &Caller, query: &str, limit: Option<i32>) -> Result<Vec<UserMatch>, Error> {
    authorise(caller, Procedure::UserSearch)?;
    let limit = field("limit", number::limit(limit))?;
    let Some(name_contains) = names::key_to_find(query.trim(), username::MAX) else {
        return Ok(Vec::new());
    };
    let users = list(&UserFilter {
        name_contains: Some(name_contains),
        limit: Some(limit),
        ..EVERYONE
    })?;
    let to_match = |user: UserSummary| UserMatch {
        id: user.id,
        name: user.name,
        email: user.email,
        image: user.image,
    };
    Ok(users.into_iter().map(to_match).collect())
}

/// `user.getById`
pub fn get_by_id(caller: &Caller, user_id: &str) -> Result<User, Error> {
    let caller = authorise(caller, Procedure::UserGetById)?;
    caller.require_own_user_or_permission(user_id)?;
    transaction::read(|transaction| require_user(transaction, user_id))
}

fn list(filter: &UserFilter) -> Result<Vec<UserSummary>, Error> {
    transaction::read(|transaction| Ok(transaction.list_users(filter)?))
}
