//! Many records at once, written past the API: SQLite by statements of one transaction, PostgreSQL by COPY.

use std::{
    io::{BufWriter, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use portico_tests::postgresql::Postgresql;
use rusqlite::Connection;

use crate::data;

/// How many users are members of how many groups: 100,000 memberships.
const GROUPS: usize = 100;
const MEMBERSHIPS: usize = 100_000;
/// How many boards there are, with how many apps each.
const BOARDS: usize = 10_000;
const APPS_OF_A_BOARD: usize = 10;

/// A database that a Portico of this version has created.
pub enum Database<'a> {
    Sqlite(PathBuf),
    Postgresql {
        server: &'a Postgresql,
        name: String,
        url: String,
    },
}

impl Database<'_> {
    pub fn driver(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgresql { .. } => "PostgreSQL",
        }
    }
}

/// The id of an app by its number.
pub fn app_id(number: usize) -> String {
    format!("app-{number:020}")
}

/// The id of a user by its number.
pub fn user_id(number: usize) -> String {
    format!("user-{number:019}")
}

/// Adds this many apps and users, and the memberships and boards.
pub fn fill(database: &Database<'_>, size: usize) -> anyhow::Result<()> {
    let target = Target::open(database)?;
    let hash = target.password_hash()?;
    target.table(
        "app",
        &["id", "name", "name_key", "description", "icon_url", "href"],
        (0..size).map(|number| {
            let stored = data::app(app_id(number), number, size);
            let (app, name_key) = (stored.app, stored.name_key);
            let (description, href) = (app.description.unwrap_or_default(), app.href.unwrap_or_default());
            vec![app.id, app.name, name_key, description, app.icon_url, href]
        }),
    )?;
    target.table(
        "user_account",
        &[
            "id",
            "provider",
            "name",
            "name_key",
            "password_hash",
            "color_scheme",
            "first_day_of_week",
            "ping_icons_enabled",
            "open_search_in_new_tab",
            "disabled",
        ],
        (0..size).map(|number| {
            let name = data::name(number, size, "member");
            let provider = if number % 100 == 7 { "oidc" } else { "credentials" };
            let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
            let key = data::name_key(&name);
            let (hash, color_scheme) = (hash.clone(), "dark".into());
            let disabled = flag(number % 1_000 == 9);
            let (day, off) = ("1".into(), flag(false));
            vec![
                user_id(number),
                provider.into(),
                name,
                key,
                hash,
                color_scheme,
                day,
                off.clone(),
                off,
                disabled,
            ]
        }),
    )?;
    let group_id = |number: usize| format!("group-{number:03}");
    target.table(
        "user_group",
        &["id", "name", "name_key"],
        (0..GROUPS).map(|number| vec![group_id(number), group_id(number), group_id(number)]),
    )?;
    let members = size.min(MEMBERSHIPS);
    let groups = MEMBERSHIPS.div_ceil(members).min(GROUPS);
    target.table(
        "group_member",
        &["user_id", "group_id"],
        (0..members * groups).map(|number| {
            let (user, nth) = (number % members, number / members);
            vec![user_id(user), group_id((user + nth) % GROUPS)]
        }),
    )?;
    let board_id = |number: usize| format!("board-{number:05}");
    target.table(
        "board",
        &["id", "name", "name_key", "is_public"],
        (0..BOARDS).map(|number| {
            let id = board_id(number);
            vec![
                id.clone(),
                id.clone(),
                id,
                (if number == 0 { "1" } else { "0" }).into(),
            ]
        }),
    )?;
    target.table(
        "board_item",
        &["board_id", "position", "app_id"],
        (0..BOARDS * APPS_OF_A_BOARD).map(|number| {
            let (board, position) = (number / APPS_OF_A_BOARD, number % APPS_OF_A_BOARD);
            vec![board_id(board), position.to_string(), app_id(number % size)]
        }),
    )?;
    target.table(
        "board_group",
        &["board_id", "group_id"],
        (0..BOARDS).map(|number| vec![board_id(number), group_id(number % GROUPS)]),
    )?;
    target.close()
}

/// Where rows go.
enum Target<'a> {
    Sqlite(Connection),
    Postgresql { server: &'a Postgresql, name: &'a str },
}

impl<'a> Target<'a> {
    fn open(database: &'a Database<'_>) -> anyhow::Result<Self> {
        Ok(match database {
            Database::Sqlite(file) => {
                let connection = Connection::open(file)?;
                connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -2097152; BEGIN")?;
                Self::Sqlite(connection)
            }
            Database::Postgresql { server, name, .. } => {
                // Made anew at the next start: quicker than with each row.
                server.run(
                    name,
                    "DROP INDEX IF EXISTS app_by_trigram, user_account_by_trigram",
                );
                Self::Postgresql { server, name }
            }
        })
    }

    /// That of the first user.
    fn password_hash(&self) -> anyhow::Result<String> {
        let sql = "SELECT password_hash FROM user_account";
        Ok(match self {
            Self::Sqlite(connection) => connection.query_row(sql, [], |row| row.get(0))?,
            Self::Postgresql { server, name } => server.run(name, sql),
        })
    }

    /// Adds rows of texts, none of which has a tab or a backslash.
    fn table(
        &self,
        table: &str,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) -> anyhow::Result<()> {
        eprintln!("  {table}");
        match self {
            Self::Sqlite(connection) => {
                let places = vec!["?"; columns.len()].join(", ");
                let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", columns.join(", "));
                let mut insert = connection.prepare(&sql)?;
                for row in rows {
                    insert.execute(rusqlite::params_from_iter(row))?;
                }
                Ok(())
            }
            Self::Postgresql { server, name } => {
                let sql = format!("COPY {table} ({}) FROM STDIN", columns.join(", "));
                let mut psql = Command::new("psql");
                psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"]);
                server.reached_by(&mut psql);
                psql.args(["--dbname", name, "--command", &sql]);
                let mut psql = psql.stdin(Stdio::piped()).spawn().context("cannot start psql")?;
                let mut input = BufWriter::new(psql.stdin.take().context("a pipe")?);
                for row in rows {
                    writeln!(input, "{}", row.join("\t"))?;
                }
                input.flush()?;
                drop(input);
                ensure!(psql.wait()?.success(), "the rows of {table} were refused");
                Ok(())
            }
        }
    }

    fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
                connection.close().map_err(|(_, error)| error)?;
            }
            Self::Postgresql { server, name } => drop(server.run(name, "VACUUM ANALYZE")),
        }
        Ok(())
    }
}
