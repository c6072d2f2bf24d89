//! The bounds of the dashboard side's texts. Lengths count characters after trimming.

use crate::{
    error::Error,
    model::{Issue, PathSegment},
};

/// Collects what is wrong with an input, so that all of it is said at once.
#[derive(Default)]
pub(super) struct Fields {
    issues: Vec<Issue>,
}

impl Fields {
    /// A text on one line with 1 to `most` characters, trimmed.
    pub fn label(&mut self, field: &str, text: &str, most: usize) -> String {
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 || length > most {
            self.refuse(field, format!("must have 1 to {most} characters, got {length}"));
        } else if text.chars().any(char::is_control) {
            self.refuse(field, "must not contain control characters".into());
        }
        text.to_owned()
    }

    /// A text of at most `most` characters, trimmed, that may hold newlines and tabs; none if empty.
    pub fn text(&mut self, field: &str, text: Option<&str>, most: usize) -> Option<String> {
        let text = text?.trim();
        let length = text.chars().count();
        if length > most {
            self.refuse(
                field,
                format!("must have at most {most} characters, got {length}"),
            );
        } else if text
            .chars()
            .any(|character| character.is_control() && !matches!(character, '\n' | '\t'))
        {
            self.refuse(
                field,
                "must not contain control characters other than newline and tab".into(),
            );
        }
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A list of at most `most`.
    pub fn count<T>(&mut self, field: &str, list: &[T], most: usize) {
        if list.len() > most {
            self.refuse(
                field,
                format!("must have at most {most} entries, got {}", list.len()),
            );
        }
    }

    /// One more thing that is wrong.
    pub fn refuse(&mut self, field: &str, message: String) {
        self.issues.push(Issue {
            path: vec![PathSegment::Field(field.into())],
            message,
        });
    }

    /// Whether all is well.
    pub fn check(self) -> Result<(), Error> {
        if self.issues.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(self.issues))
        }
    }
}
