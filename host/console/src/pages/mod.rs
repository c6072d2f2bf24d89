//! The pages: one file for each part of the console. Each handler reads what its page needs from the API, and answers
//! the page; each form answers a redirect if the API took it, and else its own page again, with what was typed.

mod first_start;
mod home;
mod register;
mod search;
mod sign_in;
mod tiles;

use axum::Router;

use crate::api::ApiError;

pub(crate) fn routes() -> Router {
    Router::new()
        .merge(first_start::routes())
        .merge(home::routes())
        .merge(register::routes())
        .merge(search::routes())
        .merge(sign_in::routes())
}

/// What a handler answers. An error becomes a page.
type Answer = Result<axum::response::Response, ApiError>;
