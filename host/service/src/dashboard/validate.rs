//! The bounds of the dashboard side's texts. As in the component, every text is trimmed by `str::trim`,
//! line ends included, and lengths count characters after that.

use std::ops::RangeInclusive;

use portico_model::{Issue, PathSegment, error::Error};

/// The component's rule for the icons of apps, compiled into the host as well.
#[path = "../../../../component/src/validate/icon_rule.rs"]
mod icon_rule;

pub(super) use icon_rule::problem as icon_problem;

/// After so many broken rules nobody reads on.
const MOST_ISSUES: usize = 50;

/// Collects what is wrong with an input, so that all of it is said at once.
#[derive(Default)]
pub(super) struct Fields {
    place: Vec<PathSegment>,
    issues: Vec<Issue>,
}

impl Fields {
    /// From here on, fields are those of this list's entry at this position.
    pub fn enter(&mut self, list: &str, index: usize) {
        self.place = vec![PathSegment::Field(list.into()), PathSegment::Index(index as u32)];
    }

    /// From here on, fields are those of the input itself.
    pub fn leave(&mut self) {
        self.place.clear();
    }

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

    /// A whole number in this range.
    pub fn number(&mut self, field: &str, number: i32, range: RangeInclusive<i32>) -> u32 {
        if !range.contains(&number) {
            let message = match (range.start(), range.end()) {
                (from, &i32::MAX) => format!("must be a whole number of at least {from}, got {number}"),
                (from, to) => format!("must be a whole number from {from} to {to}, got {number}"),
            };
            self.refuse(field, message);
        }
        number.unsigned_abs()
    }

    /// A list of at most `most`.
    pub fn count(&mut self, field: &str, length: usize, most: usize) {
        if length > most {
            self.refuse(field, format!("must have at most {most} entries, got {length}"));
        }
    }

    /// One more thing that is wrong.
    pub fn refuse(&mut self, field: &str, message: String) {
        self.refuse_at([PathSegment::Field(field.into())], message);
    }

    /// One more thing that is wrong, further in.
    pub fn refuse_at(&mut self, path: impl IntoIterator<Item = PathSegment>, message: String) {
        if self.issues.len() < MOST_ISSUES {
            let path = self.place.iter().cloned().chain(path).collect();
            self.issues.push(Issue { path, message });
        }
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
