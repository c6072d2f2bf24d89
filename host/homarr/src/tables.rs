//! Reads the tables of Homarr.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, ensure};
use portico_sqlite::foreign;
use rusqlite::Connection;
use serde_json::Value;

use crate::branding::logo_url;
use crate::grid::Grid;
use crate::homarr::{
    Account, App, Board, Group, Homarr, Invite, Key, Media, Pair, SearchEngine, Share, User,
};
use crate::inventory::Unread;
use crate::pictures::{media_of, medias_in};
use crate::rows::{Holds, Optional, Reader, values};
use crate::schema;
use crate::source::DatabaseCopy;

/// The most records of each kind, except apps: as many as a document has (docs/desired-state.md).
const MOST_ENTRIES: usize = 10_000;

/// The columns with preferences that Portico stores but does not use, their names in Homarr's interface, and what they
/// hold.
const PREFERENCES: [Optional; 6] = [
    ("ddg_bangs", "ddgBangs", Holds::YesOrNo),
    (
        "enable_right_click_on_widgets",
        "enableRightClickOnWidgets",
        Holds::YesOrNo,
    ),
    ("completed_manage_tour", "completedManageTour", Holds::YesOrNo),
    ("completed_board_tour", "completedBoardTour", Holds::YesOrNo),
    ("byte_unit_system", "byteUnitSystem", Holds::Text),
    ("header_preferences", "headerPreferences", Holds::Json),
];

/// The columns with the looks of a board, and their names in Homarr's interface.
const LOOKS: [Optional; 17] = [
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
    // From Homarr 2 on.
    ("fixed_scaling", "fixedScaling", Holds::YesOrNo),
    ("fixed_item_size", "fixedItemSize", Holds::Number),
];

/// The largest uploaded file that is read, in bytes: the largest picture of Portico.
pub const MOST_OF_A_MEDIA: usize = portico_rules::bounds::PICTURE_BYTES;
/// The most bytes of all of them that are read.
const MOST_OF_MEDIAS: usize = 64 << 20;

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

    fn read_tables(connection: &Connection) -> anyhow::Result<Self> {
        let identified = schema::identify(connection)?;
        let reader = Reader::new(connection);
        let db = &reader;
        let grid = Grid::read(db)?;
        let mut homarr = Self {
            identified,
            users: users(db)?,
            accounts: db.read(
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
            layouts: grid.layouts,
            sections: grid.sections,
            section_places: grid.section_places,
            items: grid.items,
            item_places: grid.item_places,
            linked_items: db.read("integration_item", &["item_id"], |row| row.text(0))?,
            search_engines: search_engines(db)?,
            keys: db.read("apiKey", &["id", "api_key", "user_id"], |row| {
                Ok(Key {
                    id: row.text(0)?,
                    hash: row.text(1)?,
                    user: row.text(2)?,
                })
            })?,
            invites: db.read(
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
            settings: db.read("serverSetting", &["setting_key", "value"], |row| {
                let value = serde_json::from_str(&row.text(1)?).unwrap_or_default();
                Ok((row.text(0)?, value))
            })?,
            medias: Vec::new(),
            unread: Unread::default(),
        };
        homarr.medias = medias(db, &shown_medias(&homarr))?;
        homarr.unread = Unread::of(db)?;
        Ok(homarr)
    }
}

fn users(db: &Reader<'_>) -> anyhow::Result<Vec<User>> {
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
        "color_scheme",
        "first_day_of_week",
        "ping_icons_enabled",
    ];
    let in_new_tab = db.add_one("user", &mut columns, "open_search_in_new_tab")?;
    let preferences = db.add_present("user", &mut columns, &PREFERENCES)?;
    db.read("user", &columns, |row| {
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
            search_in_new_tab: in_new_tab.map_or(Ok(true), |column| row.flag(column))?,
            color_scheme: row.text(10)?,
            first_day_of_week: row.number(11)?,
            ping_icons: row.flag(12)?,
            preferences: values(row, &preferences)?,
        })
    })
}

fn groups(db: &Reader<'_>) -> anyhow::Result<Vec<Group>> {
    let mut columns = vec!["id", "name", "owner_id"];
    let home = db.add_one("group", &mut columns, "home_board_id")?;
    let mobile = db.add_one("group", &mut columns, "mobile_home_board_id")?;
    let position = db.add_one("group", &mut columns, "position")?;
    db.read("group", &columns, |row| {
        let text = |column: Option<usize>| column.map_or(Ok(None), |column| row.optional_text(column));
        Ok(Group {
            id: row.text(0)?,
            name: row.text(1)?,
            owner: row.optional_text(2)?,
            home_board: text(home)?,
            mobile_home_board: text(mobile)?,
            position: position
                .map_or(Ok(None), |column| row.number(column))?
                .unwrap_or_default(),
        })
    })
}

fn pairs(db: &Reader<'_>, table: &'static str, other: &'static str) -> anyhow::Result<Vec<Pair>> {
    db.read(table, &["group_id", other], |row| {
        Ok(Pair {
            group: row.text(0)?,
            other: row.text(1)?,
        })
    })
}

fn apps(db: &Reader<'_>) -> anyhow::Result<Vec<App>> {
    let mut columns = vec!["id", "name", "description", "icon_url", "href"];
    let ping = db.add_one("app", &mut columns, "ping_url")?;
    db.read("app", &columns, |row| {
        Ok(App {
            id: row.text(0)?,
            name: row.text(1)?,
            description: row.optional_text(2)?,
            icon_url: row.text(3)?,
            href: row.optional_text(4)?,
            ping_url: ping.map_or(Ok(None), |column| row.optional_text(column))?,
        })
    })
}

fn boards(db: &Reader<'_>) -> anyhow::Result<Vec<Board>> {
    let mut columns = vec!["id", "name", "is_public", "creator_id"];
    let looks = db.add_present("board", &mut columns, &LOOKS)?;
    db.read("board", &columns, |row| {
        Ok(Board {
            id: row.text(0)?,
            name: row.text(1)?,
            is_public: row.flag(2)?,
            creator: row.optional_text(3)?,
            looks: values(row, &looks)?,
        })
    })
}

/// The ids of the uploaded files that are icons or looks, or that items name.
fn shown_medias(homarr: &Homarr) -> HashSet<String> {
    let icons = homarr.apps.iter().map(|app| &app.icon_url[..]);
    let icons = icons.chain(homarr.search_engines.iter().map(|engine| &engine.icon_url[..]));
    let logo = logo_url(homarr);
    let urls = icons.chain(logo.as_deref()).filter_map(media_of);
    let looks = homarr.boards.iter().flat_map(|board| board.looks.values());
    let options = homarr.items.iter().map(|item| &item.options[..]);
    let texts = looks.filter_map(Value::as_str).chain(options);
    urls.chain(texts.flat_map(medias_in)).map(str::to_owned).collect()
}

/// The uploaded files, with the content of those that are shown.
fn medias(db: &Reader<'_>, shown: &HashSet<String>) -> anyhow::Result<Vec<Media>> {
    let columns = ["id", "content_type", "content"];
    let mut room = MOST_OF_MEDIAS;
    db.read_small("media", &columns, MOST_OF_A_MEDIA, |row| {
        let id = row.text(0)?;
        let content = match shown.contains(&id) {
            true => row.optional_bytes(2)?.filter(|content| content.len() <= room),
            false => None,
        };
        room -= content.as_ref().map_or(0, Vec::len);
        Ok(Media {
            id,
            content_type: row.text(1)?,
            content,
        })
    })
}

fn shares(db: &Reader<'_>, table: &'static str, with: &'static str) -> anyhow::Result<Vec<Share>> {
    db.read(table, &["board_id", with, "permission"], |row| {
        Ok(Share {
            board: row.text(0)?,
            with: row.text(1)?,
            permission: row.text(2)?,
        })
    })
}

fn search_engines(db: &Reader<'_>) -> anyhow::Result<Vec<SearchEngine>> {
    let columns = [
        "id",
        "name",
        "short",
        "url_template",
        "icon_url",
        "description",
        "type",
    ];
    db.read("search_engine", &columns, |row| {
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
