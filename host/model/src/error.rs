//! The error type of the host. Transports convert it: `http::error` does so for REST and for procedure calls.
//!
//! Invariant: the caller may see `message` and `issues`. The cause goes to the log, with the request's id,
//! and nowhere else.

use std::fmt;

use crate::types::{self, ErrorCode, Issue, PathSegment};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of tRPC and HTTP")]
pub enum Code {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotSupported,
    Conflict,
    PayloadTooLarge,
    UnsupportedMediaType,
    TooManyRequests,
    InternalServerError,
    ServiceUnavailable,
    Timeout,
}

impl Code {
    /// The name that clients see.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The status of an HTTP response.
    pub fn http_status(self) -> u16 {
        self.facts().1
    }

    /// The number in a procedure call's error, from JSON-RPC and tRPC.
    pub fn rpc_code(self) -> i32 {
        self.facts().2
    }

    /// The seconds after which the same call may succeed, where nothing more is known.
    pub fn retry_after(self) -> Option<u64> {
        const SOON: u64 = 5;
        matches!(self, Self::ServiceUnavailable | Self::Timeout).then_some(SOON)
    }

    fn facts(self) -> (&'static str, u16, i32) {
        match self {
            Self::BadRequest => ("BAD_REQUEST", 400, -32600),
            Self::Unauthorized => ("UNAUTHORIZED", 401, -32001),
            Self::Forbidden => ("FORBIDDEN", 403, -32003),
            Self::NotFound => ("NOT_FOUND", 404, -32004),
            Self::MethodNotSupported => ("METHOD_NOT_SUPPORTED", 405, -32005),
            Self::Conflict => ("CONFLICT", 409, -32009),
            Self::PayloadTooLarge => ("PAYLOAD_TOO_LARGE", 413, -32013),
            Self::UnsupportedMediaType => ("UNSUPPORTED_MEDIA_TYPE", 415, -32015),
            Self::TooManyRequests => ("TOO_MANY_REQUESTS", 429, -32029),
            Self::InternalServerError => ("INTERNAL_SERVER_ERROR", 500, -32603),
            Self::ServiceUnavailable => ("SERVICE_UNAVAILABLE", 503, -32603),
            Self::Timeout => ("TIMEOUT", 504, -32008),
        }
    }
}

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
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("{what} not found"))
    }

    /// The caller must sign in.
    pub fn unauthorized() -> Self {
        Self::new(
            Code::Unauthorized,
            "Sign in, or send a valid API key or session token",
        )
    }

    /// Something failed, and not because of the caller.
    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(Code::InternalServerError, "Internal server error")
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
