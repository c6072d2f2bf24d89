//! How procedures reach storage: a piece of work in one transaction, tried again where storage
//! says that somebody else won.

use alloc::format;

use crate::bindings::storage::{self, Access, Error as StorageError, Transaction};
use crate::bindings::types::Error;
use crate::{environment, error};

/// How often a transaction is tried again.
const RETRIES: u32 = 5;

/// Why a piece of work ended without its answer: nothing of it stays.
pub enum Failure {
    /// Storage refused.
    Storage(StorageError),
    /// The call is refused.
    Refused(Error),
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Runs work that reads, on one state of storage. It may run several times.
pub fn read<T>(work: impl Fn(&Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    retrying(|| work(&storage::begin(Access::Read)?))
}

/// Runs work that writes and commits it: all of it or nothing. It may run several times.
pub fn write<T>(work: impl Fn(&Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    retrying(|| {
        let transaction = storage::begin(Access::Write)?;
        let answer = work(&transaction)?;
        Transaction::commit(transaction)?;
        Ok(answer)
    })
}

fn retrying<T>(attempt: impl Fn() -> Result<T, Failure>) -> Result<T, Error> {
    for _ in 0..=RETRIES {
        match attempt() {
            Ok(answer) => return Ok(answer),
            Err(Failure::Storage(StorageError::Retry)) => {}
            Err(Failure::Refused(refusal)) => return Err(refusal),
            Err(Failure::Storage(StorageError::Unavailable(text))) => {
                environment::log_error(&format!("storage is unavailable: {text}"));
                return Err(error::unavailable());
            }
            // The procedures translate the rules that they can break; this is another one.
            Err(Failure::Storage(StorageError::Constraint(constraint))) => {
                environment::log_error(&format!("storage refused an unexpected change: {constraint:?}"));
                return Err(error::internal());
            }
        }
    }
    Err(error::unavailable())
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::bindings::types::ErrorCode;

    /// Work that fails so often with `retry` before it succeeds, and how often it ran.
    fn run(failures: u32) -> (Result<(), Error>, u32) {
        let runs = Cell::new(0);
        let result = retrying(|| {
            runs.set(runs.get() + 1);
            if runs.get() <= failures {
                Err(StorageError::Retry.into())
            } else {
                Ok(())
            }
        });
        (result, runs.get())
    }

    #[test]
    fn work_is_tried_again_five_times_and_then_given_up() {
        for failures in 0..=5 {
            let (result, runs) = run(failures);
            assert!(result.is_ok());
            assert_eq!(runs, failures + 1);
        }
        let (result, runs) = run(100);
        assert_eq!(result.unwrap_err().code, ErrorCode::Unavailable);
        assert_eq!(runs, 6);
    }

    #[test]
    fn a_refusal_is_final() {
        let runs = Cell::new(0);
        let result: Result<(), Error> = retrying(|| {
            runs.set(runs.get() + 1);
            Err(error::not_found("App").into())
        });
        assert_eq!(result.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(runs.get(), 1);
    }
}
