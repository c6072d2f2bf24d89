//! The error type of the host. Transports convert it: `http::error` does so for REST and for procedure calls.
//!
//! Invariant: the caller may see `message` and `issues`. The cause goes to the log, with the request's id,
//! and nowhere else.

use std::fmt;

use portico_rules::refusal::{Missing, Refusal};

use crate::second_factor::MissingFactor;
use crate::types::{self, ErrorCode, Issue, PathSegment};

pub use portico_rules::code::Code;

/// Why a call was refused, or how it failed.
#[derive(Debug)]
pub struct Error {
    /// The kind.
    pub code: Code,
    /// One sentence for a person.
    pub message: String,
    /// Each broken rule of the input.
    pub issues: Vec<Issue>,
    /// The seconds after which the same call may succeed. Every 503 and 504 says so.
    pub retry_after: Option<u64>,
    /// The second factor that is missing after the right password.
    pub missing_factor: Option<Box<MissingFactor>>,
    /// What happened, for the log.
    pub cause: Option<anyhow::Error>,
}

impl Error {
    /// An error of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            issues: Vec::new(),
            retry_after: code.retry_after(),
            missing_factor: None,
            cause: None,
        }
    }

    /// With the seconds after which to try again.
    pub fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }

    /// The input breaks these rules.
    pub fn invalid(issues: Vec<Issue>) -> Self {
        const SHOWN_ISSUES: usize = 3;
        let mut message = String::from("Input validation failed");
        for (index, issue) in issues.iter().take(SHOWN_ISSUES).enumerate() {
            message.push_str(if index == 0 { ": " } else { "; " });
            message.push_str(&issue_text(issue));
        }
        if issues.len() > SHOWN_ISSUES {
            message.push_str(&format!("; and {} more", issues.len() - SHOWN_ISSUES));
        }
        Self {
            issues,
            ..Self::new(Code::BadRequest, message)
        }
    }

    /// One field of the input breaks a rule.
    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![Issue {
            path: vec![PathSegment::Field(field.into())],
            message: message.into(),
        }])
    }

    /// This does not exist, or the caller must not know whether it does.
    pub fn not_found(what: Missing) -> Self {
        Refusal::NotFound { what }.into()
    }

    /// The caller must sign in.
    pub fn unauthorized() -> Self {
        Refusal::SignIn.into()
    }

    /// Something failed, and not because of the caller.
    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Refusal::Internal.into()
        }
    }
}

/// The cause of a refusal after this many transactions of the call collided with others. This happens under
/// load, so it is logged as a warning.
#[derive(Debug)]
pub struct Collided(pub u32);

impl fmt::Display for Collided {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.0 == 1 { "time" } else { "times" };
        write!(formatter, "storage answered `retry` {} {times}", self.0)
    }
}

impl std::error::Error for Collided {}

/// Names the part of the input and the rule that it breaks: `apps[3].href must be an absolute URL`.
pub fn issue_text(issue: &Issue) -> String {
    let mut path = String::new();
    for segment in &issue.path {
        match segment {
            PathSegment::Field(name) if path.is_empty() => path.push_str(name),
            PathSegment::Field(name) => path.push_str(&format!(".{name}")),
            PathSegment::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    let path = if path.is_empty() { "input" } else { &path };
    format!("{path} {}", issue.message)
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code(), refusal)
    }
}

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        let code = match error.code {
            ErrorCode::BadRequest => Code::BadRequest,
            ErrorCode::Unauthorized => Code::Unauthorized,
            ErrorCode::Forbidden => Code::Forbidden,
            ErrorCode::NotFound => Code::NotFound,
            ErrorCode::Conflict => Code::Conflict,
            ErrorCode::Unavailable => Code::ServiceUnavailable,
            ErrorCode::Internal => {
                return Self::internal(anyhow::anyhow!("the component says: {}", error.message));
            }
            ErrorCode::Other(kind) => {
                let cause = anyhow::anyhow!("the component refused with {kind}: {}", error.message);
                return Self::internal(cause);
            }
        };
        Self {
            issues: error.issues,
            ..Self::new(code, error.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_try_again_is_told_when() {
        let storage = || types::Error {
            code: ErrorCode::Unavailable,
            message: String::new(),
            issues: Vec::new(),
        };
        for (error, seconds) in [
            (Error::new(Code::ServiceUnavailable, ""), Some(5)),
            (Error::new(Code::Timeout, ""), Some(5)),
            (Error::from(storage()), Some(5)),
            (Error::new(Code::Timeout, "").retry_after(60), Some(60)),
            (Error::new(Code::InternalServerError, ""), None),
            (Error::new(Code::BadRequest, ""), None),
        ] {
            assert_eq!(error.retry_after, seconds, "{error:?}");
        }
    }
}
