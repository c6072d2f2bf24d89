//! Procedures: their rows, their calls, and the rows that no other module has.

pub(crate) mod apps;
pub(crate) mod call;
mod component;
pub(crate) mod row;
pub(crate) mod sign_in;
pub(crate) mod users;

pub use self::{
    call::{Call, Output},
    row::{MOST_VALUES, Procedure, Route, Row, method, parameters},
};

/// The rows of the component's procedures.
pub(crate) fn component_rows() -> impl Iterator<Item = &'static Row> {
    users::ROWS.iter().chain(apps::ROWS)
}

/// The rows of sign-in, sign-out and the session.
pub(crate) fn sign_in_rows() -> impl Iterator<Item = &'static Row> {
    sign_in::ROWS.iter()
}
