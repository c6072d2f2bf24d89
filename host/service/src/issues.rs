//! Collects the rules that an input breaks, so that one error lists all of them.

use portico_model::{Issue, PathSegment, error::Error};

/// The most issues that one error lists.
const MOST_ISSUES: usize = 50;

/// The issues of an input so far.
#[derive(Default)]
pub(crate) struct Issues(Vec<Issue>);

impl Issues {
    /// Adds an issue at this path, unless there are too many already.
    pub fn add(&mut self, path: impl IntoIterator<Item = PathSegment>, message: impl Into<String>) {
        if self.0.len() < MOST_ISSUES {
            let path = path.into_iter().collect();
            let message = message.into();
            self.0.push(Issue { path, message });
        }
    }

    /// Fails with all issues, if there are any.
    pub fn check(self) -> Result<(), Error> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(self.0))
        }
    }
}
