//! The items of a board in a form that has not been saved yet.
//!
//! Each item is a hidden field `item`, and the order of these fields is the order of the items:
//!
//! - `app KEY ID` is an app on the board, `bookmarks KEY` a group of bookmarks, and each `in KEY ID` after it an app in
//!   that group.
//! - A key names one of these within the form, so that a button such as `up KEY` says what it moves, also after a script
//!   has moved the fields.

use super::StoredItem;
use crate::form::Form;

/// The items with their keys, and what the last step left.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Draft {
    pub entries: Vec<DraftItem>,
}

/// An app, or a group of bookmarks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DraftItem {
    pub key: usize,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    App(String),
    /// The entries are apps.
    Bookmarks(Vec<DraftItem>),
}

impl Draft {
    pub fn of(items: &[StoredItem]) -> Self {
        let app = |id: &String| DraftItem::new(Content::App(id.clone()));
        let entries = items.iter().filter_map(|item| match item {
            StoredItem::App { app_id } => Some(app(app_id)),
            StoredItem::Bookmarks { app_ids } => Some(DraftItem::new(Content::Bookmarks(
                app_ids.iter().map(app).collect(),
            ))),
            StoredItem::Note {} | StoredItem::Clock {} => None,
        });
        let mut draft = Self {
            entries: entries.collect(),
        };
        draft.number();
        draft
    }

    /// Reads the items of a form. Leaves out what is not an item.
    pub fn read(form: &Form) -> Self {
        let mut draft = Self::default();
        for item in form.all("item") {
            let mut parts = item.splitn(3, ' ');
            let kind = parts.next().unwrap_or_default();
            let key = parts.next().and_then(|key| key.parse().ok());
            let (Some(key), id) = (key, parts.next().unwrap_or_default().to_owned()) else {
                continue;
            };
            let app = Content::App(id);
            match (kind, draft.entries.last_mut()) {
                ("app", _) => draft.entries.push(DraftItem { key, content: app }),
                ("bookmarks", _) => draft.entries.push(DraftItem {
                    key,
                    content: Content::Bookmarks(Vec::new()),
                }),
                (
                    "in",
                    Some(DraftItem {
                        content: Content::Bookmarks(apps),
                        ..
                    }),
                ) => apps.push(DraftItem { key, content: app }),
                _ => {}
            }
        }
        draft
    }

    /// The items as the API accepts them.
    pub fn items(&self) -> Vec<StoredItem> {
        let id = |entry: &DraftItem| match &entry.content {
            Content::App(id) => Some(id.clone()),
            Content::Bookmarks(_) => None,
        };
        let items = self.entries.iter().map(|entry| match &entry.content {
            Content::App(id) => StoredItem::App { app_id: id.clone() },
            Content::Bookmarks(apps) => StoredItem::Bookmarks {
                app_ids: apps.iter().filter_map(id).collect(),
            },
        });
        items.collect()
    }

    /// Keeps the apps for which this is true.
    pub fn keep_apps(&mut self, is_kept: impl Fn(&str) -> bool) {
        let keep = |entry: &DraftItem| match &entry.content {
            Content::App(id) => is_kept(id),
            Content::Bookmarks(_) => true,
        };
        self.entries.retain(keep);
        for entry in &mut self.entries {
            if let Content::Bookmarks(apps) = &mut entry.content {
                apps.retain(keep);
            }
        }
    }

    /// Adds an app: to the group of bookmarks with this key, or otherwise to the board.
    pub fn add_app(&mut self, id: &str, group: Option<usize>) {
        let app = DraftItem::new(Content::App(id.into()));
        let group = self.entries.iter_mut().find(|entry| Some(entry.key) == group);
        match group.map(|entry| &mut entry.content) {
            Some(Content::Bookmarks(apps)) => apps.push(app),
            _ => self.entries.push(app),
        }
    }

    /// Adds a group of bookmarks without apps.
    pub fn add_bookmarks(&mut self) {
        self.entries.push(DraftItem::new(Content::Bookmarks(Vec::new())));
    }

    /// Moves the item with this key by one place among its siblings.
    pub fn shift(&mut self, key: usize, down: bool) {
        self.with_siblings(key, |siblings, at| {
            let other = if down { at + 1 } else { at.wrapping_sub(1) };
            if other < siblings.len() {
                siblings.swap(at, other);
            }
        });
    }

    /// Removes the item with this key.
    pub fn remove(&mut self, key: usize) {
        self.with_siblings(key, |siblings, at| drop(siblings.remove(at)));
    }

    /// Gives each item a new key: its number in the order. Returns the new key of the item that had this key.
    pub fn renumber(&mut self, key: Option<usize>) -> Option<usize> {
        let old = self.all().position(|entry| Some(entry.key) == key);
        self.number();
        old
    }

    /// All items in their order; those of a group follow the group.
    pub fn all(&self) -> impl Iterator<Item = &DraftItem> {
        self.entries.iter().flat_map(|entry| {
            let inner: &[DraftItem] = match &entry.content {
                Content::Bookmarks(apps) => apps,
                Content::App(_) => &[],
            };
            std::iter::once(entry).chain(inner)
        })
    }

    fn number(&mut self) {
        let mut next = 0..;
        for entry in &mut self.entries {
            entry.key = next.next().unwrap_or_default();
            if let Content::Bookmarks(apps) = &mut entry.content {
                for app in apps {
                    app.key = next.next().unwrap_or_default();
                }
            }
        }
    }

    /// Passes the list that contains an item, and the item's place in it, to a function.
    fn with_siblings(&mut self, key: usize, change: impl Fn(&mut Vec<DraftItem>, usize)) {
        let place = |entries: &[DraftItem]| entries.iter().position(|entry| entry.key == key);
        if let Some(at) = place(&self.entries) {
            return change(&mut self.entries, at);
        }
        for entry in &mut self.entries {
            if let Content::Bookmarks(apps) = &mut entry.content
                && let Some(at) = place(apps)
            {
                return change(apps, at);
            }
        }
    }
}

impl DraftItem {
    /// An entry that gets its key from [`Draft::renumber`].
    fn new(content: Content) -> Self {
        Self {
            key: usize::MAX,
            content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: &str) -> StoredItem {
        StoredItem::App { app_id: id.into() }
    }

    fn bookmarks(ids: &[&str]) -> StoredItem {
        StoredItem::Bookmarks {
            app_ids: ids.iter().map(|id| (*id).into()).collect(),
        }
    }

    #[test]
    fn a_form_holds_the_items_in_the_order_of_its_fields() {
        let form = Form::filled([
            ("item", "in 9 lost"),
            ("item", "app 4 an id with spaces"),
            ("item", "bookmarks 1"),
            ("item", "in 3 c"),
            ("item", "nonsense"),
            ("item", "app x y"),
            ("item", "in 2 b"),
        ]);
        assert_eq!(
            Draft::read(&form).items(),
            [app("an id with spaces"), bookmarks(&["c", "b"])]
        );
    }

    #[test]
    fn items_move_among_their_siblings_and_stay_at_the_ends() {
        let mut draft = Draft::of(&[app("a"), bookmarks(&["b", "c"]), app("d")]);
        draft.shift(3, false);
        draft.shift(0, true);
        assert_eq!(draft.items(), [bookmarks(&["c", "b"]), app("a"), app("d")]);
        assert_eq!(draft.renumber(Some(3)), Some(1));
        draft.shift(0, false);
        draft.shift(4, true);
        draft.shift(77, true);
        assert_eq!(draft.items(), [bookmarks(&["c", "b"]), app("a"), app("d")]);
    }

    #[test]
    fn items_are_added_to_the_board_or_to_a_group_and_removed() {
        let mut draft = Draft::of(&[app("a"), bookmarks(&["b"])]);
        draft.add_app("c", Some(1));
        draft.add_app("d", None);
        draft.add_app("e", Some(0));
        draft.add_bookmarks();
        draft.renumber(None);
        draft.remove(2);
        draft.remove(0);
        assert_eq!(
            draft.items(),
            [bookmarks(&["c"]), app("d"), app("e"), bookmarks(&[])]
        );
        draft.keep_apps(|id| id == "d");
        assert_eq!(draft.items(), [bookmarks(&[]), app("d"), bookmarks(&[])]);
    }
}
