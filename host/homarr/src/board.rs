//! A board of Homarr as one of Portico: a list of apps and bookmarks, and its extras for clients of Homarr
//! ([`portico_storage::extras`]).

use portico_storage::extras::{ITEMS, LAYOUTS, SECTIONS, SETTINGS};
use portico_storage::{BoardItem, BoardSummary, ExtrasOf, Shares};
use serde_json::{Map, Value, json};

use crate::report::{Kind, Report, What, counted};

#[derive(Clone, Debug)]
pub struct Board {
    pub board: BoardSummary,
    /// What is on it, in order.
    pub items: Vec<Item>,
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
}

impl Board {
    /// The items that Portico shows.
    pub fn shown(&self) -> Vec<BoardItem> {
        self.items.iter().filter_map(|item| item.shown.clone()).collect()
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
        let fits = |text: &String| text.chars().count() <= ExtrasOf::MOST_OF_BOARD;
        let whole = self.text(|_| true);
        if fits(&whole) {
            return Some(whole);
        }
        let widgets = self.items.iter().filter(|item| item.shown.is_none()).count();
        let without = self.text(|item| item.shown.is_some());
        let (text, lost) = match fits(&without) {
            true => (Some(without), counted(widgets, "widget")),
            false => (None, "its grid, looks and widgets".to_owned()),
        };
        let most = ExtrasOf::MOST_OF_BOARD;
        let why =
            format!("{lost}, for clients of Homarr as well: at most {most} characters are kept of a board");
        report.note(Kind::Board, &self.board.name, What::Lost, why);
        text
    }

    fn text(&self, keeps: impl Fn(&Item) -> bool) -> String {
        let items = self.items.iter().filter(|item| keeps(item)).map(|item| {
            let mut kept = item.kept.clone();
            match &item.shown {
                Some(BoardItem::App { app_id }) => kept["options"]["appId"] = json!(app_id),
                Some(BoardItem::Bookmarks { app_ids }) => kept["options"]["items"] = json!(app_ids),
                None => {}
            }
            kept
        });
        let mut extras = Map::new();
        extras.insert(ITEMS.into(), items.collect());
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
