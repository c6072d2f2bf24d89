//! Preferences of a user.

use portico_rules::refusal::Missing;

use super::user::{change, require_found, require_storable, require_user};
use crate::bindings::storage::{Constraint, Error as StorageError};
use crate::bindings::types::{Caller, ColorScheme, Error, HomeBoards, SearchPreferences};
use crate::error;
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, Failure};
use crate::validate::{field, number, text};

/// `user.changeHomeBoards`
pub fn change_home_boards(caller: &Caller, user_id: &str, boards: HomeBoards) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangeHomeBoards)?;
    authorised.require_own_user_or_permission(user_id)?;
    require_storable(user_id)?;
    transaction::write(&caller.context, |transaction| {
        require_user(transaction, user_id)?;
        // The user, not the caller, must be able to view the board.
        for board_id in [&boards.home_board_id, &boards.mobile_home_board_id]
            .into_iter()
            .flatten()
        {
            if !text::is_storable(board_id) || !transaction.can_view_board(user_id, board_id)? {
                return Err(error::not_found(Missing::Board).into());
            }
        }
        let found = transaction.set_home_boards(user_id, &boards);
        Ok(require_found(
            found.map_err(|error| missing(error, Missing::Board))?,
        )?)
    })
}

/// `user.changeSearchPreferences`
pub fn change_search_preferences(
    caller: &Caller,
    user_id: &str,
    preferences: SearchPreferences,
) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangeSearchPreferences)?;
    authorised.require_own_user_or_permission(user_id)?;
    require_storable(user_id)?;
    transaction::write(&caller.context, |transaction| {
        require_user(transaction, user_id)?;
        if let Some(engine_id) = &preferences.default_search_engine_id
            && !(text::is_storable(engine_id) && transaction.has_search_engine(engine_id)?)
        {
            return Err(error::not_found(Missing::SearchEngine).into());
        }
        let found = transaction.set_search_preferences(user_id, &preferences);
        Ok(require_found(
            found.map_err(|error| missing(error, Missing::SearchEngine))?,
        )?)
    })
}

/// `user.changeColorScheme`
pub fn change_color_scheme(caller: &Caller, color_scheme: ColorScheme) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangeColorScheme)?;
    let user_id = authorised.id()?;
    change(&caller.context, user_id, |transaction| {
        transaction.set_color_scheme(user_id, color_scheme)
    })
}

/// `user.changePingIconsEnabled`
pub fn change_ping_icons_enabled(caller: &Caller, user_id: &str, enabled: bool) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangePingIconsEnabled)?;
    authorised.require_own_user_or_permission(user_id)?;
    change(&caller.context, user_id, |transaction| {
        transaction.set_ping_icons_enabled(user_id, enabled)
    })
}

/// `user.changeFirstDayOfWeek`
pub fn change_first_day_of_week(caller: &Caller, user_id: &str, day: u8) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserChangeFirstDayOfWeek)?;
    let day = field("firstDayOfWeek", number::day_of_week(day))?;
    authorised.require_own_user_or_permission(user_id)?;
    change(&caller.context, user_id, |transaction| {
        transaction.set_first_day_of_week(user_id, day)
    })
}

/// Storage checks references too: a record that was deleted since we looked is also not found.
fn missing(error: StorageError, what: Missing) -> Failure {
    match error {
        StorageError::Constraint(Constraint::Reference) => error::not_found(what).into(),
        other => other.into(),
    }
}
