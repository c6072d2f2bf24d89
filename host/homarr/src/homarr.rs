//! The records of Homarr, as they are in its tables.

use serde_json::{Map, Value};

use crate::inventory::Unread;
use crate::schema::Identified;

/// The name of the group that everyone is in.
pub const EVERYONE: &str = "everyone";

/// What is read of a database.
#[derive(Debug)]
pub struct Homarr {
    pub identified: Identified,
    pub users: Vec<User>,
    pub accounts: Vec<Account>,
    pub groups: Vec<Group>,
    pub members: Vec<Pair>,
    pub permissions: Vec<Pair>,
    pub apps: Vec<App>,
    pub boards: Vec<Board>,
    pub board_users: Vec<Share>,
    pub board_groups: Vec<Share>,
    pub layouts: Vec<Layout>,
    pub sections: Vec<Section>,
    pub section_places: Vec<SectionPlace>,
    pub items: Vec<Item>,
    pub item_places: Vec<ItemPlace>,
    /// The items that are linked to integrations, once for each link.
    pub linked_items: Vec<String>,
    pub search_engines: Vec<SearchEngine>,
    pub keys: Vec<Key>,
    pub invites: Vec<Invite>,
    pub settings: Vec<(String, Value)>,
    pub medias: Vec<Media>,
    /// What is not read.
    pub unread: Unread,
}

#[derive(Debug, Clone)]
pub struct User {
    pub id: String,
    pub name: Option<String>,
    pub email: Option<String>,
    pub email_verified: Option<i64>,
    pub image: Option<String>,
    pub password: Option<String>,
    pub provider: String,
    pub home_board: Option<String>,
    pub mobile_home_board: Option<String>,
    pub search_engine: Option<String>,
    pub search_in_new_tab: bool,
    pub color_scheme: String,
    pub first_day_of_week: Option<i64>,
    pub ping_icons: bool,
    /// Those that Portico stores but does not use, by their names in Homarr's interface. Older schemas have fewer.
    pub preferences: Map<String, Value>,
}

#[derive(Debug)]
pub struct Account {
    pub user: String,
    pub provider: String,
    pub subject: String,
}

#[derive(Debug)]
pub struct Group {
    pub id: String,
    pub name: String,
    pub home_board: Option<String>,
    pub mobile_home_board: Option<String>,
    pub position: i64,
    pub owner: Option<String>,
}

/// A file that a user has uploaded.
#[derive(Debug)]
pub struct Media {
    pub id: String,
    pub content_type: String,
    /// `None` if it is too large to come along, or nothing shows it.
    pub content: Option<Vec<u8>>,
}

/// A group, and a member of it or a permission.
#[derive(Debug)]
pub struct Pair {
    pub group: String,
    pub other: String,
}

#[derive(Debug)]
pub struct App {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub icon_url: String,
    pub href: Option<String>,
    pub ping_url: Option<String>,
}

#[derive(Debug)]
pub struct Board {
    pub id: String,
    pub name: String,
    pub is_public: bool,
    pub creator: Option<String>,
    /// What it looks like, by the names of Homarr's interface.
    pub looks: Map<String, Value>,
}

/// With whom a board is shared, and with which rights.
#[derive(Debug)]
pub struct Share {
    pub board: String,
    pub with: String,
    pub permission: String,
}

#[derive(Debug)]
pub struct Layout {
    pub id: String,
    pub name: String,
    pub board: String,
    pub columns: i64,
    pub breakpoint: i64,
    /// What only newer schemas have, by its names in Homarr's interface.
    pub more: Map<String, Value>,
}

impl Layout {
    /// The columns between the gutters, of which only Homarr 2 has some: at least one.
    pub fn main_columns(&self) -> i64 {
        let gutter = |key: &str| self.more.get(key).and_then(Value::as_i64).unwrap_or_default();
        let all = self.columns.max(1);
        let left = gutter("leftGutterColumnCount").clamp(0, all - 1);
        let right = gutter("rightGutterColumnCount").clamp(0, all - left - 1);
        all - left - right
    }
}

#[derive(Debug)]
pub struct Section {
    pub id: String,
    pub board: String,
    pub kind: String,
    pub x: i64,
    pub y: i64,
    pub name: Option<String>,
    /// As superjson.
    pub options: Option<String>,
}

impl Section {
    /// The options; empty if there are none.
    pub fn options(&self) -> Map<String, Value> {
        unwrapped(self.options.as_deref().unwrap_or_default())
    }

    /// Its name, which Homarr 2 has as a title among its options, as far as a section of Portico may have it.
    pub fn title(&self) -> Option<String> {
        let options = self.options();
        let title = options.get("title").and_then(Value::as_str);
        let name = self.name.as_deref().or(title)?;
        let name: String = name
            .trim()
            .chars()
            .filter(|letter| !letter.is_control())
            .take(64)
            .collect();
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// Whether it is a root at the left or right edge, of Homarr 2.
    pub fn is_gutter(&self) -> bool {
        matches!(self.x, -1 | 1)
    }
}

#[derive(Debug)]
pub struct SectionPlace {
    pub section: String,
    pub layout: String,
    pub parent: Option<String>,
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

#[derive(Debug)]
pub struct Item {
    pub id: String,
    pub board: String,
    pub kind: String,
    /// As superjson.
    pub options: String,
    pub advanced_options: String,
}

#[derive(Debug)]
pub struct ItemPlace {
    pub item: String,
    pub section: String,
    pub layout: String,
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

#[derive(Debug)]
pub struct SearchEngine {
    pub id: String,
    pub name: String,
    pub short: String,
    pub url_template: Option<String>,
    pub icon_url: String,
    pub description: Option<String>,
    pub kind: String,
}

#[derive(Debug)]
pub struct Key {
    pub id: String,
    pub hash: String,
    pub user: String,
}

#[derive(Debug)]
pub struct Invite {
    pub id: String,
    pub token: String,
    /// In seconds.
    pub expires: i64,
    pub creator: String,
}

impl Homarr {
    /// Settings of the server. They are stored as superjson, which wraps them in `json`.
    pub fn settings_of(&self, key: &str) -> Option<&Map<String, Value>> {
        let (_, value) = self.settings.iter().find(|(name, _)| name == key)?;
        value["json"].as_object()
    }

    /// A text in the settings of the server.
    pub fn setting(&self, key: &str, field: &str) -> Option<String> {
        self.settings_of(key)?.get(field)?.as_str().map(str::to_owned)
    }
}

/// What Homarr has wrapped as superjson; always an object.
pub fn unwrapped(superjson: &str) -> Map<String, Value> {
    let mut value: Value = serde_json::from_str(superjson).unwrap_or_default();
    match value.get_mut("json").map(Value::take) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
