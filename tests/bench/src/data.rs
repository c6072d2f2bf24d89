//! Records written past the API, as many as wanted: into SQLite in one transaction, into PostgreSQL by COPY.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use anyhow::{Context as _, ensure};
use portico_storage::secrets::{Secrets, SystemRandom};
use portico_tests::{Anonymous, administrator_of, postgresql::Postgresql};
use rusqlite::Connection;

use crate::server::{self, Server};

/// How many groups the users are in, and at most how many memberships there are.
const GROUPS: usize = 100;
const MEMBERSHIPS: usize = 100_000;
/// How many boards there are, with how many apps each.
const BOARDS: usize = 10_000;
const APPS_OF_A_BOARD: usize = 10;

/// Words in all names, in one of twelve, in exactly one, and in none.
pub const COMMON: &str = "unit";
pub const TWELFTH: &str = "gallery";
pub const ONCE: &str = "quetzal";
pub const NEVER: &str = "xylophone";

/// A database that Portico has created, with a first user.
pub struct Database<'a> {
    /// A data directory. With PostgreSQL it holds nothing that is measured.
    pub folder: PathBuf,
    /// The server and the name of the database; `None` for SQLite.
    postgresql: Option<(&'a Postgresql, String)>,
}

impl<'a> Database<'a> {
    /// Creates it by a start of Portico, and adds apps and users. All users have the password of the first user, and
    /// may create apps.
    pub fn create(
        portico: &Path,
        within: &Path,
        name: &str,
        server: Option<&'a Postgresql>,
        (apps, users): (usize, usize),
    ) -> anyhow::Result<Self> {
        if let Some(server) = server {
            server.create_database(name);
        }
        let this = Self {
            folder: within.join(name),
            postgresql: server.map(|server| (server, name.to_owned())),
        };
        let server = this.start(server::portico(portico, &this.folder, within))?;
        administrator_of(&Anonymous::at(&server.address.to_string()));
        drop(server);
        this.fill(apps, users)?;
        Ok(this)
    }

    /// Starts a server on it.
    pub fn start(&self, mut command: Command) -> anyhow::Result<Server> {
        if let Some((server, name)) = &self.postgresql {
            command.args(["--database", &server.url(name)]);
        }
        Server::start(command)
    }

    fn fill(&self, apps: usize, users: usize) -> anyhow::Result<()> {
        let target = Sink::open(self)?;
        let hash = target.password_hash()?;
        target.add(
            "app (id, name, name_key, icon_url, description, href)",
            apps,
            |number| {
                let (id, name, word) = (app_id(number), name(number, apps), second_word(number, apps));
                let (key, icon) = (
                    name.to_lowercase(),
                    format!("https://icons.example/svg/{word}.svg"),
                );
                format!("{id}\t{name}\t{key}\t{icon}\tApp {number} of {apps}\thttps://app-{number}.example/")
            },
        )?;
        let columns = "user_account (id, provider, name, name_key, password_hash, color_scheme, \
            first_day_of_week, ping_icons_enabled, open_search_in_new_tab, disabled)";
        target.add(columns, users, |number| {
            let (id, name) = (user_id(number), name(number, users));
            let (key, disabled) = (name.to_lowercase(), u8::from(number % 1_500 == 1_400));
            let provider = if number % 100 == 7 { "oidc" } else { "credentials" };
            format!("{id}\t{provider}\t{name}\t{key}\t{hash}\tdark\t1\t0\t0\t{disabled}")
        })?;
        target.add("user_group (id, name, name_key)", GROUPS, |number| {
            format!("{0}\t{0}\t{0}", group_id(number))
        })?;
        target.add("group_permission (group_id, permission)", GROUPS, |number| {
            group_id(number) + "\tapp-create"
        })?;
        let members = users.min(MEMBERSHIPS);
        target.add("group_member (user_id, group_id)", members, |number| {
            format!("{}\t{}", user_id(number), group_id(number % GROUPS))
        })?;
        target.close()
    }

    /// Adds a key for each of these users, and returns the keys.
    pub fn add_keys(&self, users: usize) -> anyhow::Result<Vec<String>> {
        let secrets = Secrets::new(Arc::new(SystemRandom));
        let keys: Vec<_> = (0..users).map(|_| secrets.api_key()).collect();
        let target = Sink::open(self)?;
        target.add(
            "api_key (id, user_id, created_at, secret_hash)",
            users,
            |number| {
                let key = &keys[number];
                let hash: String = key.hash.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{}\t{}\t1\t{hash}", key.id, user_id(number))
            },
        )?;
        target.close()?;
        Ok(keys.into_iter().map(|key| key.text).collect())
    }

    /// Adds boards with ten of these apps each. Every second one is shared with the group of user 0.
    pub fn add_boards(&self, apps: usize) -> anyhow::Result<()> {
        let target = Sink::open(self)?;
        target.add("board (id, name, name_key, is_public)", BOARDS, |number| {
            format!("board-{number}\tboard-{number}\tboard-{number}\t0")
        })?;
        let items = BOARDS * APPS_OF_A_BOARD;
        target.add("board_item (board_id, position, app_id)", items, |number| {
            let (board, position) = (number / APPS_OF_A_BOARD, number % APPS_OF_A_BOARD);
            format!("board-{board}\t{position}\t{}", app_id(number % apps))
        })?;
        target.add("board_group (board_id, group_id)", BOARDS, |number| {
            format!("board-{number}\t{}", group_id(number % 2))
        })?;
        target.close()
    }

    /// Copies a data directory that is not in use.
    pub fn copy(&self, name: &str) -> anyhow::Result<Self> {
        let folder = self.folder.with_file_name(name);
        let mut copy = Command::new("cp");
        let status = copy.arg("-r").arg(&self.folder).arg(&folder).status()?;
        ensure!(status.success(), "the data could not be copied");
        Ok(Self {
            folder,
            postgresql: None,
        })
    }
}

pub fn app_id(number: usize) -> String {
    format!("app-{number:020}")
}

pub fn user_id(number: usize) -> String {
    format!("user-{number:019}")
}

fn group_id(number: usize) -> String {
    format!("group-{number:03}")
}

/// The name of app or user `number` of `count`, of about 25 characters. Names begin with scattered words, so that hits
/// are spread over all names.
pub fn name(number: usize, count: usize) -> String {
    const FIRST: [&str; 16] = [
        "Amber", "Breeze", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbor", "Iris", "Juniper", "Krill",
        "Lagoon", "Meadow", "Nimbus", "Orchid", "Pebble",
    ];
    let first = FIRST[scattered(number) % FIRST.len()];
    format!("{first} {} {COMMON} {number:07}", second_word(number, count))
}

/// The word by which a record can be found.
fn second_word(number: usize, count: usize) -> &'static str {
    const WORDS: [&str; 12] = [
        "archive", "backup", "calendar", "download", "editor", "feed", TWELFTH, "home", "index", "journal",
        "kitchen", "library",
    ];
    match number {
        number if number == count / 2 => ONCE,
        _ => WORDS[scattered(number) / 16 % WORDS.len()],
    }
}

/// An odd factor scatters the numbers.
fn scattered(number: usize) -> usize {
    number.wrapping_mul(2_654_435_761) >> 7
}

/// Where rows go.
enum Sink<'a> {
    Sqlite(Connection),
    Postgresql(&'a Postgresql, &'a str),
}

impl<'a> Sink<'a> {
    fn open(database: &'a Database<'_>) -> anyhow::Result<Self> {
        if let Some((server, name)) = &database.postgresql {
            return Ok(Self::Postgresql(server, name));
        }
        let connection = Connection::open(database.folder.join("portico.db"))?;
        connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576; BEGIN")?;
        Ok(Self::Sqlite(connection))
    }

    /// That of the first user.
    fn password_hash(&self) -> anyhow::Result<String> {
        let sql = "SELECT password_hash FROM user_account";
        Ok(match self {
            Self::Sqlite(connection) => connection.query_row(sql, [], |row| row.get(0))?,
            Self::Postgresql(server, name) => server.run(name, sql),
        })
    }

    /// Adds rows of texts with tabs between them. A `secret_hash` comes last, and is hexadecimal.
    fn add(&self, table: &str, count: usize, row: impl Fn(usize) -> String) -> anyhow::Result<()> {
        let (rows, is_secret) = ((0..count).map(row), table.ends_with("secret_hash)"));
        match self {
            Self::Sqlite(connection) => {
                let values = "?, ".repeat(table.matches(',').count());
                let last = if is_secret { "unhex(?)" } else { "?" };
                let mut insert =
                    connection.prepare(&format!("INSERT INTO {table} VALUES ({values}{last})"))?;
                for row in rows {
                    insert.execute(rusqlite::params_from_iter(row.split('\t')))?;
                }
            }
            Self::Postgresql(server, name) => {
                let mut psql = Command::new("psql");
                psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"]);
                server.reached_by(&mut psql).args(["--dbname", name, "--command"]);
                psql.arg(format!("COPY {table} FROM STDIN"));
                let mut psql = psql.stdin(Stdio::piped()).spawn().context("cannot start psql")?;
                let mut input = BufWriter::new(psql.stdin.take().context("a pipe")?);
                for row in rows {
                    match row.rsplit_once('\t') {
                        Some((rest, hash)) if is_secret => writeln!(input, "{rest}\t\\\\x{hash}")?,
                        _ => writeln!(input, "{row}")?,
                    }
                }
                input.into_inner()?;
                ensure!(psql.wait()?.success(), "the rows of {table} were refused");
            }
        }
        Ok(())
    }

    fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
                connection.close().map_err(|(_, error)| error)?;
            }
            Self::Postgresql(server, name) => drop(server.run(name, "VACUUM ANALYZE")),
        }
        Ok(())
    }
}
