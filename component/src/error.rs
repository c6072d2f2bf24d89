//! How a call is refused: one function for each kind of refusal.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use portico_rules::code::Code;
use portico_rules::refusal::{Missing, Refusal};

use crate::bindings::types::{Error, ErrorCode, Issue, PathSegment};

/// How many issues the sentence of a `bad-request` repeats.
const ISSUES_IN_MESSAGE: usize = 3;

/// How many characters of an input a message repeats.
const EXCERPT: usize = 40;

/// The input breaks these rules.
pub fn bad_request(issues: Vec<Issue>) -> Error {
    let mut message = String::from("Input validation failed: ");
    for (index, issue) in issues.iter().take(ISSUES_IN_MESSAGE).enumerate() {
        let separator = if index == 0 { "" } else { "; " };
        let _ = write!(message, "{separator}{} {}", path_text(&issue.path), issue.message);
    }
    if let Some(more @ 1..) = issues.len().checked_sub(ISSUES_IN_MESSAGE) {
        let _ = write!(message, "; and {more} more");
    }
    Error {
        code: ErrorCode::BadRequest,
        message,
        issues,
    }
}

/// There is no such record, or the caller must not know about it.
pub fn not_found(what: Missing) -> Error {
    Refusal::NotFound { what }.into()
}

/// Another user has the name.
pub fn name_taken() -> Error {
    Refusal::UsernameTaken.into()
}

/// Storage is unavailable now.
pub fn unavailable() -> Error {
    Refusal::StorageUnavailable.into()
}

/// A fault of this component or its host. The log has the details.
pub fn internal() -> Error {
    Refusal::Internal.into()
}

/// The beginning of an input, without control characters, for a message.
pub fn excerpt(text: &str) -> String {
    let mut characters = text.chars().filter(|character| !character.is_control());
    let mut excerpt: String = characters.by_ref().take(EXCERPT).collect();
    if characters.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code() {
            Code::BadRequest => ErrorCode::BadRequest,
            Code::Unauthorized => ErrorCode::Unauthorized,
            Code::Forbidden => ErrorCode::Forbidden,
            Code::NotFound => ErrorCode::NotFound,
            Code::Conflict => ErrorCode::Conflict,
            Code::ServiceUnavailable => ErrorCode::Unavailable,
            // The component knows nothing of HTTP and of the host's limits.
            Code::MethodNotSupported
            | Code::PayloadTooLarge
            | Code::UnsupportedMediaType
            | Code::TooManyRequests
            | Code::InternalServerError
            | Code::Timeout => ErrorCode::Internal,
        };
        Self {
            code,
            message: refusal.into(),
            issues: Vec::new(),
        }
    }
}

/// `[3].iconUrl`, as in a program; `input` for the whole input.
fn path_text(path: &[PathSegment]) -> String {
    let mut text = String::new();
    for segment in path {
        let _ = match segment {
            PathSegment::Field(name) if text.is_empty() => write!(text, "{name}"),
            PathSegment::Field(name) => write!(text, ".{name}"),
            PathSegment::Index(index) => write!(text, "[{index}]"),
        };
    }
    if text.is_empty() {
        String::from("input")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn issue(path: &[PathSegment]) -> Issue {
        Issue {
            path: path.to_vec(),
            message: "must not be empty".into(),
        }
    }

    #[test]
    fn the_message_names_the_first_issues_and_counts_the_rest() {
        let name = PathSegment::Field("name".into());
        let icon = PathSegment::Field("iconUrl".into());
        let issues = [
            vec![name],
            vec![],
            vec![PathSegment::Index(3), icon],
            vec![],
            vec![],
        ];
        assert_eq!(
            bad_request(issues.iter().map(|path| issue(path)).collect()).message,
            "Input validation failed: name must not be empty; input must not be empty; \
             [3].iconUrl must not be empty; and 2 more"
        );
        assert_eq!(
            bad_request(vec![issue(&[])]).message,
            "Input validation failed: input must not be empty"
        );
    }

    #[test]
    fn an_excerpt_is_short_and_has_no_control_characters() {
        assert_eq!(excerpt("a\u{1b}[31m\0b"), "a[31mb");
        assert_eq!(excerpt(&"ä".repeat(40)), "ä".repeat(40));
        assert_eq!(excerpt(&"ä".repeat(41)), format!("{}…", "ä".repeat(40)));
    }
}
