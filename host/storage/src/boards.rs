//! Boards: what is on them, and how it is arranged.
//!
//! Invariant: a board has at least one section. The sections, and the items of each, are in order; there are no
//! coordinates.

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardSummary {
    /// Its id.
    pub id: String,
    /// Its name; unique.
    pub name: String,
    /// Its short address; unique.
    pub slug: Option<String>,
    /// Whether everyone may view it.
    pub is_public: bool,
    /// The id of the user who created it; `None` once that user is deleted.
    pub creator_id: Option<String>,
}

/// A board with what is on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// The board.
    pub board: BoardSummary,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// Items of a board that are shown together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub name: Option<String>,
    /// Whether it begins closed.
    #[serde(default)]
    pub collapsed: bool,
    /// Its items, in order.
    pub items: Vec<PlacedItem>,
}

/// An item of a board with its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SentItem")]
pub struct PlacedItem {
    /// What it is.
    #[serde(flatten)]
    pub item: BoardItem,
    /// How large it is shown.
    pub size: Size,
}

/// An item as clients send it.
#[derive(Deserialize)]
struct SentItem {
    #[serde(flatten)]
    item: BoardItem,
    size: Option<Size>,
}

/// An item of a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum BoardItem {
    /// One app. The item is deleted with the app.
    App {
        /// The app.
        app_id: String,
    },
    /// A list of apps. An app that is deleted is removed from the list.
    Bookmarks {
        /// The apps, in order.
        app_ids: Vec<String>,
    },
    /// A note.
    Note {
        /// Its text: paragraphs with links, no markup.
        text: String,
    },
    /// The time of day.
    Clock {
        /// Where: a name of the IANA time zone database; `None`: where the reader is.
        time_zone: Option<String>,
    },
}

/// How large an item is shown: columns and rows of the grid. The grid flows, and a narrow screen shows less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// One column, one row.
    #[serde(rename = "1x1")]
    Small,
    /// Two columns, one row.
    #[serde(rename = "2x1")]
    Broad,
    /// Two columns, two rows.
    #[serde(rename = "2x2")]
    Large,
    /// All columns.
    #[serde(rename = "wide")]
    Wide,
}

impl Board {
    /// A board of one section without a name, whose items have the size that their kind has.
    pub fn of_items(board: BoardSummary, items: impl IntoIterator<Item = BoardItem>) -> Self {
        let items = items.into_iter().map(Into::into).collect();
        Self {
            board,
            sections: vec![Section {
                items,
                ..Section::default()
            }],
        }
    }

    /// What is on it, one section after the other.
    pub fn items(&self) -> impl Iterator<Item = &BoardItem> {
        self.sections.iter().flat_map(Section::contents)
    }
}

/// With `items`, which clients that know no sections read.
impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            board: &'a BoardSummary,
            items: Vec<&'a BoardItem>,
            sections: &'a [Section],
        }
        let whole = Whole {
            board: &self.board,
            items: self.items().collect(),
            sections: &self.sections,
        };
        whole.serialize(serializer)
    }
}

impl Section {
    /// Its items without their sizes.
    pub fn contents(&self) -> impl Iterator<Item = &BoardItem> {
        self.items.iter().map(|placed| &placed.item)
    }

    /// Whether it has neither a name nor begins closed.
    pub fn is_plain(&self) -> bool {
        self.name.is_none() && !self.collapsed
    }
}

impl BoardItem {
    /// The size of an item for which none is given.
    pub fn default_size(&self) -> Size {
        match self {
            Self::App { .. } | Self::Bookmarks { .. } | Self::Clock { .. } => Size::Small,
            Self::Note { .. } => Size::Large,
        }
    }

    /// The ids of its apps.
    pub fn app_ids(&self) -> &[String] {
        match self {
            Self::App { app_id } => std::slice::from_ref(app_id),
            Self::Bookmarks { app_ids } => app_ids,
            Self::Note { .. } | Self::Clock { .. } => &[],
        }
    }
}

impl From<BoardItem> for PlacedItem {
    fn from(item: BoardItem) -> Self {
        Self {
            size: item.default_size(),
            item,
        }
    }
}

impl From<SentItem> for PlacedItem {
    fn from(SentItem { item, size }: SentItem) -> Self {
        Self {
            size: size.unwrap_or_else(|| item.default_size()),
            item,
        }
    }
}

impl Size {
    /// All sizes.
    pub const ALL: [Self; 4] = [Self::Small, Self::Broad, Self::Large, Self::Wide];
    /// Their names, in the same order.
    pub const NAMES: [&str; 4] = ["1x1", "2x1", "2x2", "wide"];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The size of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.name() == name)
    }
}

/// Whether a text has the form of a name of a time zone. Which names there are changes with the database.
pub fn is_time_zone(text: &str) -> bool {
    let is_part = |part: &str| {
        let mut letters = part.bytes();
        let starts = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
        starts
            && part.len() <= 32
            && letters.all(|letter| letter.is_ascii_alphanumeric() || b"_+-".contains(&letter))
    };
    text.split('/').count() <= 3 && text.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_have_one_name_everywhere() {
        for size in Size::ALL {
            assert_eq!(json!(size), size.name());
            assert_eq!(Size::of_name(size.name()), Some(size));
        }
        assert_eq!(Size::of_name("3x3"), None);
    }

    #[test]
    fn an_item_without_a_size_has_that_of_its_kind() {
        let sent = json!([
            { "kind": "app", "appId": "a" },
            { "kind": "note", "text": "Milk" },
            { "kind": "clock", "timeZone": null, "size": "wide" },
        ]);
        let items: Vec<PlacedItem> = serde_json::from_value(sent).unwrap();
        let sizes: Vec<Size> = items.iter().map(|item| item.size).collect();
        assert_eq!(sizes, [Size::Small, Size::Large, Size::Wide]);
        let shown = json!({ "kind": "note", "text": "Milk", "size": "2x2" });
        assert_eq!(json!(items[1]), shown);
    }

    #[test]
    fn a_time_zone_has_the_form_of_its_database() {
        for zone in [
            "UTC",
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "Etc/GMT+9",
        ] {
            assert!(is_time_zone(zone), "{zone}");
        }
        let long = "A".repeat(33);
        for zone in [
            "",
            "/",
            "Europe/",
            "../etc",
            "Europe Berlin",
            "+9",
            "É",
            "a/b/c/d",
            &long,
        ] {
            assert!(!is_time_zone(zone), "{zone}");
        }
    }
}
