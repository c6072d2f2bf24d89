//! What to copy: the tables that all databases have, with the same names, and their columns.
//!
//! Invariants:
//! - A table comes after those that it refers to, except where a column is written later.
//! - Every table and column of a driver is listed here, or its driver names it as derived. A test of each driver
//!   compares this list with its schema.

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, those of the key first.
    pub columns: &'static [&'static str],
    /// How many columns the key has. Its values identify rows, define their order, and are not secret.
    pub key: usize,
    /// A column that refers to a later table. It is filled once that table is written. The key of such a table has one
    /// column.
    pub later: Option<&'static str>,
}

impl Table {
    /// The columns of the key.
    pub fn key_columns(&self) -> &'static [&'static str] {
        &self.columns[..self.key]
    }

    /// The index of the column that is filled later.
    pub fn later_index(&self) -> Option<usize> {
        let later = self.later?;
        self.columns.iter().position(|column| *column == later)
    }
}

const fn table(name: &'static str, key: usize, columns: &'static [&'static str]) -> Table {
    Table {
        name,
        columns,
        key,
        later: None,
    }
}

/// Everything that is copied, in the order in which it is written.
pub static TABLES: [Table; 29] = [
    table(
        "app",
        1,
        &[
            "id",
            "name",
            "name_key",
            "description",
            "icon_url",
            "href",
            "ping_url",
        ],
    ),
    table("app_gate", 1, &["app_id", "addresses", "is_open"]),
    table(
        "search_engine",
        1,
        &[
            "id",
            "name",
            "name_key",
            "short",
            "short_key",
            "url_template",
            "icon_url",
            "description",
        ],
    ),
    table("user_group", 1, &["id", "name", "name_key"]),
    table("group_permission", 2, &["group_id", "permission"]),
    // A board refers to the user who created it, and a user to boards.
    Table {
        later: Some("creator_id"),
        ..table(
            "board",
            1,
            &["id", "name", "name_key", "slug", "is_public", "creator_id"],
        )
    },
    table(
        "user_account",
        1,
        &[
            "id",
            "provider",
            "name",
            "name_key",
            "email",
            "email_verified",
            "password_hash",
            "password_version",
            "color_scheme",
            "home_board_id",
            "mobile_home_board_id",
            "first_day_of_week",
            "ping_icons_enabled",
            "default_search_engine_id",
            "open_search_in_new_tab",
            "disabled",
            "image",
        ],
    ),
    table(
        "home_board",
        1,
        &["id", "group_id", "home_board_id", "mobile_home_board_id"],
    ),
    table("identity", 2, &["provider", "subject_hash", "subject", "user_id"]),
    table("group_member", 2, &["user_id", "group_id"]),
    table(
        "api_key",
        1,
        &[
            "id",
            "secret_hash",
            "user_id",
            "name",
            "created_at",
            "expires_at",
            "last_used_at",
            "imported_hash",
            "permissions",
            "read_only",
        ],
    ),
    table(
        "session",
        1,
        &[
            "id",
            "token_hash",
            "user_id",
            "created_at",
            "expires_at",
            "last_used_at",
            "ends_at",
            "browser",
            "address",
        ],
    ),
    table("gate_pass", 1, &["session_id", "token_hash", "session_hash"]),
    table(
        "invite",
        1,
        &["id", "token_hash", "expires_at", "creator_id", "note"],
    ),
    table("invite_group", 2, &["invite_id", "group_id"]),
    table(
        "password_link",
        1,
        &[
            "user_id",
            "token_hash",
            "password_version",
            "expires_at",
            "creator_id",
        ],
    ),
    table(
        "second_factor",
        1,
        &[
            "id",
            "user_id",
            "kind",
            "name",
            "handle",
            "data",
            "created_at",
            "last_used_at",
            "counter",
        ],
    ),
    table("recovery_code", 2, &["user_id", "number", "code_hash"]),
    table("board_section", 2, &["board_id", "position", "name", "collapsed"]),
    table(
        "board_item",
        2,
        &[
            "board_id", "position", "section", "size", "kind", "content", "app_id",
        ],
    ),
    table(
        "board_item_app",
        3,
        &["board_id", "item_position", "position", "app_id"],
    ),
    table("board_user", 2, &["board_id", "user_id", "may_change"]),
    table("board_group", 2, &["board_id", "group_id", "may_change"]),
    table("user_extras", 1, &["user_id", "extras"]),
    table("board_extras", 1, &["board_id", "extras"]),
    table("board_picture", 2, &["board_id", "picture_id"]),
    table(
        "picture",
        1,
        &["id", "content_type", "uploader_id", "uploaded_at", "content"],
    ),
    table(
        "site",
        1,
        &[
            "id",
            "name",
            "logo_id",
            "accent_color",
            "wallpaper_id",
            "density",
            "tile_columns",
            "wide_screens",
            "app_visibility",
            "start_board_id",
            "ping_allow",
        ],
    ),
    table(
        "audit",
        1,
        &[
            "number",
            "time",
            "actor_id",
            "authentication",
            "credential_id",
            "address",
            "request_id",
            "procedure",
            "provider",
            "target",
            "created",
            "outcome",
            "times",
            "groups",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_is_filled_later_is_one_of_its_table_and_no_key() {
        for table in &TABLES {
            assert!((1..=table.columns.len()).contains(&table.key), "{}", table.name);
            if let Some(later) = table.later {
                assert!(table.later_index() >= Some(table.key), "{later}");
                assert_eq!(table.key, 1, "{}", table.name);
            }
        }
    }
}
