//! A board of Homarr as one of Portico: sections with apps, bookmarks, notes and clocks, and its extras for clients of
//! Homarr
//! ([`portico_storage::extras`]).

use std::collections::HashSet;

use portico_storage::extras::{ITEMS, LAYOUTS, NOTES, SECTIONS, SETTINGS};
use portico_storage::{BoardItem, BoardSummary, ExtrasOf, PlacedItem, Section, Shares, Size};
use serde_json::{Map, Value, json};

use crate::report::{Kind, Report, What, counted, shown};

#[derive(Clone, Debug)]
pub struct Board {
    pub board: BoardSummary,
    /// What is on it, in order.
    pub items: Vec<Item>,
    /// The names of the parts in which its items stand, in order.
    pub parts: Vec<Option<String>>,
    /// Whom it is shared with.
    pub shares: Shares,
    /// Its layouts, as stored in the extras.
    pub layouts: Vec<Value>,
    /// Its sections, as stored in the extras.
    pub sections: Vec<Value>,
    /// Those of its looks that are not Homarr's defaults.
    pub looks: Map<String, Value>,
}

#[derive(Clone, Debug)]
pub struct Item {
    /// As stored in the extras. Which apps it has is in `shown`, if that is set.
    pub kept: Value,
    /// As Portico shows it; `None` for widgets that Portico does not have.
    pub shown: Option<BoardItem>,
    /// Which of the parts it is in.
    pub part: usize,
    pub size: Size,
}

/// The most sections of a board.
const MOST_SECTIONS: usize = 50;

/// How many of the widgets that a board loses are named.
const MOST_NAMED: usize = 20;

/// How many characters a value takes in the extras, at least.
fn length(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// What people call a widget: its kind, and its title if it has one.
fn name_of(item: &Item, length: usize) -> String {
    let kind = shown(item.kept["kind"].as_str().unwrap_or_default());
    let title = item.kept["advancedOptions"]["title"].as_str();
    let title = title.filter(|title| !title.trim().is_empty());
    let title = title.map_or_else(String::new, |title| format!(" {:?}", shown(title)));
    format!("{kind:?}{title} with {length} characters")
}

impl Board {
    /// The items that Portico shows.
    pub fn shown(&self) -> Vec<BoardItem> {
        self.items.iter().filter_map(|item| item.shown.clone()).collect()
    }

    /// The sections that Portico shows: parts without a name stand together, and those beyond the most with the last.
    pub fn shown_sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        for (number, name) in self.parts.iter().enumerate() {
            let items = self.items.iter().filter(|item| item.part == number);
            let items = items.filter_map(|item| {
                let size = item.size;
                item.shown.clone().map(|item| PlacedItem { item, size })
            });
            let items: Vec<PlacedItem> = items.collect();
            let is_full = sections.len() == MOST_SECTIONS;
            match sections.last_mut() {
                Some(last) if is_full || (name.is_none() && last.name.is_none()) => last.items.extend(items),
                _ if name.is_none() && items.is_empty() => {}
                _ => sections.push(Section {
                    name: name.clone(),
                    collapsed: false,
                    items,
                }),
            }
        }
        if sections.is_empty() {
            sections.push(Section::default());
        }
        sections
    }

    /// Changes the apps of the items: `apps` returns the apps that replace these. Returns how many apps were removed.
    /// An item whose only app is removed is removed too.
    pub fn change_apps(&mut self, apps: impl Fn(Vec<String>) -> Vec<String>) -> usize {
        let mut removed = 0;
        self.items.retain_mut(|item| match &mut item.shown {
            None => true,
            Some(BoardItem::App { app_id }) => match apps(vec![app_id.clone()]).pop() {
                Some(other) => {
                    *app_id = other;
                    true
                }
                None => {
                    removed += 1;
                    false
                }
            },
            Some(BoardItem::Bookmarks { app_ids }) => {
                let before = app_ids.len();
                *app_ids = apps(std::mem::take(app_ids));
                removed += before - app_ids.len();
                true
            }
            Some(BoardItem::Note { .. } | BoardItem::Clock { .. }) => true,
        });
        removed
    }

    /// The text of its extras, if there are any.
    pub fn extras(&self, report: &mut Report) -> Option<String> {
        if self.items.is_empty()
            && self.layouts.is_empty()
            && self.sections.is_empty()
            && self.looks.is_empty()
        {
            return None;
        }
        let most = ExtrasOf::MOST_OF_BOARD;
        let whole = self.text(&HashSet::new());
        let mut beyond = whole.chars().count().saturating_sub(most);
        if beyond == 0 {
            return Some(whole);
        }
        // The largest widgets go first, because then the fewest go.
        let mut widgets: Vec<(usize, usize)> = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.shown.as_ref().is_none_or(|shown| shown.app_ids().is_empty()))
            .filter(|(_, item)| !matches!(item.shown, Some(BoardItem::Bookmarks { .. })))
            .map(|(place, item)| (length(&item.kept), place))
            .collect();
        widgets.sort_unstable_by(|left, right| right.cmp(left));
        let mut dropped = HashSet::new();
        let mut names = Vec::new();
        for (length, place) in widgets {
            if beyond == 0 {
                break;
            }
            beyond = beyond.saturating_sub(length);
            dropped.insert(place);
            names.push(name_of(&self.items[place], length));
        }
        let text = self.text(&dropped);
        let (text, lost) = if text.chars().count() <= most {
            let count = names.len();
            let shown = names
                .iter()
                .take(MOST_NAMED)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            let more = match count.saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            (
                Some(text),
                format!("{}, the largest: {shown}{more}", counted(count, "widget")),
            )
        } else {
            (None, "its grid, looks and widgets".to_owned())
        };
        let why =
            format!("{lost}, for clients of Homarr as well: at most {most} characters are kept of a board");
        report.note_of(Kind::Board, (&self.board.id, &self.board.name), What::Lost, why);
        text
    }

    /// The text of the extras, without the items at these places.
    fn text(&self, dropped: &HashSet<usize>) -> String {
        let items = self.items.iter().enumerate();
        let items = items
            .filter(|(place, _)| !dropped.contains(place))
            .map(|(_, item)| {
                let mut kept = item.kept.clone();
                match &item.shown {
                    Some(BoardItem::App { app_id }) => kept["options"]["appId"] = json!(app_id),
                    Some(BoardItem::Bookmarks { app_ids }) => kept["options"]["items"] = json!(app_ids),
                    Some(BoardItem::Note { .. } | BoardItem::Clock { .. }) | None => {}
                }
                kept
            });
        let mut extras = Map::new();
        extras.insert(ITEMS.into(), items.collect());
        let is_note = |item: &&Item| matches!(&item.kept["kind"].as_str(), Some("notebook" | "clock"));
        if self.items.iter().filter(is_note).all(|item| item.shown.is_some()) {
            extras.insert(NOTES.into(), true.into());
        }
        for (key, list) in [(LAYOUTS, &self.layouts), (SECTIONS, &self.sections)] {
            if !list.is_empty() {
                extras.insert(key.into(), list.clone().into());
            }
        }
        if !self.looks.is_empty() {
            extras.insert(SETTINGS.into(), self.looks.clone().into());
        }
        portico_storage::extras::text(&extras)
    }
}
