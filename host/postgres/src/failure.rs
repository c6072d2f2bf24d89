//! Why there is no connection, or a statement has no result.

use std::time::Duration;

use portico_storage::Error;
use tokio_postgres::error::SqlState;

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Unreached {
    Refused(tokio_postgres::Error),
    TimedOut(Duration),
    /// The name of a server is not found, in words.
    Unresolved(String),
    /// The database is not for hosts of this version, in words.
    Unfit(String),
}

impl Unreached {
    /// Whether the server has no room for another connection: of all, of this role or of this database.
    pub fn is_of_full_server(&self) -> bool {
        matches!(self, Self::Refused(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
    }
}

/// Why a statement has no result.
#[derive(Debug)]
pub(super) enum Failure {
    Postgres(tokio_postgres::Error),
    /// The contents of a row are invalid, or the result is too large. The rest of the result is still to come.
    Unread(Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

/// What a statement returns.
pub(super) type Result<T> = std::result::Result<T, Failure>;
