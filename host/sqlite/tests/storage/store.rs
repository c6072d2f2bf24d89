//! A store to test, and records for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portico_model::{App, Provider};
use portico_postgres::PostgresStorage;
use portico_sqlite::SqliteStorage;
use portico_storage::memory::MemoryStorage;
use portico_storage::{
    Access, AppFilter, Authentication, Board, BoardItem, BoardSummary, DashboardStorage,
    DashboardTransaction, ProviderSubject, SearchEngine, Share, Shares, Transaction, Viewer,
};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::postgresql::Postgresql;
pub use crate::records_to_store::{
    context_of as context, new_user as user, session_until as session, stored_app as app,
};

/// Far more than any of these waits takes.
pub const SOON: Duration = Duration::from_secs(60);

pub struct Store {
    pub storage: Arc<dyn DashboardStorage>,
    directory: Option<TempDir>,
    /// The server of its database `home`.
    postgresql: Option<Postgresql>,
}

impl Store {
    pub fn memory() -> Self {
        Self {
            storage: Arc::new(MemoryStorage::new()),
            directory: None,
            postgresql: None,
        }
    }

    pub fn sqlite() -> Self {
        Self::sqlite_in(TempDir::new().unwrap())
    }

    /// A store on a new database.
    pub async fn postgresql() -> Self {
        let server = Postgresql::shared();
        let storage = PostgresStorage::open(&server.create_database("home")).await;
        Self {
            storage: Arc::new(storage.unwrap()),
            directory: None,
            postgresql: Some(server),
        }
    }

    /// A store on the file in this directory.
    pub fn sqlite_in(directory: TempDir) -> Self {
        let storage = SqliteStorage::open(&directory.path().join("portico.db")).unwrap();
        Self {
            storage: Arc::new(storage),
            directory: Some(directory),
            postgresql: None,
        }
    }

    /// Closes the store; its file stays.
    pub fn close(self) -> TempDir {
        drop(self.storage);
        self.directory.expect("a store in a file")
    }

    /// The same store, closed and opened again.
    pub fn reopened(self) -> Self {
        Self::sqlite_in(self.close())
    }

    pub fn path(&self) -> PathBuf {
        self.directory
            .as_ref()
            .expect("a store in a file")
            .path()
            .join("portico.db")
    }

    pub async fn read(&self) -> Box<dyn DashboardTransaction> {
        self.storage
            .begin_dashboard(Access::Read, &context(Authentication::None))
            .await
            .unwrap()
    }

    /// How many apps a new reader counts.
    pub async fn count_apps(&self) -> u32 {
        let mut reader = self.read().await;
        reader.count_apps(&AppFilter::EVERYTHING).await.unwrap()
    }

    /// An app as a new reader sees it.
    pub async fn get_app(&self, id: &str) -> Option<App> {
        let mut reader = self.read().await;
        reader.get_app(id, &Viewer::Everything).await.unwrap()
    }

    /// Asserts that another process could write now: no transaction was left open.
    pub fn assert_free(&self) {
        let other = rusqlite::Connection::open(self.path()).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        other
            .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
            .expect("the database is free");
    }

    /// Waits until another process could write.
    pub async fn wait_until_free(&self) {
        let other = rusqlite::Connection::open(self.path()).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        let free = async {
            while other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(SOON, free).await.expect("a transaction was left open");
    }

    pub async fn write(&self) -> Box<dyn DashboardTransaction> {
        self.write_as(Authentication::None).await
    }

    /// A write transaction as the component opens it: it takes the permit when it first reads.
    pub async fn write_as_component(&self) -> Box<dyn Transaction> {
        let context = context(Authentication::None);
        self.storage.begin(Access::Write, &context).await.unwrap()
    }

    pub async fn write_as(&self, authentication: Authentication) -> Box<dyn DashboardTransaction> {
        self.storage
            .begin_dashboard(Access::Write, &context(authentication))
            .await
            .unwrap()
    }

    /// Another store of the same driver, where callers see only the apps on boards that they may view.
    pub async fn another_by_board(&self) -> Self {
        if self.postgresql.is_some() {
            let server = Postgresql::shared();
            let storage = PostgresStorage::open(&server.create_database("home")).await;
            return Self {
                storage: Arc::new(storage.unwrap().with_apps_by_board(true)),
                directory: None,
                postgresql: Some(server),
            };
        }
        if self.directory.is_none() {
            return Self {
                storage: Arc::new(MemoryStorage::new().with_apps_by_board()),
                directory: None,
                postgresql: None,
            };
        }
        let directory = TempDir::new().unwrap();
        let storage = SqliteStorage::open(&directory.path().join("portico.db")).unwrap();
        Self {
            storage: Arc::new(storage.with_apps_by_board(true)),
            directory: Some(directory),
            postgresql: None,
        }
    }

    /// From now on the names of apps and users have their length, but reading one fails. (The driver in memory has
    /// nothing to read.)
    pub fn make_names_unreadable(&self) {
        for table in ["app", "user_account"] {
            if let Some(server) = &self.postgresql {
                let sql = format!(
                    "ALTER TABLE {table} ALTER COLUMN name TYPE bytea USING convert_to(name, 'UTF8')"
                );
                server.run("home", &sql);
            } else if self.directory.is_some() {
                let other = rusqlite::Connection::open(self.path()).unwrap();
                let sql = format!("UPDATE {table} SET name = CAST(x'ff' || name AS TEXT)");
                other.execute_batch(&sql).unwrap();
            }
        }
    }

    /// Asserts that no column of any table holds this text. (The driver in memory hides nothing that a
    /// cascade could leave behind.)
    pub fn assert_nowhere(&self, text: &str) {
        if let Some(server) = &self.postgresql {
            return assert_not_in(server, text);
        }
        if self.directory.is_none() {
            return;
        }
        let places = places(&self.path(), text);
        assert!(places.is_empty(), "{text} is still in {places:?}");
    }
}

/// The same for a database of PostgreSQL.
fn assert_not_in(server: &Postgresql, text: &str) {
    let columns = "
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type = 'text'";
    let columns = server.run("home", columns);
    let columns: Vec<_> = columns.lines().filter_map(|line| line.split_once('|')).collect();
    assert!(columns.len() > 30, "the schema has more columns than {columns:?}");
    let counts = columns.iter().map(|(table, column)| {
        format!("SELECT '{table}.{column}' WHERE EXISTS (SELECT 1 FROM {table} WHERE {column} = '{text}')")
    });
    let places = server.run("home", &counts.collect::<Vec<_>>().join(" UNION ALL "));
    assert!(places.is_empty(), "{text} is still in {places:?}");
}

/// The columns of a database that hold this text.
pub fn places(database: &std::path::Path, text: &str) -> Vec<String> {
    let database = rusqlite::Connection::open(database).unwrap();
    let sql = "
        SELECT name, (SELECT group_concat(name) FROM pragma_table_info(sqlite_schema.name))
        FROM sqlite_schema WHERE type = 'table'";
    let mut tables = database.prepare(sql).unwrap();
    let tables = tables
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let tables: Vec<(String, String)> = tables.map(Result::unwrap).collect();
    assert!(tables.len() > 10, "the schema has more tables than {tables:?}");
    let mut found = Vec::new();
    for (table, columns) in tables {
        for column in columns.split(',') {
            let sql = format!("SELECT count(*) FROM \"{table}\" WHERE \"{column}\" = ?1");
            let count: i64 = database.query_row(&sql, [text], |row| row.get(0)).unwrap();
            if count > 0 {
                found.push(format!("{table}.{column}"));
            }
        }
    }
    found
}

pub fn board(id: &str, creator_id: Option<&str>, items: Vec<BoardItem>) -> Board {
    let creator_id = creator_id.map(str::to_owned);
    let board = BoardSummary {
        id: id.into(),
        name: id.into(),
        slug: None,
        is_public: false,
        creator_id,
    };
    Board::of_items(board, items)
}

pub fn engine(id: &str, name: &str, short: &str) -> SearchEngine {
    SearchEngine {
        id: id.into(),
        name: name.into(),
        short: short.into(),
        url_template: "https://example.org/?q=%s".into(),
        icon_url: "icon".into(),
        description: Some("finds".into()),
    }
}

/// The filter that matches the apps whose name contains this text, in the view of all apps.
pub fn named(contains: &str) -> AppFilter {
    AppFilter {
        viewer: Viewer::Everything,
        name_contains: Some(contains.into()),
    }
}

pub fn subject(provider: Provider, subject: &str) -> ProviderSubject {
    ProviderSubject {
        provider,
        subject: subject.into(),
    }
}

/// Shares with those who may only view a board.
pub fn shares(users: &[&str], groups: &[&str]) -> Shares {
    let to_view = |ids: &[&str]| ids.iter().map(|id| Share::to_view(*id)).collect();
    Shares {
        users: to_view(users),
        groups: to_view(groups),
    }
}

pub fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// A transaction of its own that inserts an app.
pub async fn insert(storage: Arc<dyn DashboardStorage>, id: String) -> portico_storage::Result<()> {
    let mut writer = storage
        .begin_dashboard(Access::Write, &context(Authentication::None))
        .await?;
    writer.insert_apps(&[app(&id, &id)]).await?;
    writer.commit().await
}
