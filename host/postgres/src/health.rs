//! What PostgreSQL's errors mean, to callers and to the operator.

use std::fmt::{self, Display};
use std::io::ErrorKind;

use portico_storage::driver::waited_too_long;
use portico_storage::{Constraint, Error};
use tokio_postgres::error::{DbError, Severity, SqlState};

use super::failure::Unreached;
use super::query::Failure;

const INTERRUPTED: &str = "a statement was ended: it took too long, or its call has ended";

/// A database, and what its errors mean.
pub(super) struct Health {
    /// Without a password.
    shown: String,
}

impl Health {
    pub fn new(shown: &str) -> Self {
        Self {
            shown: shown.to_owned(),
        }
    }

    /// Turns the driver's failures into storage's errors; nothing else does. The texts name tables and constraints,
    /// never their contents.
    pub fn translate(&self, failure: Failure) -> Error {
        let error = match failure {
            Failure::Unread(Error::Unavailable(cause)) => return self.unavailable(&cause),
            Failure::Unread(error) => return error,
            Failure::Postgres(error) => error,
        };
        let Some(refusal) = error.as_db_error() else {
            return self.unavailable(&error.to_string());
        };
        let code = refusal.code();
        if [
            &SqlState::T_R_SERIALIZATION_FAILURE,
            &SqlState::T_R_DEADLOCK_DETECTED,
        ]
        .contains(&code)
        {
            return Error::Retry;
        }
        if *code == SqlState::QUERY_CANCELED {
            tracing::warn!("{INTERRUPTED}");
            return Error::Unavailable(INTERRUPTED.into());
        }
        if *code == SqlState::LOCK_NOT_AVAILABLE {
            return waited_too_long();
        }
        match constraint(refusal) {
            Some(constraint) => Error::Constraint(constraint),
            None => self.unavailable(&format!("{} ({})", refusal.message(), code.code())),
        }
    }

    /// The connection was lost, or became silent, while a transaction was committed.
    pub fn unknown(&self, why: impl Display) -> Error {
        self.unavailable(&format!(
            "it is not known whether the transaction was committed: {why}"
        ))
    }

    /// No connection could be made.
    pub fn unreached(&self, error: &Unreached) -> Error {
        self.unavailable(&describe(error))
    }

    /// Logs an error that the caller can do nothing about.
    pub fn unavailable(&self, cause: &str) -> Error {
        tracing::error!("cannot use the database {}: {cause}", self.shown);
        Error::Unavailable(cause.to_owned())
    }
}

/// Why there is no connection, in words.
pub(super) fn describe(error: &Unreached) -> String {
    match error {
        Unreached::TimedOut(limit) => {
            format!("no connection within {} seconds", limit.as_secs())
        }
        Unreached::Unfit(why) | Unreached::Unresolved(why) => why.clone(),
        Unreached::Refused(error) => {
            // The causes say more: for which name the certificate is, the error of the system.
            let mut text = match error.as_db_error() {
                Some(refusal) => format!("{} ({})", refusal.message(), refusal.code().code()),
                None => error.to_string(),
            };
            let mut cause = std::error::Error::source(error).filter(|_| error.as_db_error().is_none());
            while let Some(inner) = cause {
                let said = inner.to_string();
                if !text.ends_with(&said) {
                    text = format!("{text}: {said}");
                }
                cause = inner.source();
            }
            text
        }
    }
}

/// A database that is not there at the moment. Nothing says that the settings are wrong.
#[derive(Debug)]
pub(super) struct Away(pub String);

impl Display for Away {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Away {}

/// The error of a start without a connection.
pub(super) fn unopened(error: &Unreached) -> anyhow::Error {
    let is_away = match error {
        Unreached::Refused(error) => is_away(error),
        // Where hosts and database start together, the name may be known a little later.
        Unreached::TimedOut(_) | Unreached::Unresolved(_) => true,
        Unreached::Unfit(_) => false,
    };
    let text = describe(error);
    if is_away {
        Away(text).into()
    } else {
        anyhow::anyhow!(text)
    }
}

/// Whether the server, or the network on the way to it, is away: it is off, starts, stops, hands over to another one, or
/// has no connection to spare.
pub(super) fn is_away(error: &tokio_postgres::Error) -> bool {
    if let Some(refusal) = error.as_db_error() {
        let code = refusal.code();
        return code.code().starts_with("57P")
            || code.code().starts_with("08")
            || *code == SqlState::TOO_MANY_CONNECTIONS
            || *code == SqlState::READ_ONLY_SQL_TRANSACTION;
    }
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let mut errors = causes.filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    error.is_closed()
        || errors.any(|error| match error.kind() {
            // A certificate, or no TLS at all.
            ErrorKind::InvalidData | ErrorKind::InvalidInput => false,
            // Of the system: a socket that may not be used. Otherwise: of the servers, none accepts writes.
            ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
            _ => true,
        })
}

/// Whether a connection is no longer usable: the server closes it, or no longer accepts writes.
pub(super) fn is_of_no_use(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(|refusal| {
        let code = refusal.code();
        is_fatal(refusal)
            || *code == SqlState::READ_ONLY_SQL_TRANSACTION
            // A table has changed under a prepared statement.
            || *code == SqlState::FEATURE_NOT_SUPPORTED
    })
}

/// Whether the connection ends with this error. What was in progress may have been carried out.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_none_or(is_fatal)
}

fn is_fatal(refusal: &DbError) -> bool {
    let code = refusal.code().code();
    // Not `severity()`, which is in the language of the server.
    refusal.parsed_severity() != Some(Severity::Error) || code.starts_with("57P") || code.starts_with("08")
}

fn constraint(refusal: &DbError) -> Option<Constraint> {
    let code = refusal.code();
    if *code == SqlState::FOREIGN_KEY_VIOLATION {
        return Some(Constraint::Reference);
    }
    // A text is too long for an index. Names are bounded and new ids were checked, so it refers to a record
    // that cannot exist.
    if *code == SqlState::PROGRAM_LIMIT_EXCEEDED {
        return Some(Constraint::Reference);
    }
    if *code != SqlState::UNIQUE_VIOLATION {
        return None;
    }
    portico_sql::constraint(refusal.constraint()?)
}
