//! Preferences of a user.

use super::user::{require_user, update};
use crate::bindings::storage::{Constraint, Error as StorageError, UserChange};
use crate::bindings::types::{Caller, ColorScheme, Error, HomeBoards, SearchPreferences};
use crate::error;
use crate::procedures::{Procedure, authorise};
use crate::transaction::{self, Failure};
use crate::validate::{field, number};

/// `user.changeHomeBoards`
pub fn change_home_boards(caller: &Caller, user_id: &str, boards: HomeBoards) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserChangeHomeBoards)?;
    caller.require_own_user_or_permission(user_id)?;
    transaction::write(|transaction| {
        require_user(transaction, user_id)?;
        // The user must be able to view the board, not the caller.
        for board_id in [&boards.home_board_id, &boards.mobile_home_board_id]
            .into_iter()
            .flatten()
        {
            if !transaction.can_view_board(user_id, board_id)? {
                return Err(error::not_found("Board").into());
            }
        }
        let change = UserChange::HomeBoards(boards.clone());
        update(transaction, user_id, &change).map_err(|failure| missing_reference(failure, "Board"))
    })
}

/// `user.changeSearchPreferences`
pub fn change_search_preferences(
    caller: &Caller,
    user_id: &str,
    preferences: SearchPreferences,
) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserChangeSearchPreferences)?;
    caller.require_own_user_or_permission(user_id)?;
    transaction::write(|transaction| {
        require_user(transaction, user_id)?;
        if let Some(engine_id) = &preferences.default_search_engine_id
            && !transaction.has_search_engine(engine_id)?
        {
            return Err(error::not_found("Search engine").into());
        }
        let change = UserChange::SearchPreferences(preferences.clone());
        update(transaction, user_id, &change).map_err(|failure| missing_reference(failure, "Search engine"))
    })
}

/// `user.changeColorScheme`
pub fn change_color_scheme(caller: &Caller, color_scheme: ColorScheme) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserChangeColorScheme)?;
    change(caller.id()?, &UserChange::ColorScheme(color_scheme))
}

/// `user.changePingIconsEnabled`
pub fn change_ping_icons_enabled(caller: &Caller, user_id: &str, enabled: bool) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserChangePingIconsEnabled)?;
    caller.require_own_user_or_permission(user_id)?;
    change(user_id, &UserChange::PingIconsEnabled(enabled))
}

/// `user.changeFirstDayOfWeek`
pub fn change_first_day_of_week(caller: &Caller, user_id: &str, day: i32) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserChangeFirstDayOfWeek)?;
    let day = field("firstDayOfWeek", number::day_of_week(day))?;
    caller.require_own_user_or_permission(user_id)?;
    change(user_id, &UserChange::FirstDayOfWeek(day))
}

fn change(user_id: &str, change: &UserChange) -> Result<(), Error> {
    transaction::write(|transaction| update(transaction, user_id, change))
}

/// Storage checks references, too: a record that was deleted since we looked is also not found.
fn missing_reference(failure: Failure, what: &str) -> Failure {
    match failure {
        Failure::Storage(StorageError::Constraint(Constraint::Reference)) => error::not_found(what).into(),
        other => other,
    }
}
