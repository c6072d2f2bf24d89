//! Why a statement has no answer.

use portico_storage::Error;

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    Postgres(tokio_postgres::Error),
    /// The records of an answer have more text than the contract allows.
    TooLarge,
    /// An insert found no record that it refers to.
    MissingReference,
    Storage(Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

/// What a statement answers.
pub(super) type Result<T> = std::result::Result<T, Failure>;
