//! What a database of Homarr has that the import does not read.
//!
//! Invariant: every column of every table is read, or is in [`NOT_READ`], or is reported as newer than known. A test over
//! the newest schema fails if one is newer than known.

use portico_sqlite::foreign;
use rusqlite::Connection;

use crate::report::{counted, shown};
use crate::rows::{Reader, count};

/// The most tables of a database. Homarr's have about forty.
const MOST_TABLES: usize = 500;
/// How many things that are newer than known are named; of the others, the number is.
const MOST_NAMED: usize = 100;

/// Why something is not read.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// Portico has no place for it. The report calls its rows this.
    LeftOut(&'static str),
    /// It is worth nothing elsewhere.
    Worthless,
    /// The report names it with the records that it belongs to.
    NamedElsewhere,
}

use Why::{LeftOut, NamedElsewhere, Worthless};

/// Tables, and columns of tables, that are not read. No columns: the whole table.
const NOT_READ: &[(&str, &[&str], Why)] = &[
    ("integration", &[], LeftOut("integrations")),
    ("integrationSecret", &[], LeftOut("secrets of integrations")),
    (
        "integrationUserPermission",
        &[],
        LeftOut("permissions of users on integrations"),
    ),
    (
        "integrationGroupPermissions",
        &[],
        LeftOut("permissions of groups on integrations"),
    ),
    ("custom_widget_definition", &[], LeftOut("custom widgets")),
    ("custom_widget_secret", &[], LeftOut("secrets of custom widgets")),
    (
        "custom_widget_v2_definition",
        &[],
        LeftOut("custom widgets of Homarr 2"),
    ),
    (
        "custom_widget_v2_secret",
        &[],
        LeftOut("secrets of custom widgets of Homarr 2"),
    ),
    (
        "custom_widget_content",
        &[],
        LeftOut("contents of custom widgets"),
    ),
    (
        "custom_widget_activity",
        &[],
        LeftOut("activities of custom widgets"),
    ),
    (
        "custom_widget_artifact",
        &[],
        LeftOut("built versions of custom widgets"),
    ),
    (
        "custom_widget_connection",
        &[],
        LeftOut("connections of custom widgets and their secrets"),
    ),
    (
        "custom_widget_guest_grant",
        &[],
        LeftOut("what guests may do with custom widgets"),
    ),
    (
        "custom_widget_installation",
        &[],
        LeftOut("installed custom widgets"),
    ),
    (
        "custom_widget_storage",
        &[],
        LeftOut("what custom widgets have stored"),
    ),
    ("widget_secret", &[], LeftOut("secrets of widgets")),
    ("section_collapse_state", &[], LeftOut("collapsed sections")),
    (
        "trusted_certificate_hostname",
        &[],
        LeftOut("trusted certificates"),
    ),
    ("cron_job_configuration", &[], LeftOut("settings of jobs")),
    ("session", &[], LeftOut("sessions (everyone signs in again)")),
    (
        "assistant_configuration",
        &[],
        LeftOut("settings of the assistant and its keys"),
    ),
    (
        "assistant_thread",
        &[],
        LeftOut("conversations with the assistant"),
    ),
    (
        "assistant_message",
        &[],
        LeftOut("messages of conversations with the assistant"),
    ),
    // Downloaded again.
    ("icon", &[], Worthless),
    ("iconRepository", &[], Worthless),
    // They count only while Homarr runs.
    ("onboarding", &[], Worthless),
    ("verificationToken", &[], Worthless),
    ("__drizzle_migrations", &[], NamedElsewhere),
    // The next sign-in at the issuer gets new ones.
    (
        "account",
        &[
            "type",
            "refresh_token",
            "access_token",
            "expires_at",
            "token_type",
            "scope",
            "id_token",
            "session_state",
        ],
        Worthless,
    ),
    // A hash of bcrypt has its salt in it.
    ("user", &["salt"], Worthless),
    ("apiKey", &["salt"], Worthless),
    // What a file is called, and who uploaded it when: what shows a file is named if it does not come along.
    ("media", &["name", "size", "created_at", "creator_id"], Worthless),
    ("integration_item", &["integration_id"], NamedElsewhere),
    ("search_engine", &["integration_id"], NamedElsewhere),
];

/// What was not read.
#[derive(Debug, Default)]
pub struct Unread {
    /// How many rows the tables have that have no place in Portico, and what they are.
    pub left_out: Vec<(&'static str, usize)>,
    /// Tables with rows, and columns of such tables, that this portico does not know.
    pub newer: Vec<String>,
}

impl Unread {
    /// Walks every table and column of the database, after everything that is read was read.
    pub fn of(reader: &Reader<'_>) -> anyhow::Result<Self> {
        let mut unread = Self::default();
        let names = tables(reader.connection)?;
        for name in &names {
            unread.look_at(reader, name)?;
        }
        let more = unread.newer.len().saturating_sub(MOST_NAMED);
        unread.newer.truncate(MOST_NAMED);
        if more > 0 {
            unread.newer.push(format!("{more} more tables and columns"));
        }
        let order = |words: &str| {
            NOT_READ
                .iter()
                .position(|(.., why)| matches!(why, LeftOut(known) if *known == words))
        };
        unread.left_out.sort_by_key(|(words, _)| order(words));
        Ok(unread)
    }

    fn look_at(&mut self, reader: &Reader<'_>, table: &str) -> anyhow::Result<()> {
        match why(table, None) {
            Some(LeftOut(words)) => {
                let rows = match foreign::check_table(reader.connection, table)? {
                    Some(_) => count(reader.connection, table)?,
                    None => 0,
                };
                if rows > 0 {
                    self.left_out.push((words, rows));
                }
                return Ok(());
            }
            Some(Worthless | NamedElsewhere) => return Ok(()),
            None => {}
        }
        let Some(columns) = foreign::check_table(reader.connection, table)? else {
            let text = format!(
                "the table {:?}, whose rows are computed or elsewhere",
                shown(table)
            );
            self.newer.push(text);
            return Ok(());
        };
        let rows = count(reader.connection, table)?;
        if rows == 0 {
            return Ok(());
        }
        if !columns.iter().any(|column| reader.has_read(table, column)) {
            let text = format!("{} of the table {:?}", counted(rows, "row"), shown(table));
            self.newer.push(text);
            return Ok(());
        }
        let unknown = columns
            .iter()
            .filter(|column| !reader.has_read(table, column) && why(table, Some(column)).is_none());
        let texts = unknown.map(|column| format!("the column {:?} of {table}", shown(column)));
        self.newer.extend(texts);
        Ok(())
    }
}

/// Why this column, or this whole table, is not read.
fn why(table: &str, column: Option<&str>) -> Option<Why> {
    let mut all = NOT_READ.iter();
    let (.., why) = all.find(|(name, columns, _)| {
        *name == table
            && match column {
                Some(column) => columns.contains(&column),
                None => columns.is_empty(),
            }
    })?;
    Some(*why)
}

/// The names of all tables, except SQLite's own.
fn tables(connection: &Connection) -> anyhow::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY name LIMIT ?1";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([MOST_TABLES as i64 + 1], |row| row.get(0))?;
    let names: Vec<String> = names.collect::<rusqlite::Result<_>>()?;
    anyhow::ensure!(
        names.len() <= MOST_TABLES,
        "it has more than {MOST_TABLES} tables, which no database of Homarr has"
    );
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_is_not_read_is_listed_once() {
        let mut seen = std::collections::HashSet::new();
        for (table, columns, why) in NOT_READ {
            let columns = if columns.is_empty() { &[""][..] } else { columns };
            for column in columns {
                assert!(seen.insert((table, column)), "{table}.{column}");
            }
            if let LeftOut(words) = why {
                assert!(!words.is_empty(), "{table}");
            }
        }
    }
}
