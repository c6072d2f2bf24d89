//! Reads the tables of Homarr.

use std::path::Path;

use anyhow::{Context as _, ensure};
use portico_sqlite::foreign;
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::homarr::{
    Account, App, Board, Group, Homarr, Invite, Item, ItemPlace, Key, Layout, Pair, SearchEngine, Section,
    SectionPlace, Share, User,
};
use crate::rows::{Row, columns_of, count, read};
use crate::schema;
use crate::source::DatabaseCopy;

/// The most records of each kind, except apps: as many as a document has (docs/desired-state.md).
const MOST_ENTRIES: usize = 10_000;

/// Tables whose rows Portico has no place for, and what to call them.
const OTHERS: [(&str, &str); 10] = [
    ("integration", "integrations and their secrets"),
    ("media", "uploaded files"),
    ("custom_widget_definition", "custom widgets"),
    ("widget_secret", "secrets of widgets"),
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

/// The columns with preferences that Portico stores but does not use, and their names in Homarr's interface. All are
/// booleans.
const PREFERENCES: [(&str, &str); 4] = [
    ("ddg_bangs", "ddgBangs"),
    ("enable_right_click_on_widgets", "enableRightClickOnWidgets"),
    ("completed_manage_tour", "completedManageTour"),
    ("completed_board_tour", "completedBoardTour"),
];

/// What a column with a look of a board holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Number,
    YesOrNo,
}

/// The columns with the looks of a board, and their names in Homarr's interface.
const LOOKS: [(&str, &str, Holds); 15] = [
    ("page_title", "pageTitle", Holds::Text),
    ("meta_title", "metaTitle", Holds::Text),
    ("logo_image_url", "logoImageUrl", Holds::Text),
    ("favicon_image_url", "faviconImageUrl", Holds::Text),
    ("background_image_url", "backgroundImageUrl", Holds::Text),
    (
        "background_image_attachment",
        "backgroundImageAttachment",
        Holds::Text,
    ),
    ("background_image_repeat", "backgroundImageRepeat", Holds::Text),
    ("background_image_size", "backgroundImageSize", Holds::Text),
    ("primary_color", "primaryColor", Holds::Text),
    ("secondary_color", "secondaryColor", Holds::Text),
    ("opacity", "opacity", Holds::Number),
    ("custom_css", "customCss", Holds::Text),
    ("icon_color", "iconColor", Holds::Text),
    ("item_radius", "itemRadius", Holds::Text),
    ("disable_status", "disableStatus", Holds::YesOrNo),
];

impl Homarr {
    /// Reads the database of this file: a database of SQLite, or the ZIP of a backup. While it is read, a copy of it is
    /// in the folder.
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
                &["id", "board_id", "column_count", "breakpoint", "name"],
                |row| {
                    Ok(Layout {
                        id: row.text(0)?,
                        board: row.text(1)?,
                        columns: row.number(2)?.unwrap_or_default(),
                        breakpoint: row.number(3)?.unwrap_or_default(),
                        name: row.text(4)?,
                    })
                },
            )?,
            sections: sections(db)?,
            section_places: section_places(db)?,
            items: items(db)?,
            item_places: item_places(db)?,
            linked_items: read(db, "integration_item", &["item_id"], |row| row.text(0))?,
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
}

fn users(db: &Connection) -> anyhow::Result<Vec<User>> {
    let mut columns = vec![
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
    let present = columns_of(db, "user")?;
    let mut preferences = Vec::new();
    for (column, name) in PREFERENCES {
        if present.iter().any(|present| present == column) {
            preferences.push((columns.len(), name));
            columns.push(column);
        }
    }
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
            preferences: preferences
                .iter()
                .map(|(column, name)| Ok(((*name).to_owned(), row.flag(*column)?.into())))
                .collect::<anyhow::Result<_>>()?,
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
    let mut columns = vec!["id", "name", "is_public", "creator_id"];
    let first = columns.len();
    columns.extend(LOOKS.iter().map(|(column, ..)| column));
    read(db, "board", &columns, |row| {
        let mut looks = Map::new();
        for (number, (_, name, holds)) in LOOKS.iter().enumerate() {
            looks.insert((*name).to_owned(), look(row, first + number, *holds)?);
        }
        Ok(Board {
            id: row.text(0)?,
            name: row.text(1)?,
            is_public: row.flag(2)?,
            creator: row.optional_text(3)?,
            looks,
        })
    })
}

fn look(row: &Row<'_, '_>, column: usize, holds: Holds) -> anyhow::Result<Value> {
    Ok(match holds {
        Holds::Text => row.optional_text(column)?.into(),
        Holds::Number => row.number(column)?.into(),
        Holds::YesOrNo => row.flag(column)?.into(),
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
    let mut columns = vec!["id", "board_id", "kind", "x_offset", "y_offset", "name"];
    let has_options = columns_of(db, "section")?.iter().any(|name| name == "options");
    if has_options {
        columns.push("options");
    }
    read(db, "section", &columns, |row| {
        Ok(Section {
            id: row.text(0)?,
            board: row.text(1)?,
            kind: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            name: row.optional_text(5)?,
            options: if has_options { row.optional_text(6)? } else { None },
        })
    })
}

fn items(db: &Connection) -> anyhow::Result<Vec<Item>> {
    let columns = ["id", "board_id", "kind", "options", "advanced_options"];
    read(db, "item", &columns, |row| {
        Ok(Item {
            id: row.text(0)?,
            board: row.text(1)?,
            kind: row.text(2)?,
            options: row.text(3)?,
            advanced_options: row.text(4)?,
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
        "width",
        "height",
    ];
    read(db, "section_layout", &columns, |row| {
        Ok(SectionPlace {
            section: row.text(0)?,
            layout: row.text(1)?,
            parent: row.optional_text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            width: row.number(5)?.unwrap_or_default(),
            height: row.number(6)?.unwrap_or_default(),
        })
    })
}

fn item_places(db: &Connection) -> anyhow::Result<Vec<ItemPlace>> {
    let columns = [
        "item_id",
        "section_id",
        "layout_id",
        "x_offset",
        "y_offset",
        "width",
        "height",
    ];
    read(db, "item_layout", &columns, |row| {
        Ok(ItemPlace {
            item: row.text(0)?,
            section: row.text(1)?,
            layout: row.text(2)?,
            x: row.number(3)?.unwrap_or_default(),
            y: row.number(4)?.unwrap_or_default(),
            width: row.number(5)?.unwrap_or_default(),
            height: row.number(6)?.unwrap_or_default(),
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
