//! The pages: one file for each part of the console. Each handler reads what its page needs from the API, and returns
//! the page; each form returns a redirect if the API accepted it, and otherwise its own page again, with what was
//! typed.

mod apps;
mod audit;
mod board_list;
mod boards;
mod colors;
mod destinations;
mod engines;
mod first_start;
mod found_apps;
mod found_users;
mod gate;
mod go_on;
mod groups;
mod help;
mod home;
mod home_boards;
mod icon_picker;
mod invites;
mod keys;
mod list_place;
mod looks;
mod manifest;
mod new_password;
mod onboarding;
mod others;
mod paging;
mod passkeys;
mod pictures;
mod profile;
mod register;
mod search;
mod search_engine;
mod second_step;
mod sign_in;
mod sign_in_page;
mod state;
mod status;
mod tiles;
mod unknown;
mod users;
mod visibility;
mod welcome;

use axum::Router;

pub(crate) use unknown::routes as unknown;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{api::ApiError, form::Form};

pub(crate) fn routes() -> Router {
    Router::new()
        .merge(apps::routes())
        .merge(audit::routes())
        .merge(board_list::routes())
        .merge(boards::routes())
        .merge(destinations::routes())
        .merge(colors::routes())
        .merge(engines::routes())
        .merge(first_start::routes())
        .merge(gate::routes())
        .merge(groups::routes())
        .merge(help::routes())
        .merge(home::routes())
        .merge(icon_picker::routes())
        .merge(invites::routes())
        .merge(keys::routes())
        .merge(looks::routes())
        .merge(manifest::routes())
        .merge(new_password::routes())
        .merge(others::routes())
        .merge(profile::routes())
        .merge(register::routes())
        .merge(search::routes())
        .merge(second_step::routes())
        .merge(passkeys::routes())
        .merge(sign_in::routes())
        .merge(state::routes())
        .merge(status::routes())
        .merge(users::routes())
        .merge(visibility::routes())
        .merge(welcome::routes())
}

/// An id as one segment of a path.
fn segment(id: &str) -> String {
    const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_');
    utf8_percent_encode(id, &ESCAPED).to_string()
}

/// The button that Enter presses in a field: without it, that would be the first button of the form, whatever it does.
/// If a form also searches, Enter searches if the text to search for is new.
fn presses_search(form: &Form, field: &str, button: &str) -> bool {
    let shown = format!("{field}-shown");
    form.text("do") == button
        || (form.is_ticked("by-enter")
            && form.optional(field).is_some()
            && form.text(field) != form.text(&shown))
}

/// What a handler returns. An error becomes a page.
type PageResult = Result<axum::response::Response, ApiError>;
