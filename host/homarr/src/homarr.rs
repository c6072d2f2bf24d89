//! The records of Homarr, as they stand in its tables.
#![allow(missing_docs, reason = "the fields are Homarr's columns")]

use std::path::Path;

use anyhow::{Context as _, ensure};
use portico_sqlite::foreign;
use rusqlite::Connection;
use serde_json::Value;

use crate::rows::{count, read};
use crate::schema::{self, Schema};
use crate::source::DatabaseCopy;

/// What is read of a database.
#[derive(Debug)]
pub struct Homarr {
    pub schema: &'static Schema,
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
    pub search_engines: Vec<SearchEngine>,
    pub keys: Vec<Key>,
    pub invites: Vec<Invite>,
    pub settings: Vec<(String, Value)>,
    /// How many rows the tables have that are not read, and what they are.
    pub others: Vec<(&'static str, usize)>,
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
    /// Whether it has styles of its own.
    pub custom_css: Option<String>,
    pub background: Option<String>,
    pub logo: Option<String>,
}

/// Whom a board is shared with, and how far.
#[derive(Debug)]
pub struct Share {
    pub board: String,
    pub with: String,
    pub permission: String,
}

#[derive(Debug)]
pub struct Layout {
    pub id: String,
    pub board: String,
    pub columns: i64,
    pub breakpoint: i64,
}

#[derive(Debug)]
pub struct Section {
    pub id: String,
    pub board: String,
    pub kind: String,
    pub x: i64,
    pub y: i64,
    pub name: Option<String>,
}

#[derive(Debug)]
pub struct SectionPlace {
    pub section: String,
    pub layout: String,
    pub parent: Option<String>,
    pub x: i64,
    pub y: i64,
}

#[derive(Debug)]
pub struct Item {
    pub id: String,
    pub board: String,
    pub kind: String,
    pub options: String,
}

#[derive(Debug)]
pub struct ItemPlace {
    pub item: String,
    pub section: String,
    pub layout: String,
    pub x: i64,
    pub y: i64,
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

/// The most records of each kind, except apps: as many as a document has (docs/desired-state.md).
const MOST_ENTRIES: usize = 10_000;

/// Tables whose rows Portico has no place for, and what to call them.
const OTHERS: [(&str, &str); 9] = [
    ("integration", "integrations and their secrets"),
    ("media", "uploaded files"),
    ("custom_widget_definition", "custom widgets"),
    ("section_collapse_state", "collapsed sections"),
    ("trusted_certificate_hostname", "trusted certificates"),
    ("cron_job_configuration", "settings of jobs"),
    ("session", "sessions (everyone signs in again)"),
    (
        "integrationUserPermission",
        "permissions of users on integrations",
    ),
    (
        "integrationGroupPermissions",
        "permissions of groups on integrations",
    ),
];

impl Homarr {
    /// Reads the database of this file: a database of SQLite, or the ZIP of a backup. A copy of it is made in the
    /// folder for as long as that takes.
    pub fn read(file: &Path, folder: &Path) -> anyhow::Result<Self> {
        let copy = DatabaseCopy::of(file, folder)?;
        let connection =
            foreign::open_copy(copy.path(), copy.bytes()).context("it is damaged, or no database")?;
        Self::read_from(&connection).map_err(foreign::explain)
    }

    /// Reads a database that is open.
    pub fn read_from(db: &Connection) -> anyhow::Result<Self> {
        let homarr = Self::read_tables(db)?;
        for (what, count) in [
            ("groups", homarr.groups.len()),
            ("users", homarr.users.len()),
            ("boards", homarr.boards.len()),
            ("search engines", homarr.search_engines.len()),
        ] {
            ensure!(
                count <= MOST_ENTRIES,
                "there are {count} {what}, and at most {MOST_ENTRIES} can be imported"
            );
        }
        Ok(homarr)
    }

    fn read_tables(db: &Connection) -> anyhow::Result<Self> {
        let schema = schema::identify(db)?;
        let mut others = Vec::new();
        for (table, words) in OTHERS {
            if let Some(count) = count(db, table)?.filter(|count| *count > 0) {
                others.push((words, count));
            }
        }
        Ok(Self {
            schema,
            users: users(db)?,
            accounts: read(
                db,
                "account",
                &["user_id", "provider", "provider_account_id"],
                |row| {
                    Ok(Account {
                        user: row.text(0)?,
                        provider: row.text(1)?,
                        subject: row.text(2)?,
                    })
                },
            )?,
            groups: groups(db)?,
            members: pairs(db, "groupMember", "user_id")?,
            permissions: pairs(db, "groupPermission", "permission")?,
            apps: apps(db)?,
            boards: boards(db)?,
            board_users: shares(db, "boardUserPermission", "user_id")?,
            board_groups: shares(db, "boardGroupPermission", "group_id")?,
            layouts: read(
                db,
                "layout",
                &["id", "board_id", "column_count", "breakpoint"],
                |row| {
                    Ok(Layout {
                        id: row.text(0)?,
                        board: row.text(1)?,
                        columns: row.number(2)?.unwrap_or_default(),
                        breakpoint: row.number(3)?.unwrap_or_default(),
                    })
                },
            )?,
            sections: sections(db)?,
            section_places: section_places(db)?,
            items: read(db, "item", &["id", "board_id", "kind", "options"], |row| {
                Ok(Item {
                    id: row.text(0)?,
                    board: row.text(1)?,
                    kind: row.text(2)?,
                    options: row.text(3)?,
                })
            })?,
            item_places: item_places(db)?,
            search_engines: search_engines(db)?,
            keys: read(db, "apiKey", &["id", "api_key", "user_id"], |row| {
                Ok(Key {
                    id: row.text(0)?,
                    hash: row.text(1)?,
                    user: row.text(2)?,
                })
            })?,
            invites: read(
                db,
                "invite",
                &["id", "token", "expiration_date", "creator_id"],
                |row| {
                    Ok(Invite {
                        id: row.text(0)?,
                        token: row.text(1)?,
                        expires: row.number(2)?.unwrap_or_default(),
                        creator: row.text(3)?,
                    })
                },
            )?,
            settings: read(db, "serverSetting", &["setting_key", "value"], |row| {
                let value = serde_json::from_str(&row.text(1)?).unwrap_or_default();
                Ok((row.text(0)?, value))
            })?,
            others,
        })
    }

    /// A text in the settings of the server. They are kept as superjson, which wraps the value in `json`.
    pub fn setting(&self, key: &str, field: &str) -> Option<String> {
        let (_, value) = self.settings.iter().find(|(name, _)| name == key)?;
        value["json"][field].as_str().map(str::to_owned)
    }
}

fn users(db: &Connection) -> anyhow::Result<Vec<User>> {
    let columns = [
        "id",
        "name",
        "email",
        "email_verified",
        "image",
        "password",
        "provider",
        "home_board_id",
        "mobile_home_board_id",
        "default_search_engine_id",
        "open_search_in_new_tab",
        "color_scheme",
        "first_day_of_week",
        "ping_icons_enabled",
    ];
    read(db, "user", &columns, |row| {
        Ok(User {
            id: row.text(0)?,
            name: row.optional_text(1)?,
            email: row.optional_text(2)?,
            email_verified: row.number(3)?,
            image: row.optional_text(4)?,
            password: row.optional_text(5)?,
            provider: row.text(6)?,
            home_board: row.optional_text(7)?,
            mobile_home_board: row.optional_text(8)?,
            search_engine: row.optional_text(9)?,
            search_in_new_tab: row.flag(10)?,
            color_scheme: row.text(11)?,
            first_day_of_week: row.number(12)?,
            ping_icons: row.flag(13)?,
        })
    })
}

fn groups(db: &Connection) -> anyhow::Result<Vec<Group>> {
    let columns = ["id", "name", "home_board_id", "mobile_home_board_id", "position"];
    read(db, "group", &columns, |row| {
        Ok(Group {
            id: row.text(0)?,
            name: row.text(1)?,
            home_board: row.optional_text(2)?,
            mobile_home_board: row.optional_text(3)?,
            position: row.number(4)?.unwrap_or_default(),
        })
    })
}

fn pairs(db: &Connection, table: &str, other: &'static str) -> anyhow::Result<Vec<Pair>> {
    read(db, table, &["group_id", other], |row| {
        Ok(Pair {
            group: row.text(0)?,
            other: row.text(1)?,
        })
    })
}

fn apps(db: &Connection) -> anyhow::Result<Vec<App>> {
    let columns = ["id", "name", "description", "icon_url", "href", "ping_url"];
    read(db, "app", &columns, |row| {
        Ok(App {
            id: row.text(0)?,
            name: row.text(1)?,
            description: row.optional_text(2)?,
            icon_url: row.text(3)?,
            href: row.optional_text(4)?,
            ping_url: row.optional_text(5)?,
        })
    })
}

fn boards(db: &Connection) -> anyhow::Result<Vec<Board>> {
    let columns = [
        "id",
        "name",
        "is_public",
        "creator_id",
        "custom_css",
        "background_image_url",
        "logo_image_url",
    ];
    read(db, "board", &columns, |row| {
        Ok(Board {
            id: row.text(0)?,
            name: row.text(1)?,
            is_public: row.flag(2)?,
            creator: row.optional_text(3)?,
            custom_css: row.optional_text(4)?,
            background: row.optional_text(5)?,
            logo: row.optional_text(6)?,
        })
    })
}

fn shares(db: &Connection, table: &str, with: &'static str) -> anyhow::Result<Vec<Share>> {
    read(db, table, &["board_id", with, "permission"], |row| {
        Ok(Share {
            board: row.text(0)?,
            with: row.text(1)?,
            permission: row.text(2)?,
        })
    })
}

fn sections(db: &Connection) -> anyhow::Result<Vec<Section>> {
    let columns = ["id", "board_id", "kind", "x_offset", "y_offset", "name"];
    read(db, "section", &columns, |row| {
        Ok(Section {
            id: row.text(0)?,
            board: row.text(1)?,
            kind: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            name: row.optional_text(5)?,
        })
    })
}

fn section_places(db: &Connection) -> anyhow::Result<Vec<SectionPlace>> {
    let columns = [
        "section_id",
        "layout_id",
        "parent_section_id",
        "x_offset",
        "y_offset",
    ];
    read(db, "section_layout", &columns, |row| {
        Ok(SectionPlace {
            section: row.text(0)?,
            layout: row.text(1)?,
            parent: row.optional_text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
        })
    })
}

fn item_places(db: &Connection) -> anyhow::Result<Vec<ItemPlace>> {
    let columns = ["item_id", "section_id", "layout_id", "x_offset", "y_offset"];
    read(db, "item_layout", &columns, |row| {
        Ok(ItemPlace {
            item: row.text(0)?,
            section: row.text(1)?,
            layout: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
        })
    })
}

fn search_engines(db: &Connection) -> anyhow::Result<Vec<SearchEngine>> {
    let columns = [
        "id",
        "name",
        "short",
        "url_template",
        "icon_url",
        "description",
        "type",
    ];
    read(db, "search_engine", &columns, |row| {
        Ok(SearchEngine {
            id: row.text(0)?,
            name: row.text(1)?,
            short: row.text(2)?,
            url_template: row.optional_text(3)?,
            icon_url: row.text(4)?,
            description: row.optional_text(5)?,
            kind: row.text(6)?,
        })
    })
}
