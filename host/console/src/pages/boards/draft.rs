//! What is on a board in a form that has not been saved yet.
//!
//! Each part is a hidden field `item`, and the order of these fields is the order of the parts:
//!
//! - `section KEY` begins a section, whose fields are `section-KEY` (its name) and `collapsed-KEY`.
//! - `app KEY SIZE ID` is an app in it, `bookmarks KEY SIZE` a group of bookmarks, and each `in KEY ID` after it an app
//!   in that group; `note KEY SIZE` a note with the field `text-KEY`, and `clock KEY SIZE` a clock with `zone-KEY`.
//! - A key names one of these within the form, so that a button such as `earlier KEY` says what it moves, also after a
//!   script has moved the fields.
//!
//! Invariant: what a form holds is in its draft, so a refused save loses nothing. There is at least one section.

use std::collections::HashMap;

use super::stored::{PlacedItem, SIZES, StoredItem, StoredSection};
use crate::form::Form;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Draft {
    pub sections: Vec<DraftSection>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct DraftSection {
    pub key: usize,
    pub name: String,
    pub collapsed: bool,
    pub items: Vec<DraftItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DraftItem {
    pub key: usize,
    pub size: &'static str,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    App(String),
    Bookmarks(Vec<DraftApp>),
    Note(String),
    Clock(String),
}

/// An app of a group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DraftApp {
    pub key: usize,
    pub id: String,
}

/// The key of what is new, until [`Draft::number`].
const NEW: usize = usize::MAX;

impl Draft {
    pub fn of(sections: &[StoredSection]) -> Self {
        let sections = sections.iter().map(|section| DraftSection {
            key: NEW,
            name: section.name.clone().unwrap_or_default(),
            collapsed: section.collapsed,
            items: section.items.iter().map(DraftItem::of).collect(),
        });
        let mut draft = Self {
            sections: sections.collect(),
        };
        draft.complete();
        draft.number(&[]);
        draft
    }

    /// Reads the items of a form. Leaves out what is not an item.
    pub fn read(form: &Form) -> Self {
        let fields: HashMap<&str, &str> = form.fields().collect();
        let field = |name: &str, key: usize| {
            let text = fields.get(format!("{name}-{key}").as_str()).copied();
            text.unwrap_or_default().replace("\r\n", "\n")
        };
        let mut draft = Self::default();
        for item in form.all("item") {
            let mut parts = item.splitn(2, ' ');
            let kind = parts.next().unwrap_or_default();
            let rest = parts.next().unwrap_or_default();
            let (key, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let Ok(key) = key.parse() else {
                continue;
            };
            if kind == "section" {
                draft.sections.push(DraftSection {
                    key,
                    name: field("section", key),
                    collapsed: !field("collapsed", key).is_empty(),
                    items: Vec::new(),
                });
                continue;
            }
            draft.complete();
            let Some(section) = draft.sections.last_mut() else {
                continue;
            };
            if kind == "in" {
                if let Some(DraftItem {
                    content: Content::Bookmarks(apps),
                    ..
                }) = section.items.last_mut()
                {
                    let id = rest.to_owned();
                    apps.push(DraftApp { key, id });
                }
                continue;
            }
            let (size, id) = rest.split_once(' ').unwrap_or((rest, ""));
            let content = match kind {
                "app" => Content::App(id.to_owned()),
                "bookmarks" => Content::Bookmarks(Vec::new()),
                "note" => Content::Note(field("text", key)),
                "clock" => Content::Clock(field("zone", key)),
                _ => continue,
            };
            let known = SIZES.iter().find(|known| **known == size);
            let size = known.copied().unwrap_or(SIZES[0]);
            section.items.push(DraftItem { key, size, content });
        }
        draft.complete();
        draft
    }

    /// The sections as the API accepts them.
    pub fn sections(&self) -> Vec<StoredSection> {
        let sections = self.sections.iter().map(|section| StoredSection {
            name: Some(section.name.clone()).filter(|name| !name.trim().is_empty()),
            collapsed: section.collapsed,
            items: section.items.iter().map(DraftItem::stored).collect(),
        });
        sections.collect()
    }

    /// How many parts it has.
    pub fn count(&self) -> usize {
        let items = self.sections.iter().flat_map(|section| &section.items);
        let inner = items.map(|item| 1 + item.apps().len());
        self.sections.len() + inner.sum::<usize>()
    }

    /// The ids of its apps, as often as they are on it.
    pub fn app_ids(&self) -> impl Iterator<Item = &str> {
        let items = self.sections.iter().flat_map(|section| &section.items);
        items.flat_map(|item| {
            let own = match &item.content {
                Content::App(id) => Some(id.as_str()),
                _ => None,
            };
            own.into_iter()
                .chain(item.apps().iter().map(|app| app.id.as_str()))
        })
    }

    /// Keeps the apps for which this is true.
    pub fn keep_apps(&mut self, is_kept: impl Fn(&str) -> bool) {
        for section in &mut self.sections {
            section.items.retain_mut(|item| match &mut item.content {
                Content::App(id) => is_kept(id),
                Content::Bookmarks(apps) => {
                    apps.retain(|app| is_kept(&app.id));
                    true
                }
                Content::Note(_) | Content::Clock(_) => true,
            });
        }
    }

    /// Adds an item at the end of the section with this key, or otherwise of the last one; an app also to the group of
    /// bookmarks with this key.
    pub fn add(&mut self, content: Content, into: Option<usize>) {
        if let Content::App(id) = &content {
            let mut items = self.sections.iter_mut().flat_map(|section| &mut section.items);
            let group = items.find(|item| Some(item.key) == into);
            if let Some(DraftItem {
                content: Content::Bookmarks(apps),
                ..
            }) = group
            {
                let id = id.clone();
                return apps.push(DraftApp { key: NEW, id });
            }
        }
        let chosen = self.sections.iter().position(|section| Some(section.key) == into);
        let chosen = chosen.unwrap_or(self.sections.len().saturating_sub(1));
        if let Some(section) = self.sections.get_mut(chosen) {
            let size = if matches!(content, Content::Note(_)) {
                "2x2"
            } else {
                "1x1"
            };
            let key = NEW;
            section.items.push(DraftItem { key, size, content });
        }
    }

    /// Adds a section at the end.
    pub fn add_section(&mut self) {
        let key = NEW;
        self.sections.push(DraftSection {
            key,
            ..DraftSection::default()
        });
    }

    /// Moves what has this key by one place. An item at the end of its section goes into the next one.
    pub fn shift(&mut self, key: usize, later: bool) {
        if let Some(at) = self.sections.iter().position(|section| section.key == key) {
            return shift(&mut self.sections, at, later);
        }
        if let Some((number, at)) = self.place(key) {
            let last = self.sections[number].items.len() - 1;
            let target = match later {
                false if at == 0 => number.checked_sub(1),
                true if at == last => Some(number + 1).filter(|next| *next < self.sections.len()),
                _ => return shift(&mut self.sections[number].items, at, later),
            };
            if let Some(target) = target {
                let item = self.sections[number].items.remove(at);
                let items = &mut self.sections[target].items;
                items.insert(if later { 0 } else { items.len() }, item);
            }
            return;
        }
        for apps in self.groups() {
            if let Some(at) = apps.iter().position(|app| app.key == key) {
                return shift(apps, at, later);
            }
        }
    }

    /// Moves the item with this key to the end of the next section, after the last one to the first.
    pub fn move_to_next_section(&mut self, key: usize) {
        if let Some((number, at)) = self.place(key) {
            let item = self.sections[number].items.remove(at);
            let next = (number + 1) % self.sections.len();
            self.sections[next].items.push(item);
        }
    }

    /// Gives the item with this key the next size.
    pub fn resize(&mut self, key: usize) {
        if let Some((number, at)) = self.place(key) {
            let item = &mut self.sections[number].items[at];
            let present = SIZES.iter().position(|size| *size == item.size);
            item.size = SIZES[(present.unwrap_or_default() + 1) % SIZES.len()];
        }
    }

    /// Removes what has this key. The items of a section go to its neighbour; the last section stays.
    pub fn remove(&mut self, key: usize) {
        if let Some(at) = self.sections.iter().position(|section| section.key == key) {
            if self.sections.len() > 1 {
                let section = self.sections.remove(at);
                if at == 0 {
                    let rest = std::mem::replace(&mut self.sections[0].items, section.items);
                    self.sections[0].items.extend(rest);
                } else {
                    self.sections[at - 1].items.extend(section.items);
                }
            }
            return;
        }
        if let Some((number, at)) = self.place(key) {
            self.sections[number].items.remove(at);
            return;
        }
        for apps in self.groups() {
            apps.retain(|app| app.key != key);
        }
    }

    /// Gives each part a new key: its number in the order. Returns the new keys of those that had these.
    pub fn number(&mut self, old: &[Option<usize>]) -> Vec<Option<usize>> {
        let mut found = vec![None; old.len()];
        let mut next = 0;
        let mut rename = |key: &mut usize| {
            for (old, found) in old.iter().zip(&mut found) {
                if *old == Some(*key) && *key != NEW {
                    *found = Some(next);
                }
            }
            *key = next;
            next += 1;
        };
        for section in &mut self.sections {
            rename(&mut section.key);
            for item in &mut section.items {
                rename(&mut item.key);
                if let Content::Bookmarks(apps) = &mut item.content {
                    apps.iter_mut().for_each(|app| rename(&mut app.key));
                }
            }
        }
        found
    }

    /// Adds the section that every board has.
    fn complete(&mut self) {
        if self.sections.is_empty() {
            self.sections.push(DraftSection {
                key: NEW,
                ..DraftSection::default()
            });
        }
    }

    /// The section of an item, and its place in it.
    fn place(&self, key: usize) -> Option<(usize, usize)> {
        let mut sections = self.sections.iter().enumerate();
        sections.find_map(|(number, section)| {
            let at = section.items.iter().position(|item| item.key == key)?;
            Some((number, at))
        })
    }

    fn groups(&mut self) -> impl Iterator<Item = &mut Vec<DraftApp>> {
        let items = self.sections.iter_mut().flat_map(|section| &mut section.items);
        items.filter_map(|item| match &mut item.content {
            Content::Bookmarks(apps) => Some(apps),
            _ => None,
        })
    }
}

fn shift<T>(entries: &mut [T], at: usize, later: bool) {
    let other = if later { at + 1 } else { at.wrapping_sub(1) };
    if other < entries.len() {
        entries.swap(at, other);
    }
}

impl DraftItem {
    fn of(placed: &PlacedItem) -> Self {
        let app = |id: &String| DraftApp {
            key: NEW,
            id: id.clone(),
        };
        let known = SIZES.iter().find(|size| **size == placed.size);
        Self {
            key: NEW,
            size: known.copied().unwrap_or(SIZES[0]),
            content: match &placed.item {
                StoredItem::App { app_id } => Content::App(app_id.clone()),
                StoredItem::Bookmarks { app_ids } => Content::Bookmarks(app_ids.iter().map(app).collect()),
                StoredItem::Note { text } => Content::Note(text.clone()),
                StoredItem::Clock { time_zone } => Content::Clock(time_zone.clone().unwrap_or_default()),
            },
        }
    }

    fn stored(&self) -> PlacedItem {
        let item = match &self.content {
            Content::App(id) => StoredItem::App { app_id: id.clone() },
            Content::Bookmarks(apps) => StoredItem::Bookmarks {
                app_ids: apps.iter().map(|app| app.id.clone()).collect(),
            },
            Content::Note(text) => StoredItem::Note { text: text.clone() },
            Content::Clock(zone) => StoredItem::Clock {
                time_zone: Some(zone.trim().to_owned()).filter(|zone| !zone.is_empty()),
            },
        };
        PlacedItem {
            item,
            size: self.size.to_owned(),
        }
    }

    /// The apps of a group; none of anything else.
    pub fn apps(&self) -> &[DraftApp] {
        match &self.content {
            Content::Bookmarks(apps) => apps,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(fields: &[(&str, &str)]) -> Draft {
        let mut form = Form::default();
        for (name, value) in fields {
            form.push(name, value);
        }
        Draft::read(&form)
    }

    /// The parts in one line: sections in brackets, each item by its first letters.
    fn shown(draft: &Draft) -> String {
        let item = |item: &DraftItem| match &item.content {
            Content::App(id) => id.clone(),
            Content::Bookmarks(apps) => {
                let ids: Vec<_> = apps.iter().map(|app| app.id.as_str()).collect();
                format!("({})", ids.join(" "))
            }
            Content::Note(text) => format!("note:{text}"),
            Content::Clock(zone) => format!("clock:{zone}"),
        };
        let sections = draft.sections.iter().map(|section| {
            let items: Vec<_> = section.items.iter().map(item).collect();
            format!("{}[{}]", section.name, items.join(" "))
        });
        sections.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_form_holds_everything_in_the_order_of_its_fields() {
        let read = draft(&[
            ("item", "in 9 lost"),
            ("item", "app 4 2x2 an id with spaces"),
            ("item", "section 7"),
            ("section-7", "Media"),
            ("collapsed-7", "true"),
            ("item", "bookmarks 1 3x3"),
            ("item", "in 3 c"),
            ("item", "nonsense"),
            ("item", "app x y"),
            ("item", "in 2 b"),
            ("item", "note 5 wide"),
            ("text-5", "a\r\nb"),
            ("item", "clock 6 2x1"),
            ("zone-6", "UTC"),
        ]);
        assert_eq!(
            shown(&read),
            "[an id with spaces] Media[(c b) note:a\nb clock:UTC]"
        );
        let stored = read.sections();
        assert_eq!(stored[0].name, None);
        assert!(stored[1].collapsed && !stored[0].collapsed);
        let sizes: Vec<_> = stored.iter().flat_map(|section| &section.items).collect();
        let sizes: Vec<_> = sizes.iter().map(|item| item.size.as_str()).collect();
        assert_eq!(sizes, ["2x2", "1x1", "wide", "2x1"]);
        assert_eq!(shown(&Draft::of(&stored)), shown(&read));
        assert_eq!(shown(&draft(&[])), "[]");
    }

    #[test]
    fn parts_move_among_their_siblings_and_items_from_section_to_section() {
        let mut draft = draft(&[
            ("item", "section 0"),
            ("item", "app 1 1x1 a"),
            ("item", "app 2 1x1 b"),
            ("item", "section 3"),
            ("section-3", "Two"),
            ("item", "bookmarks 4 1x1"),
            ("item", "in 5 c"),
            ("item", "in 6 d"),
        ]);
        for (key, later, expected) in [
            (1, true, "[b a] Two[(c d)]"),
            (1, true, "[b] Two[a (c d)]"),
            (1, false, "[b a] Two[(c d)]"),
            (2, false, "[b a] Two[(c d)]"),
            (5, true, "[b a] Two[(d c)]"),
            (5, true, "[b a] Two[(d c)]"),
            (4, true, "[b a] Two[(d c)]"),
            (3, false, "Two[(d c)] [b a]"),
            (77, true, "Two[(d c)] [b a]"),
        ] {
            draft.shift(key, later);
            assert_eq!(shown(&draft), expected, "{key}");
        }
        draft.move_to_next_section(1);
        draft.move_to_next_section(2);
        assert_eq!(shown(&draft), "Two[(d c) a b] []");
        draft.resize(2);
        draft.resize(2);
        assert_eq!(draft.sections[0].items[2].size, "2x2");
        assert_eq!(draft.number(&[Some(2), Some(99), None]), [Some(5), None, None]);
    }

    #[test]
    fn parts_are_added_and_removed_and_the_items_of_a_removed_section_stay() {
        let mut draft = draft(&[
            ("item", "section 0"),
            ("item", "bookmarks 1 1x1"),
            ("item", "section 2"),
        ]);
        draft.add(Content::App("a".into()), Some(0));
        draft.add(Content::App("b".into()), Some(1));
        draft.add(Content::Note(String::new()), Some(1));
        draft.add(Content::Clock(String::new()), None);
        draft.add_section();
        assert_eq!(shown(&draft), "[(b) a] [note: clock:] []");
        draft.number(&[]);
        draft.remove(4);
        assert_eq!(shown(&draft), "[(b) a note: clock:] []");
        draft.remove(7);
        draft.remove(0);
        assert_eq!(shown(&draft), "[(b) a note: clock:]", "the last section stays");
        draft.remove(2);
        draft.remove(3);
        draft.keep_apps(|_| false);
        assert_eq!(shown(&draft), "[() note: clock:]");
    }
}
