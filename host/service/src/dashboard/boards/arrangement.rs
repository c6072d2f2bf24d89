//! What is on a board as callers send it: `sections`, or `items` by those that know no sections.
//!
//! Invariant: who sends the `items` that they read changes nothing of how they are arranged.

use std::collections::{HashMap, VecDeque};

use portico_model::PathSegment;
use portico_rules::{bounds::LABEL, rule::Rule};
use portico_storage::{BoardItem, PlacedItem, Section, Size};

use super::{
    super::validate::Fields,
    bounds::{Bounds, MOST_ITEMS, MOST_OF_NOTE, MOST_SECTIONS, TIME_ZONE_PATTERN, at, key},
};
use crate::shape::{
    Bound, Field,
    Shape::{self, Boolean, Bounded, Choice, List, Named, Nullable, Record, Tagged, Text},
    optional, required,
};

pub(in crate::dashboard) const SIZE: Shape = Choice(&Size::NAMES);
pub(in crate::dashboard) const SECTION_NAME: Shape =
    Nullable(&Bounded(&Text, Bound::Length(0, *LABEL.end() as u32)));
pub(in crate::dashboard) const NOTE: Shape = Bounded(&Text, Bound::Length(0, MOST_OF_NOTE as u32));
pub(in crate::dashboard) const TIME_ZONE: Shape =
    Nullable(&Bounded(&Text, Bound::Pattern(TIME_ZONE_PATTERN)));
pub(in crate::dashboard) const NOTE_ABOUT: &str =
    "At most 8,192 characters, trimmed, and 131,072 on a board: paragraphs with links, no markup.";
pub(in crate::dashboard) const TIME_ZONE_ABOUT: &str =
    "Where: a name of the IANA time zone database, such as `Europe/Berlin`; null: where the reader is.";
pub(in crate::dashboard) const SIZE_ABOUT: &str = "How large it is shown: columns and rows of a grid that flows. Absent in an input: \
                                                   2x2 for a note, otherwise 1x1.";
pub(in crate::dashboard) const SECTION_NAME_ABOUT: &str =
    "Its heading: at most 64 characters on one line, trimmed; empty, null or absent: none.";
pub(in crate::dashboard) const COLLAPSED_ABOUT: &str = "Whether it begins closed; not, if absent.";

const APP_ID: Field = required("appId", Text).about("Which app: its id.");
const APP_IDS: Field = required("appIds", List(&Text)).about("Which apps, in this order: their ids.");
const TEXT: Field = required("text", NOTE).about(NOTE_ABOUT);
const ZONE: Field = optional("timeZone", TIME_ZONE).about(TIME_ZONE_ABOUT);
const ITEM_SIZE: Field = optional("size", SIZE).about(SIZE_ABOUT);

/// An item without its size.
pub(super) const ITEMS: Shape = List(&Named(
    "BoardItem",
    &Tagged(&[
        ("app", &[APP_ID]),
        ("bookmarks", &[APP_IDS]),
        ("note", &[TEXT]),
        ("clock", &[ZONE]),
    ]),
));

pub(super) const SECTIONS: Shape = List(&Named(
    "BoardSection",
    &Record(&[
        optional("name", SECTION_NAME).about(SECTION_NAME_ABOUT),
        optional("collapsed", Boolean).about(COLLAPSED_ABOUT),
        required(
            "items",
            List(&Named(
                "PlacedItem",
                &Tagged(&[
                    ("app", &[APP_ID, ITEM_SIZE]),
                    ("bookmarks", &[APP_IDS, ITEM_SIZE]),
                    ("note", &[TEXT, ITEM_SIZE]),
                    ("clock", &[ZONE, ITEM_SIZE]),
                ]),
            )),
        )
        .about("Its items, in this order; at most 1,000 in all sections."),
    ]),
));

/// The items of a board, up to the largest number.
pub(in crate::dashboard) const SOME_ITEMS: Shape = Bounded(&ITEMS, Bound::Count(0, MOST_ITEMS as u32));
/// The sections of a board, up to the largest number.
pub(in crate::dashboard) const SOME_SECTIONS: Shape =
    Bounded(&SECTIONS, Bound::Count(0, MOST_SECTIONS as u32));

pub(in crate::dashboard) const ITEMS_ABOUT: &str = "What is on it, for callers that know no sections: if these are the items that are on it, in \
     their order, its sections stay; otherwise it gets one section without a name, in which items that were on it keep \
     their sizes. Bookmarks have at most as many apps.";
pub(in crate::dashboard) const SECTIONS_ABOUT: &str = "What is on it, in sections; none is the same as one without a name. `items` sent as well must be what is in them.";

/// What is to be on a board.
pub(in crate::dashboard) enum Arrangement {
    /// Items, some with their sizes.
    Items(Vec<(BoardItem, Option<Size>)>),
    Sections(Vec<Section>),
}

impl Arrangement {
    /// What a caller sent, checked and with its texts trimmed; `None` if they sent neither.
    pub fn read(
        fields: &mut Fields,
        items: Option<Vec<BoardItem>>,
        sections: Option<Vec<Section>>,
    ) -> Option<Self> {
        let Some(mut sections) = sections else {
            let items = items?.into_iter().map(|item| (item, None)).collect();
            let mut this = Self::Items(items);
            this.check(fields);
            return Some(this);
        };
        let differ = items.is_some_and(|items| {
            let contained = sections.iter().flat_map(Section::contents);
            !contained.eq(&items)
        });
        if differ {
            fields.refuse("items", Rule::NotItemsOfSections);
        }
        if sections.is_empty() {
            sections.push(Section::default());
        }
        let mut this = Self::Sections(sections);
        this.check(fields);
        Some(this)
    }

    /// Checks bounds and texts, and trims these.
    fn check(&mut self, fields: &mut Fields) {
        match self {
            Self::Items(items) => {
                let mut bounds = Bounds::new(fields, "items");
                bounds.items(items.len());
                let place = key(&[], "items");
                for (index, (item, _)) in items.iter_mut().enumerate() {
                    check_item(&mut bounds, &at(&place, index), item);
                }
                bounds.finish();
            }
            Self::Sections(sections) => {
                let mut bounds = Bounds::new(fields, "sections");
                bounds.sections(sections.len());
                bounds.items(sections.iter().map(|section| section.items.len()).sum());
                let place = key(&[], "sections");
                for (number, section) in sections.iter_mut().enumerate() {
                    let place = at(&place, number);
                    bounds.section_name(&key(&place, "name"), &mut section.name);
                    let place = key(&place, "items");
                    for (index, placed) in section.items.iter_mut().enumerate() {
                        check_item(&mut bounds, &at(&place, index), &mut placed.item);
                    }
                }
                bounds.finish();
            }
        }
    }

    /// The sections that a board with these sections gets.
    pub fn on(self, present: &[Section]) -> Vec<Section> {
        let items = match self {
            Self::Sections(sections) => return sections,
            Self::Items(items) => items,
        };
        let contained = present.iter().flat_map(Section::contents);
        if contained.eq(items.iter().map(|(item, _)| item)) {
            let mut sections = present.to_vec();
            if sections.is_empty() {
                sections.push(Section::default());
            }
            let placed = sections.iter_mut().flat_map(|section| &mut section.items);
            for (placed, (_, size)) in placed.zip(items) {
                placed.size = size.unwrap_or(placed.size);
            }
            return sections;
        }
        let mut sizes: HashMap<&BoardItem, VecDeque<Size>> = HashMap::new();
        for placed in present.iter().flat_map(|section| &section.items) {
            sizes.entry(&placed.item).or_default().push_back(placed.size);
        }
        let items = items.into_iter().map(|(item, size)| {
            let before = sizes.get_mut(&item).and_then(VecDeque::pop_front);
            let size = size.or(before).unwrap_or_else(|| item.default_size());
            PlacedItem { item, size }
        });
        vec![Section {
            items: items.collect(),
            ..Section::default()
        }]
    }
}

fn check_item(bounds: &mut Bounds, place: &[PathSegment], item: &mut BoardItem) {
    match item {
        BoardItem::App { .. } => {}
        BoardItem::Bookmarks { app_ids } => bounds.apps(&key(place, "appIds"), app_ids.len()),
        BoardItem::Note { text } => bounds.note(&key(place, "text"), text),
        BoardItem::Clock { time_zone } => bounds.time_zone(&key(place, "timeZone"), time_zone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: &str) -> BoardItem {
        BoardItem::App { app_id: id.into() }
    }

    fn placed(id: &str, size: Size) -> PlacedItem {
        PlacedItem { item: app(id), size }
    }

    fn sections() -> Vec<Section> {
        vec![
            Section {
                name: Some("Media".into()),
                collapsed: true,
                items: vec![placed("a", Size::Large)],
            },
            Section {
                items: vec![placed("b", Size::Wide), placed("a", Size::Broad)],
                ..Section::default()
            },
        ]
    }

    fn sent(items: &[(&str, Option<Size>)]) -> Arrangement {
        Arrangement::Items(items.iter().map(|(id, size)| (app(id), *size)).collect())
    }

    #[test]
    fn items_that_are_on_the_board_in_their_order_leave_its_sections() {
        let same = sent(&[("a", None), ("b", None), ("a", None)]);
        assert_eq!(same.on(&sections()), sections());
        let mut sized = sections();
        sized[1].items[0].size = Size::Small;
        let sent = sent(&[("a", None), ("b", Some(Size::Small)), ("a", None)]);
        assert_eq!(sent.on(&sections()), sized);
    }

    #[test]
    fn other_items_make_one_section_and_those_that_were_there_keep_their_sizes() {
        let other = sent(&[("a", None), ("c", None), ("a", None), ("b", Some(Size::Small))]);
        let expected = vec![Section {
            items: vec![
                placed("a", Size::Large),
                placed("c", Size::Small),
                placed("a", Size::Broad),
                placed("b", Size::Small),
            ],
            ..Section::default()
        }];
        assert_eq!(other.on(&sections()), expected);
        assert_eq!(sent(&[]).on(&sections()), vec![Section::default()]);
        assert_eq!(sent(&[]).on(&[]), vec![Section::default()]);
    }
}
