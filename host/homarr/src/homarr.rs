//! The records of Homarr, as they are in its tables.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::branding::logo_url;
use crate::inventory::Unread;
use crate::pictures::media_of;
use crate::schema::Identified;

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
    /// A text in the settings of the server. They are stored as superjson, which wraps the value in `json`.
    pub fn setting(&self, key: &str, field: &str) -> Option<String> {
        let (_, value) = self.settings.iter().find(|(name, _)| name == key)?;
        value["json"][field].as_str().map(str::to_owned)
    }

    /// The ids of the uploaded files that are icons or looks.
    pub fn shown_medias(&self) -> HashSet<String> {
        let icons = self.apps.iter().map(|app| &app.icon_url[..]);
        let icons = icons.chain(self.search_engines.iter().map(|engine| &engine.icon_url[..]));
        let looks = self.boards.iter().flat_map(|board| board.looks.values());
        let logo = logo_url(self);
        let urls = icons
            .chain(looks.filter_map(Value::as_str))
            .chain(logo.as_deref());
        urls.filter_map(media_of).map(str::to_owned).collect()
    }
}
