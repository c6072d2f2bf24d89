//! Why a statement has no answer.

use portico_storage::Error;

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    Postgres(tokio_postgres::Error),
    /// What a row holds is invalid, or the answer is too large. The rest of the answer is still under way.
    Unread(Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

/// What a statement returns.
pub(super) type Result<T> = std::result::Result<T, Failure>;
