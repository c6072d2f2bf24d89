//! What SQLite's errors mean to whoever called.

use rusqlite::{ErrorCode, ffi};

use crate::storage::{Constraint, Error};

/// The one place where SQLite's errors become storage's. The texts name tables and columns, never
/// what is in them.
pub(super) fn translate(error: &rusqlite::Error) -> Error {
    if let rusqlite::Error::SqliteFailure(failure, message) = error {
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => return Error::Retry,
            ErrorCode::ConstraintViolation => {
                let message = message.as_deref().unwrap_or_default();
                if let Some(constraint) = constraint(failure.extended_code, message) {
                    return Error::Constraint(constraint);
                }
            }
            _ => {}
        }
    }
    unavailable(error)
}

/// An error that nobody who calls can do anything about: the log is told.
pub(super) fn unavailable(error: &rusqlite::Error) -> Error {
    tracing::error!(%error, "the database failed");
    Error::Unavailable(error.to_string())
}

fn constraint(extended_code: i32, message: &str) -> Option<Constraint> {
    match extended_code {
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Some(Constraint::Reference),
        ffi::SQLITE_CONSTRAINT_UNIQUE if message.ends_with("user.provider, user.name_key") => {
            Some(Constraint::UserName)
        }
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY if message.ends_with("identity.provider, identity.subject") => {
            Some(Constraint::Identity)
        }
        _ => None,
    }
}
