//! How procedures reach storage: a piece of work in one transaction, which is tried again when storage returns `retry`.
//!
//! The host waits between two tries, in the `begin` that follows a `retry` (`wit/storage.wit`), because a
//! component cannot sleep.

use alloc::format;
use alloc::vec::Vec;

use portico_rules::refusal::Refusal;

use crate::bindings::storage::{
    self, Access, Account, AccountKey, Error as StorageError, Slice, Transaction, Viewer,
};
use crate::bindings::types::{App, Error, User};
use crate::{environment, error};

/// How often a transaction is tried again.
const RETRIES: u32 = 5;

/// Why a piece of work failed. None of its changes stay.
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

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Runs work that reads once: exactly one function of the transaction. It may run several times.
pub fn lookup<T>(context: &str, work: impl Fn(&Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| work(&storage::begin(Access::Lookup, context)?)))
}

/// Runs work that reads, on one state of storage. It may run several times.
pub fn read<T>(context: &str, work: impl Fn(&Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| work(&storage::begin(Access::Read, context)?)))
}

/// Reads one page: its records, and how many there are in total. For a page past the end, storage would read
/// all names once more to find nothing.
pub fn read_page<T>(
    context: &str,
    slice: Slice,
    count: impl Fn(&Transaction) -> Result<u32, StorageError>,
    list: impl Fn(&Transaction, Slice) -> Result<Vec<T>, StorageError>,
) -> Result<(Vec<T>, u32), Error> {
    read(context, |transaction| {
        let total_count = count(transaction)?;
        let items = if total_count > slice.offset {
            list(transaction, slice)?
        } else {
            Vec::new()
        };
        Ok((items, total_count))
    })
}

/// Runs work that writes and commits it: all of it or nothing. It may run several times.
pub fn write<T>(context: &str, work: impl Fn(&Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| {
        let transaction = storage::begin(Access::Write, context)?;
        let answer = work(&transaction)?;
        Transaction::commit(transaction)?;
        Ok(answer)
    }))
}

/// The user with exactly this id. Storage that keeps ids as UUIDs takes other spellings of one for the same id; we compare
/// ids as texts, for example to find out whose own user this is.
pub fn get_user(transaction: &Transaction, id: &str) -> Result<Option<User>, StorageError> {
    Ok(transaction.get_user(id)?.filter(|user| user.id == id))
}

/// The account with exactly this id.
pub fn get_account(transaction: &Transaction, id: &str) -> Result<Option<Account>, StorageError> {
    let account = transaction.get_account(&AccountKey::Id(id.into()))?;
    Ok(account.filter(|account| account.id == id))
}

/// The app with exactly this id, if this viewer sees it.
pub fn get_app(transaction: &Transaction, id: &str, viewer: &Viewer) -> Result<Option<App>, StorageError> {
    Ok(transaction.get_app(id, viewer)?.filter(|app| app.id == id))
}

/// Adds what a caller can do about an answer that would be too large.
pub fn too_large(error: StorageError, way_out: Refusal) -> Failure {
    match error {
        StorageError::TooLarge => way_out.into(),
        other => other.into(),
    }
}

/// Tries again while storage returns `retry`; the result of the last try may be `retry` too.
fn retrying<T>(attempt: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..RETRIES {
        match attempt() {
            Err(Failure::Storage(StorageError::Retry)) => {}
            result => return result,
        }
    }
    attempt()
}

/// Turns a failure into what the caller sees. The log has the reason.
fn answered<T>(result: Result<T, Failure>) -> Result<T, Error> {
    result.map_err(|failure| match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Storage(StorageError::Retry) => {
            let tries = RETRIES + 1;
            environment::log_warning(&format!(
                "gave up: a transaction collided with others in each of {tries} tries"
            ));
            error::unavailable()
        }
        Failure::Storage(StorageError::Unavailable(text)) => {
            environment::log_error(&format!("storage is unavailable: {text}"));
            error::unavailable()
        }
        Failure::Storage(StorageError::TooLarge) => Refusal::AnswerTooLarge.into(),
        // The procedures translate the constraints that they can violate; this is another one.
        Failure::Storage(StorageError::Constraint(constraint)) => {
            environment::log_error(&format!("storage refused an unexpected change: {constraint:?}"));
            error::internal()
        }
        Failure::Storage(StorageError::Other(text)) => {
            environment::log_error(&format!("storage refused: {text}"));
            error::internal()
        }
    })
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::bindings::types::ErrorCode;

    /// Runs work that fails this often with `retry` before it succeeds; returns how often it ran.
    fn run(failures: u32) -> (Result<(), Failure>, u32) {
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
        assert!(matches!(result, Err(Failure::Storage(StorageError::Retry))));
        assert_eq!(runs, 6);
    }

    #[test]
    fn a_refusal_is_final() {
        let runs = Cell::new(0);
        let result: Result<(), Failure> = retrying(|| {
            runs.set(runs.get() + 1);
            Err(error::not_found(portico_rules::refusal::Missing::App).into())
        });
        assert_eq!(answered(result).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(runs.get(), 1);
    }
}
