//! The bounds of what is on a board.

use portico_model::PathSegment;
use portico_rules::{bounds, rule::Rule};
use portico_storage::{is_time_zone, notes::MOST_OF_NOTES};

use super::super::validate::Fields;

/// The most items of a board, in all its sections, and apps in a list of bookmarks.
pub(in crate::dashboard) const MOST_ITEMS: usize = 1000;
/// The most sections of a board.
pub(in crate::dashboard) const MOST_SECTIONS: usize = 50;
/// The most characters of a note.
pub(super) const MOST_OF_NOTE: usize = 8 << 10;
/// The form of a name of a time zone: up to three parts of up to 32 characters.
pub(super) const TIME_ZONE_PATTERN: &str =
    "^[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z][A-Za-z0-9_+-]{0,31}){0,2}$";

/// Checks what is on a board, whose list has this name.
pub(in crate::dashboard) struct Bounds<'a> {
    fields: &'a mut Fields,
    list: &'static str,
    /// The characters of its notes so far.
    notes: usize,
}

impl<'a> Bounds<'a> {
    pub fn new(fields: &'a mut Fields, list: &'static str) -> Self {
        let notes = 0;
        Self { fields, list, notes }
    }

    /// How many sections it has.
    pub fn sections(&mut self, count: usize) {
        self.fields.count(self.list, count, MOST_SECTIONS);
    }

    /// How many items it has, in all sections.
    pub fn items(&mut self, count: usize) {
        if self.list == "items" {
            self.fields.count(self.list, count, MOST_ITEMS);
        } else if count > MOST_ITEMS {
            let most = MOST_ITEMS;
            self.fields
                .refuse(self.list, Rule::TooManyItems { most, got: count });
        }
    }

    /// How many apps a list of bookmarks has.
    pub fn apps(&mut self, place: &[PathSegment], count: usize) {
        if count > MOST_ITEMS {
            let most = MOST_ITEMS;
            self.refuse(place, Rule::TooManyEntries { most, got: count });
        }
    }

    /// Checks the name of a section, and trims it. An empty one is none.
    pub fn section_name(&mut self, place: &[PathSegment], name: &mut Option<String>) {
        let trimmed = name.take().map(|name| name.trim().to_owned());
        *name = trimmed.filter(|name| !name.is_empty());
        if let Some(name) = name {
            self.fields.label_at(place, name, 0..=*bounds::LABEL.end());
        }
    }

    /// Checks the text of a note, and trims it.
    pub fn note(&mut self, place: &[PathSegment], text: &mut String) {
        *text = self.fields.text_at(place, text, MOST_OF_NOTE).unwrap_or_default();
        self.notes += text.chars().count();
    }

    /// Checks the time zone of a clock, and trims it.
    pub fn time_zone(&mut self, place: &[PathSegment], zone: &mut Option<String>) {
        *zone = zone.take().map(|zone| zone.trim().to_owned());
        if zone.as_deref().is_some_and(|zone| !is_time_zone(zone)) {
            self.refuse(place, Rule::NotTimeZone);
        }
    }

    /// Refuses what is at a place.
    pub fn refuse(&mut self, place: &[PathSegment], rule: Rule) {
        self.fields.refuse_at(place.iter().cloned(), rule);
    }

    /// Checks all notes together.
    pub fn finish(self) {
        if self.notes > MOST_OF_NOTES {
            let (most, got) = (MOST_OF_NOTES, self.notes);
            self.fields.refuse(self.list, Rule::TooLongNotes { most, got });
        }
    }
}

/// The place of a key of what is at a place.
pub(in crate::dashboard) fn key(place: &[PathSegment], name: &str) -> Vec<PathSegment> {
    [place, &[PathSegment::Field(name.into())]].concat()
}

/// The place of an entry of a list.
pub(in crate::dashboard) fn at(place: &[PathSegment], index: usize) -> Vec<PathSegment> {
    [place, &[PathSegment::Index(index as u32)]].concat()
}
