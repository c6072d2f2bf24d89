//! Reading users: all, by page, those to choose from, those found by name, and one.

use alloc::vec::Vec;

use portico_rules::bounds;
use portico_rules::refusal::Refusal;

use super::user::{require_storable, require_user};
use crate::bindings::storage::{ListedUser, Slice, UserFilter};
use crate::bindings::types::{
    Caller, Error, Provider, User, UserEntry, UserMatch, UserOption, UserPage, UserQuery, UserSummary,
};
use crate::names;
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, too_large};
use crate::validate::{field, number};

const EVERYONE: UserFilter = UserFilter {
    provider: None,
    name_contains: None,
    email: None,
    disabled: None,
};

/// `user.getAll`
pub fn get_all(caller: &Caller) -> Result<Vec<UserSummary>, Error> {
    authorise(caller, Procedure::UserGetAll)?;
    let users = list(caller, &EVERYONE, None)?;
    let to_summary = |user: ListedUser| UserSummary {
        id: user.id,
        name: user.name,
        email: user.email,
        email_verified: user.email_verified,
        image: user.image,
    };
    Ok(users.into_iter().map(to_summary).collect())
}

/// `user.getPaginated`
pub fn get_paginated(caller: &Caller, query: &UserQuery) -> Result<UserPage, Error> {
    authorise(caller, Procedure::UserGetPaginated)?;
    let slice = number::slice(query.page, query.page_size)?;
    let searched = names::key_to_find(
        query.search.as_deref().unwrap_or("").trim(),
        *bounds::USERNAME.end(),
    );
    let Some(name_contains) = searched else {
        return Ok(UserPage {
            items: Vec::new(),
            total_count: 0,
        });
    };
    let filter = UserFilter {
        provider: query.provider,
        name_contains: Some(name_contains),
        email: None,
        disabled: query.disabled,
    };
    let to_entry = |user: ListedUser| UserEntry {
        id: user.id,
        name: user.name,
        email: user.email,
        email_verified: user.email_verified,
        provider: user.provider,
        disabled: user.disabled,
    };
    let (users, total_count) = transaction::read_page(
        &caller.context,
        slice,
        |transaction| transaction.count_users(&filter),
        |transaction, slice| transaction.list_users(&filter, slice, false),
    )?;
    Ok(UserPage {
        items: users.into_iter().map(to_entry).collect(),
        total_count,
    })
}

/// `user.selectable`
pub fn selectable(caller: &Caller, only_credentials: bool) -> Result<Vec<UserOption>, Error> {
    authorise(caller, Procedure::UserSelectable)?;
    let provider = only_credentials.then_some(Provider::Credentials);
    let users = list(caller, &UserFilter { provider, ..EVERYONE }, None)?;
    let to_option = |user: ListedUser| UserOption {
        id: user.id,
        name: user.name,
        image: user.image,
    };
    Ok(users.into_iter().map(to_option).collect())
}

/// `user.search`
pub fn search(caller: &Caller, query: &str, limit: Option<u32>) -> Result<Vec<UserMatch>, Error> {
    authorise(caller, Procedure::UserSearch)?;
    let limit = field("limit", number::limit(limit))?;
    let Some(name_contains) = names::key_to_find(query.trim(), *bounds::USERNAME.end()) else {
        return Ok(Vec::new());
    };
    let filter = UserFilter {
        name_contains: Some(name_contains),
        ..EVERYONE
    };
    let users = list(caller, &filter, Some(limit))?;
    let to_match = |user: ListedUser| UserMatch {
        id: user.id,
        name: user.name,
        email: user.email,
        image: user.image,
    };
    Ok(users.into_iter().map(to_match).collect())
}

/// `user.getById`
pub fn get_by_id(caller: &Caller, user_id: &str) -> Result<User, Error> {
    let authorised = authorise(caller, Procedure::UserGetById)?;
    authorised.require_own_user_or_permission(user_id)?;
    require_storable(user_id)?;
    transaction::lookup(&caller.context, |transaction| require_user(transaction, user_id))
}

fn list(caller: &Caller, filter: &UserFilter, limit: Option<u32>) -> Result<Vec<ListedUser>, Error> {
    let slice = Slice { offset: 0, limit };
    transaction::lookup(&caller.context, |transaction| {
        let users = transaction.list_users(filter, slice, true);
        users.map_err(|error| too_large(error, Refusal::UsersTooLarge))
    })
}
