//! How functions of `people` reach the database: a piece of work in one transaction, which is tried again when it collides.

use portico_model::error::{self, Code};
use portico_rules::refusal::Refusal;
use portico_sql::{Settings, SqlTransaction, Visibility};
use portico_storage::{Access, AppVisibility, CallContext, Error as StorageError};

use crate::bindings::types::{Error, ErrorCode};
use crate::configuration;
use crate::convert;
use crate::database::Statements;
use crate::environment;
use crate::note::Note;

/// A transaction of the dashboard's database.
pub type Transaction = SqlTransaction<Statements>;

/// How often a transaction is tried again, as in the component with the rules.
const RETRIES: u32 = 5;

/// A transaction of a call. It begins with its first statement.
pub fn open(access: Access, context: &CallContext) -> Result<Transaction, StorageError> {
    let configuration = configuration::get().map_err(|refusal| StorageError::Unavailable(refusal.into()))?;
    let settings = Settings {
        ids: environment::ids(),
        // Boards are the dashboard's own: `storage` asks it which apps a caller sees.
        visibility: Visibility::Fixed(AppVisibility::Everyone),
        has_password_links: false,
    };
    let statements = Statements::new(configuration, access);
    Ok(SqlTransaction::new(statements, access, context, settings))
}

/// Why a piece of work failed. None of its changes stay.
pub enum Failure {
    /// The database refused.
    Storage(StorageError),
    /// The call is refused.
    Refused(error::Error),
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<error::Error> for Failure {
    fn from(error: error::Error) -> Self {
        Self::Refused(error)
    }
}

/// Runs work that reads once.
pub fn look_up<T>(work: impl Fn(&mut Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| work(&mut open(Access::Lookup, &operator())?)))
}

/// Runs work that reads one state.
pub fn read<T>(work: impl Fn(&mut Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| work(&mut open(Access::Read, &operator())?)))
}

/// Runs work that writes and commits it: all of it or nothing. It may run several times.
pub fn write<T>(work: impl Fn(&mut Transaction) -> Result<T, Failure>) -> Result<T, Error> {
    answered(retrying(|| {
        let mut transaction = open(Access::Write, &operator())?;
        let answer = work(&mut transaction)?;
        crate::executor::now(portico_storage::Transaction::commit(Box::new(transaction)))?;
        Ok(answer)
    }))
}

/// The dashboard itself calls.
fn operator() -> CallContext {
    Note::default().context()
}

/// Tries again while the database returns `retry`. The host waits between two tries, in `begin`.
pub fn retrying<T>(attempt: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..RETRIES {
        match attempt() {
            Err(Failure::Storage(StorageError::Retry)) => {}
            result => return result,
        }
    }
    attempt()
}

/// Turns a failure into what the dashboard gets. The log has the reason.
pub fn answered<T>(result: Result<T, Failure>) -> Result<T, Error> {
    result.map_err(|failure| {
        let error = match failure {
            Failure::Refused(error) => error,
            Failure::Storage(error) => error.into(),
        };
        if let Some(cause) = &error.cause {
            environment::log_error(&format!("{cause:#}"));
        }
        refusal(error)
    })
}

fn refusal(error: error::Error) -> Error {
    let code = match error.code {
        Code::BadRequest => ErrorCode::BadRequest,
        Code::Unauthorized => ErrorCode::Unauthorized,
        Code::Forbidden => ErrorCode::Forbidden,
        Code::NotFound => ErrorCode::NotFound,
        Code::Conflict => ErrorCode::Conflict,
        Code::ServiceUnavailable => ErrorCode::Unavailable,
        _ => ErrorCode::Internal,
    };
    Error {
        code,
        message: error.message,
        issues: error.issues.into_iter().map(convert::issue).collect(),
    }
}
