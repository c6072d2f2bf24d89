//! The rest of the contract, which no test of the sandbox calls.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::{names, sign_in, state, users};
use crate::bindings::types::{
    Caller, ColorScheme, Context, Error, ErrorCode, HomeBoards, Id, NewAccount, PasswordChange,
    ProfileChange, Registration, SearchPreferences, User, UserMatch, UserOption, UserPage, UserQuery,
    UserSummary,
};
use crate::ordinary::failure;

pub fn unused<T>() -> Result<T, Error> {
    Err(failure(ErrorCode::Internal, "not in this component"))
}

impl users::Guest for Plugin {
    fn get_all(_: Caller) -> Result<Vec<UserSummary>, Error> {
        unused()
    }

    fn get_paginated(_: Caller, _: UserQuery) -> Result<UserPage, Error> {
        unused()
    }

    fn selectable(_: Caller, _: Option<bool>) -> Result<Vec<UserOption>, Error> {
        unused()
    }

    fn search(_: Caller, _: String, _: Option<u32>) -> Result<Vec<UserMatch>, Error> {
        unused()
    }

    fn get_by_id(_: Caller, _: Id) -> Result<User, Error> {
        unused()
    }

    fn init_user(_: Caller, _: NewAccount) -> Result<Id, Error> {
        unused()
    }

    fn register(_: Caller, _: Registration) -> Result<Id, Error> {
        unused()
    }

    fn create(_: Caller, _: NewAccount, _: Vec<Id>) -> Result<Id, Error> {
        unused()
    }

    fn set_profile_image(_: Caller, _: Id, _: Option<String>) -> Result<(), Error> {
        unused()
    }

    fn edit_profile(_: Caller, _: ProfileChange) -> Result<(), Error> {
        unused()
    }

    fn change_password(_: Caller, _: PasswordChange) -> Result<(), Error> {
        unused()
    }

    fn change_home_boards(_: Caller, _: Id, _: HomeBoards) -> Result<(), Error> {
        unused()
    }

    fn change_search_preferences(_: Caller, _: Id, _: SearchPreferences) -> Result<(), Error> {
        unused()
    }

    fn change_color_scheme(_: Caller, _: ColorScheme) -> Result<(), Error> {
        unused()
    }

    fn change_ping_icons_enabled(_: Caller, _: Id, _: bool) -> Result<(), Error> {
        unused()
    }

    fn change_first_day_of_week(_: Caller, _: Id, _: u8) -> Result<(), Error> {
        unused()
    }

    fn set_disabled(_: Caller, _: Id, _: bool) -> Result<(), Error> {
        unused()
    }

    fn delete(_: Caller, _: Id) -> Result<(), Error> {
        unused()
    }
}

impl sign_in::Guest for Plugin {
    fn password(_: Context, _: String, _: String) -> Result<sign_in::SignedIn, Error> {
        unused()
    }

    fn external(_: Context, _: sign_in::Identity, _: sign_in::Linking) -> Result<sign_in::SignedIn, Error> {
        unused()
    }
}

impl names::Guest for Plugin {
    fn keys(names: Vec<String>) -> Vec<String> {
        names.iter().map(|name| name.to_lowercase()).collect()
    }
}

impl state::Guest for Plugin {
    fn check_users(_: Caller, _: Vec<state::WantedUser>) -> Result<(), Error> {
        unused()
    }

    fn check_apps(_: Caller, _: Vec<state::WantedApp>) -> Result<(), Error> {
        unused()
    }

    fn hash_password(_: Caller, _: String) -> Result<String, Error> {
        unused()
    }

    fn find_icons(_: Caller, _: Vec<String>) -> Result<Vec<String>, Error> {
        unused()
    }

    fn put_users(_: Caller, _: Vec<state::WantedUser>) -> Result<Vec<Id>, Error> {
        unused()
    }

    fn put_apps(_: Caller, _: Vec<state::WantedApp>) -> Result<Vec<Id>, Error> {
        unused()
    }
}
