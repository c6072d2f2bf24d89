//! The parts of a draft, as the page for editing a board shows them.

use std::collections::HashMap;

use super::{
    super::tiles::App,
    draft::{Content, Draft, DraftItem},
};
use crate::{form::Problems, visit::Visit};

/// What is known about apps.
pub(super) enum Names {
    Known(HashMap<String, App>),
    /// The look-up failed.
    Unknown,
}

pub(super) struct SectionRow<'a> {
    pub key: usize,
    pub name: &'a str,
    /// What people call it, also without a name.
    pub title: String,
    pub collapsed: bool,
    pub problem: &'a str,
    pub focus: &'static str,
    pub items: Vec<ItemRow<'a>>,
}

pub(super) struct ItemRow<'a> {
    pub key: usize,
    /// `app`, `bookmarks`, `note`, `clock`, or `in` for an app of a group.
    pub kind: &'static str,
    pub size: &'static str,
    /// What the hidden field says after its key.
    pub more: String,
    pub app: Option<&'a App>,
    /// What people call it.
    pub title: String,
    /// The text of a note, or the time zone of a clock.
    pub text: &'a str,
    pub problem: &'a str,
    pub focus: &'static str,
    pub apps: Vec<ItemRow<'a>>,
}

impl Names {
    fn of(&self, id: &str) -> Option<&App> {
        match self {
            Self::Known(apps) => apps.get(id),
            Self::Unknown => None,
        }
    }
}

impl SectionRow<'_> {
    pub fn focuses(&self, verb: &str) -> bool {
        self.focus == verb
    }
}

impl ItemRow<'_> {
    pub fn focuses(&self, verb: &str) -> bool {
        self.focus == verb
    }

    /// The groups to which apps can be added.
    pub fn is_group(&self) -> bool {
        self.kind == "bookmarks"
    }
}

pub(super) fn rows<'a>(
    v: &Visit,
    draft: &'a Draft,
    names: &'a Names,
    problems: &'a Problems,
    focus: (&'static str, Option<usize>),
) -> Vec<SectionRow<'a>> {
    let verb = |key: usize| if focus.1 == Some(key) { focus.0 } else { "" };
    let title_of = |id: &str| names.of(id).map_or_else(|| id.to_owned(), |app| app.name.clone());
    let mut groups = 0;
    let mut item_row = |item: &'a DraftItem| {
        let row = ItemRow {
            key: item.key,
            kind: "app",
            size: item.size,
            more: item.size.to_owned(),
            app: None,
            title: String::new(),
            text: "",
            problem: problems.at(&format!("text-{}", item.key)),
            focus: verb(item.key),
            apps: Vec::new(),
        };
        match &item.content {
            Content::App(id) => ItemRow {
                more: format!("{} {id}", item.size),
                app: names.of(id),
                title: title_of(id),
                ..row
            },
            Content::Bookmarks(apps) => {
                groups += 1;
                let inner = apps.iter().map(|app| ItemRow {
                    key: app.key,
                    kind: "in",
                    size: "",
                    more: app.id.clone(),
                    app: names.of(&app.id),
                    title: title_of(&app.id),
                    text: "",
                    problem: "",
                    focus: verb(app.key),
                    apps: Vec::new(),
                });
                ItemRow {
                    kind: "bookmarks",
                    title: v.fill(v.t.boards.bookmarks, groups),
                    apps: inner.collect(),
                    ..row
                }
            }
            Content::Note(text) => ItemRow {
                kind: "note",
                title: v.t.boards.note.into(),
                text,
                ..row
            },
            Content::Clock(zone) => ItemRow {
                kind: "clock",
                title: v.t.boards.clock.into(),
                text: zone,
                problem: problems.at(&format!("zone-{}", item.key)),
                ..row
            },
        }
    };
    let sections = draft.sections.iter().enumerate();
    let sections = sections.map(|(number, section)| SectionRow {
        key: section.key,
        name: &section.name,
        title: match section.name.trim() {
            "" => v.fill(v.t.boards.section_number, number + 1),
            name => name.to_owned(),
        },
        collapsed: section.collapsed,
        problem: problems.at(&format!("section-{}", section.key)),
        focus: verb(section.key),
        items: section.items.iter().map(&mut item_row).collect(),
    });
    sections.collect()
}
