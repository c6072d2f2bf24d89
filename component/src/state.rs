//! The interface `state`: users and apps as a document states them.

use alloc::string::String;
use alloc::vec::Vec;

use portico_rules::permissions::Permission;

use crate::Plugin;
use crate::access::require;
use crate::apps::wanted as apps;
use crate::bindings::exports::portico::dashboard::state as contract;
use crate::bindings::types::{Caller, Error, Id};
use crate::users::wanted as users;
use contract::{WantedApp, WantedUser};

impl contract::Guest for Plugin {
    fn check_users(caller: Caller, users: Vec<WantedUser>) -> Result<(), Error> {
        require(&caller, Permission::Admin)?;
        users::check(&users)
    }

    fn check_apps(caller: Caller, apps: Vec<WantedApp>) -> Result<(), Error> {
        require(&caller, Permission::Admin)?;
        apps::check(&apps)
    }

    fn hash_password(caller: Caller, password: String) -> Result<String, Error> {
        require(&caller, Permission::Admin)?;
        users::hash(&password)
    }

    fn find_icons(caller: Caller, names: Vec<String>) -> Result<Vec<String>, Error> {
        require(&caller, Permission::Admin)?;
        apps::find_icons(&names)
    }

    fn put_users(caller: Caller, users: Vec<WantedUser>) -> Result<Vec<Id>, Error> {
        require(&caller, Permission::Admin)?;
        users::put(&caller.context, &users)
    }

    fn put_apps(caller: Caller, apps: Vec<WantedApp>) -> Result<Vec<Id>, Error> {
        require(&caller, Permission::Admin)?;
        apps::put(&caller.context, &apps)
    }
}
