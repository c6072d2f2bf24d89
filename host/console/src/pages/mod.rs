//! The pages: one file for each part of the console. Each handler reads what its page needs from the API, and answers
//! the page; each form answers a redirect if the API took it, and else its own page again, with what was typed.

mod audit;
mod first_start;
mod groups;
mod home;
mod invites;
mod keys;
mod profile;
mod register;
mod search;
mod sign_in;
mod state;
mod tiles;
mod users;

use axum::Router;

use crate::api::ApiError;

pub(crate) fn routes() -> Router {
    Router::new()
        .merge(audit::routes())
        .merge(first_start::routes())
        .merge(groups::routes())
        .merge(home::routes())
        .merge(invites::routes())
        .merge(keys::routes())
        .merge(profile::routes())
        .merge(register::routes())
        .merge(search::routes())
        .merge(sign_in::routes())
        .merge(state::routes())
        .merge(users::routes())
}

/// What a handler answers. An error becomes a page.
type Answer = Result<axum::response::Response, ApiError>;
