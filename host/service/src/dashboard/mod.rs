//! The dashboard side: what Portico does where it is the dashboard itself.
//!
//! It contains keys, sessions, invites, groups, boards, search engines, looks, pictures, and all of that as one document (`state`), in
//! host code. It never writes users or apps itself. Each procedure has the same steps in the same order: read the
//! input, validate, transact, return. A procedure needs `admin` unless its row says otherwise.

mod addresses;
mod app_status;
mod audit;
mod boards;
mod change;
mod extras;
mod gate;
mod groups;
mod home_boards;
mod icons;
mod invites;
mod keys;
mod looks;
mod onboarding;
mod passkeys;
mod password_links;
mod pictures;
mod search_engines;
mod second_factors;
mod seen_by;
mod sessions;
mod state;
mod transaction;
mod validate;

pub(crate) use self::{passkeys::checked_name, state::DOCUMENT};
use crate::procedures::row::Row;

/// The rows of the dashboard side.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    let groups = [
        keys::ROWS,
        sessions::ROWS,
        second_factors::ROWS,
        passkeys::ROWS,
        invites::ROWS,
        password_links::ROWS,
        groups::ROWS,
        boards::ROWS,
        boards::sharing::ROWS,
        extras::ROWS,
        search_engines::ROWS,
        icons::ROWS,
        app_status::ROWS,
        addresses::ROWS,
        seen_by::ROWS,
        gate::ROWS,
        home_boards::ROWS,
        looks::ROWS,
        pictures::ROWS,
        onboarding::ROWS,
        state::ROWS,
        audit::ROWS,
    ];
    groups.into_iter().flatten()
}
