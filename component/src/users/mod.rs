//! The procedures of the interface `users`.

mod accounts;
mod password;
mod preferences;
mod profile;
mod reads;
mod removal;
mod user;
pub mod wanted;

use alloc::string::String;
use alloc::vec::Vec;

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::users as contract;
use crate::bindings::types::{
    Caller, ColorScheme, Error, HomeBoards, Id, NewAccount, PasswordChange, ProfileChange, Registration,
    SearchPreferences, User, UserMatch, UserOption, UserPage, UserQuery, UserSummary,
};
pub use user::{NEW_USERS_COLOR_SCHEME, account_key, name_taken, new_user};

impl contract::Guest for Plugin {
    fn get_all(caller: Caller) -> Result<Vec<UserSummary>, Error> {
        reads::get_all(&caller)
    }

    fn get_paginated(caller: Caller, query: UserQuery) -> Result<UserPage, Error> {
        reads::get_paginated(&caller, &query)
    }

    fn selectable(
        caller: Caller,
        exclude_external_providers: Option<bool>,
    ) -> Result<Vec<UserOption>, Error> {
        reads::selectable(&caller, exclude_external_providers.unwrap_or(false))
    }

    fn search(caller: Caller, query: String, limit: Option<u32>) -> Result<Vec<UserMatch>, Error> {
        reads::search(&caller, &query, limit)
    }

    fn get_by_id(caller: Caller, user_id: Id) -> Result<User, Error> {
        reads::get_by_id(&caller, &user_id)
    }

    fn init_user(caller: Caller, account: NewAccount) -> Result<Id, Error> {
        accounts::init_user(&caller, &account)
    }

    fn register(caller: Caller, registration: Registration) -> Result<Id, Error> {
        accounts::register(&caller, &registration)
    }

    fn create(caller: Caller, account: NewAccount, group_ids: Vec<Id>) -> Result<Id, Error> {
        accounts::create(&caller, &account, &group_ids)
    }

    fn set_profile_image(caller: Caller, user_id: Id, image: Option<String>) -> Result<(), Error> {
        profile::set_image(&caller, &user_id, image.as_deref())
    }

    fn edit_profile(caller: Caller, change: ProfileChange) -> Result<(), Error> {
        profile::edit(&caller, &change)
    }

    fn change_password(caller: Caller, change: PasswordChange) -> Result<(), Error> {
        password::change(&caller, &change)
    }

    fn change_home_boards(caller: Caller, user_id: Id, boards: HomeBoards) -> Result<(), Error> {
        preferences::change_home_boards(&caller, &user_id, boards)
    }

    fn change_search_preferences(
        caller: Caller,
        user_id: Id,
        preferences: SearchPreferences,
    ) -> Result<(), Error> {
        preferences::change_search_preferences(&caller, &user_id, preferences)
    }

    fn change_color_scheme(caller: Caller, color_scheme: ColorScheme) -> Result<(), Error> {
        preferences::change_color_scheme(&caller, color_scheme)
    }

    fn change_ping_icons_enabled(caller: Caller, user_id: Id, enabled: bool) -> Result<(), Error> {
        preferences::change_ping_icons_enabled(&caller, &user_id, enabled)
    }

    fn change_first_day_of_week(caller: Caller, user_id: Id, first_day_of_week: u8) -> Result<(), Error> {
        preferences::change_first_day_of_week(&caller, &user_id, first_day_of_week)
    }

    fn set_disabled(caller: Caller, user_id: Id, disabled: bool) -> Result<(), Error> {
        removal::set_disabled(&caller, &user_id, disabled)
    }

    fn delete(caller: Caller, user_id: Id) -> Result<(), Error> {
        removal::delete(&caller, &user_id)
    }
}
