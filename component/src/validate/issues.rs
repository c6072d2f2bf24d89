//! The result of one rule, and the collector that reports all broken rules of an input together.

use alloc::string::ToString;
use alloc::vec::Vec;

use portico_rules::rule::Rule;

use crate::bindings::types::{Error, Issue, PathSegment};
use crate::error;

/// A value as it is stored, or the rule that it breaks.
pub type Checked<T> = Result<T, Rule>;

/// The broken rules of one input.
#[derive(Default)]
pub struct Issues {
    item: Option<PathSegment>,
    found: Vec<Issue>,
}

impl Issues {
    /// The next fields belong to the list's item at this position.
    pub fn enter_item(&mut self, index: usize) {
        self.item = Some(PathSegment::Index(u32::try_from(index).unwrap_or(u32::MAX)));
    }

    /// Takes the value of a field. If it breaks a rule, notes that and returns a default, which is never used because
    /// [`Issues::finish`] refuses the input.
    pub fn check<T: Default>(&mut self, field: &str, checked: Checked<T>) -> T {
        checked.unwrap_or_else(|rule| {
            let field = PathSegment::Field(field.to_string());
            let path = self.item.iter().cloned().chain([field]).collect();
            let message = rule.into();
            self.found.push(Issue { path, message });
            T::default()
        })
    }

    /// Refuses the input if it breaks any rule.
    pub fn finish(self) -> Result<(), Error> {
        if self.found.is_empty() {
            Ok(())
        } else {
            Err(error::bad_request(self.found))
        }
    }
}

/// Takes the value of the only field that has a rule.
pub fn field<T>(name: &str, checked: Checked<T>) -> Result<T, Error> {
    at(|| [PathSegment::Field(name.to_string())].into(), checked)
}

/// Takes the value of an input without fields.
pub fn whole<T>(checked: Checked<T>) -> Result<T, Error> {
    at(Vec::new, checked)
}

fn at<T>(path: impl FnOnce() -> Vec<PathSegment>, checked: Checked<T>) -> Result<T, Error> {
    checked.map_err(|rule| {
        let issue = Issue {
            path: path(),
            message: rule.into(),
        };
        error::bad_request([issue].into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(rule: Rule) -> Checked<u32> {
        Err(rule)
    }

    #[test]
    fn all_broken_rules_are_reported_with_their_places() {
        let mut issues = Issues::default();
        assert_eq!(issues.check("good", Ok(5)), 5);
        issues.check("bad", broken(Rule::Empty));
        issues.enter_item(3);
        issues.check("worse", broken(Rule::NotOnce));
        let error = issues.finish().unwrap_err();
        assert_eq!(
            error.message,
            "Input validation failed: bad must not be empty; [3].worse must be in the list once"
        );
        let paths: Vec<_> = error.issues.into_iter().map(|issue| issue.path).collect();
        let field = |name: &str| PathSegment::Field(name.into());
        assert_eq!(
            paths,
            [vec![field("bad")], vec![PathSegment::Index(3), field("worse")]]
        );
    }

    #[test]
    fn an_input_without_broken_rules_passes() {
        let mut issues = Issues::default();
        issues.check("good", Ok(1));
        assert!(issues.finish().is_ok());
    }
}
