//! The interface `people`: what a dashboard with users of its own would have besides the contract.
//!
//! No function checks a permission: the dashboard calls them (`wit/people.wit`).

mod groups;
mod input;
mod invites;
mod keys;
mod sessions;
mod surroundings;

use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_storage::{Constraint, Error as StorageError};

use crate::ReadyStorage;
use crate::bindings::people::{
    Authenticated, Group, Guest, Invite, Key, Named, NewInvite, NewKey, NewSession, Person, Renewal, Session,
};
use crate::bindings::types::{Caller, Error, Id, Timestamp};
use crate::migrations;
use crate::transaction::Failure;

type Result<T> = std::result::Result<T, Error>;

impl Guest for ReadyStorage {
    fn migrate() -> Result<()> {
        migrations::run()
    }

    fn begin_session(user_id: Id, password_version: u64) -> Result<NewSession> {
        sessions::begin(&user_id, password_version)
    }

    fn authenticate(secret: String) -> Result<Option<Authenticated>> {
        sessions::authenticate(&secret)
    }

    fn caller_of(user_id: Id) -> Result<Option<Caller>> {
        sessions::caller_of(&user_id)
    }

    fn renew_with_password(caller: Caller) -> Renewal {
        sessions::renew_with_password(caller)
    }

    fn end_session(token: String) -> Result<()> {
        sessions::end(&token)
    }

    fn end_other_sessions(user_id: Id, except: Option<Id>) -> Result<u32> {
        sessions::end_others(&user_id, except.as_deref())
    }

    fn list_sessions(user_id: Id) -> Result<Vec<Session>> {
        sessions::list(&user_id)
    }

    fn get_person(user_id: Id) -> Result<Option<Person>> {
        sessions::get_person(&user_id)
    }

    fn permissions_of(user_id: Id) -> Result<Vec<String>> {
        sessions::permissions_of(&user_id)
    }

    fn list_groups() -> Result<Vec<Group>> {
        groups::list()
    }

    fn create_group(id: Option<Id>, name: String, permissions: Vec<String>) -> Result<Id> {
        groups::create(id, &name, permissions)
    }

    fn rename_group(id: Id, name: String) -> Result<()> {
        groups::rename(&id, &name)
    }

    fn set_group_permissions(id: Id, permissions: Vec<String>) -> Result<()> {
        groups::set_permissions(&id, permissions)
    }

    fn add_member(group_id: Id, user_id: Id) -> Result<()> {
        groups::add_member(&group_id, &user_id)
    }

    fn remove_member(group_id: Id, user_id: Id) -> Result<()> {
        groups::remove_member(&group_id, &user_id)
    }

    fn delete_group(id: Id) -> Result<()> {
        groups::delete(&id)
    }

    fn create_invite(creator: Option<Id>, expires_at: Timestamp) -> Result<NewInvite> {
        invites::create(creator, expires_at)
    }

    fn list_invites() -> Result<Vec<Invite>> {
        invites::list()
    }

    fn delete_invite(id: Id) -> Result<()> {
        invites::delete(&id)
    }

    fn create_key(user_id: Id, name: Option<String>) -> Result<NewKey> {
        keys::create(&user_id, name.as_deref())
    }

    fn list_keys(user_id: Id) -> Result<Vec<Key>> {
        keys::list(&user_id)
    }

    fn delete_key(user_id: Id, id: Id) -> Result<()> {
        keys::delete(&user_id, &id)
    }

    fn forget_board(id: Id) -> Result<()> {
        surroundings::forget_board(&id)
    }

    fn forget_search_engine(id: Id) -> Result<()> {
        surroundings::forget_search_engine(&id)
    }
}

fn not_found(what: Missing) -> Failure {
    Refusal::NotFound { what }.into()
}

fn name_taken(what: UniqueName) -> Failure {
    Refusal::NameTaken { what }.into()
}

/// Refuses in these words if a record that is referred to is missing.
fn if_referred(error: StorageError, refusal: Failure) -> Failure {
    match error {
        StorageError::Constraint(Constraint::Reference) => refusal,
        error => error.into(),
    }
}

impl From<portico_storage::Named> for Named {
    fn from(named: portico_storage::Named) -> Self {
        Self {
            id: named.id,
            name: named.name,
        }
    }
}
