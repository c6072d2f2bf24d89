//! The bounds of the dashboard side's texts. As in the component, `str::trim` trims every text, line ends
//! included, and lengths count characters after that.

use std::ops::RangeInclusive;

use portico_model::{PathSegment, error::Error};
use portico_rules::{bounds, direction, rule::Rule};

use crate::{
    issues::Issues,
    shape::{Bound, Shape},
};

/// The shape of a text on one line, such as a name. [`Fields::label`] checks it.
pub(super) const LABEL: Shape = Shape::Bounded(&Shape::Text, Bound::length(bounds::LABEL));

/// Collects the issues of an input, so that one error lists all of them.
#[derive(Default)]
pub(super) struct Fields {
    /// The entry whose fields are being checked; empty for the input itself.
    place: Vec<PathSegment>,
    issues: Issues,
}

impl Fields {
    /// The next fields are those of this list's entry at this position.
    pub fn enter(&mut self, list: &str, index: usize) {
        self.place = vec![PathSegment::Field(list.into()), PathSegment::Index(index as u32)];
    }

    /// The next fields are those of this record in the input.
    pub fn enter_record(&mut self, field: &str) {
        self.place = vec![PathSegment::Field(field.into())];
    }

    /// The next fields are those of the input itself.
    pub fn leave(&mut self) {
        self.place.clear();
    }

    /// Checks a text on one line of such a length, and trims it.
    pub fn label(&mut self, field: &str, text: &str, characters: RangeInclusive<usize>) -> String {
        self.label_at(&[PathSegment::Field(field.into())], text, characters)
    }

    /// The same at a path.
    pub fn label_at(
        &mut self,
        path: &[PathSegment],
        text: &str,
        characters: RangeInclusive<usize>,
    ) -> String {
        let text = text.trim();
        let length = text.chars().count();
        if !characters.contains(&length) {
            let (least, most) = characters.into_inner();
            let rule = Rule::CharactersBetween {
                least,
                most,
                got: length,
            };
            self.refuse_at(path.iter().cloned(), rule);
        } else if text.chars().any(char::is_control) {
            self.refuse_at(path.iter().cloned(), Rule::ControlCharacters);
        }
        text.to_owned()
    }

    /// Checks a text of at most `most` characters, which may contain newlines and tabs, and trims it; `None` if it is
    /// empty.
    pub fn text(&mut self, field: &str, text: Option<&str>, most: usize) -> Option<String> {
        self.text_at(&[PathSegment::Field(field.into())], text?, most)
    }

    /// The same at a path.
    pub fn text_at(&mut self, path: &[PathSegment], text: &str, most: usize) -> Option<String> {
        let text = text.trim();
        let length = text.chars().count();
        if length > most {
            self.refuse_at(path.iter().cloned(), Rule::TooLong { most, got: length });
        } else if text
            .chars()
            .any(|character| character.is_control() && !matches!(character, '\n' | '\t'))
        {
            self.refuse_at(path.iter().cloned(), Rule::ControlCharactersInLines);
        }
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Refuses characters that change the direction of text, except in the text that the record has already, because it
    /// may be older than the rule.
    pub fn keeps_direction(&mut self, field: &str, text: &str, present: Option<&str>) {
        if let Some(problem) = direction::problem(text).filter(|_| present != Some(text)) {
            self.refuse(field, problem);
        }
    }

    /// Checks that a list has at most `most` entries.
    pub fn count(&mut self, field: &str, length: usize, most: usize) {
        if length > most {
            self.refuse(field, Rule::TooManyEntries { most, got: length });
        }
    }

    /// Adds an issue of a field.
    pub fn refuse(&mut self, field: &str, rule: Rule) {
        self.refuse_at([PathSegment::Field(field.into())], rule);
    }

    /// Adds an issue at this path.
    pub fn refuse_at(&mut self, path: impl IntoIterator<Item = PathSegment>, message: impl Into<String>) {
        self.issues.add(self.place.iter().cloned().chain(path), message);
    }

    /// Fails with all issues, if there are any.
    pub fn check(self) -> Result<(), Error> {
        self.issues.check()
    }
}
