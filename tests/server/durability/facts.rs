//! The content of a database as facts: so small that a change is half there exactly if only some of its
//! facts hold.
//!
//! A fact is a key and a value, such as `member editors-3-17 u-3-20` or `app 3-18` with its name.
//! Records go by handles, names that the tests gave them and never change: of most their name, of a
//! user the email, of an app the description, of an invite the date. So what a change will look
//! like is known before the service has given the record an id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portico_sandbox::Sandbox;
use portico_service::identity::Identity;
use portico_storage::copying::{RowWriter, copy};
use portico_storage::memory::MemoryStorage;
use portico_tests::databases::Database;
use portico_tests::{Portico, TestSandbox};
use rusqlite::{Connection, OpenFlags};

/// Facts by their keys.
pub type Facts = BTreeMap<String, String>;

/// Each row: the fact's key, its value, and the id of the record, if it is one.
const FACTS: [&str; 11] = [
    "SELECT 'app ' || description, name || ' ' || coalesce(href, ''), id FROM app",
    "SELECT 'user ' || email, name || ' ' || first_day_of_week, id FROM user_account",
    "SELECT 'group ' || name,
        (SELECT group_concat(permission, ' ' ORDER BY permission) FROM group_permission WHERE group_id = id),
        id FROM user_group",
    "SELECT 'member ' || g.name || ' ' || u.email, '', '' FROM group_member
        LEFT JOIN user_group AS g ON g.id = group_id LEFT JOIN user_account AS u ON u.id = user_id",
    "SELECT 'key ' || k.name, u.email, k.id FROM api_key AS k LEFT JOIN user_account AS u ON u.id = user_id",
    "SELECT 'invite ' || strftime('%Y-%m-%dT%H:%M:%S', expires_at / 1000, 'unixepoch')
            || printf('.%03dZ', expires_at % 1000),
        u.email, i.id FROM invite AS i LEFT JOIN user_account AS u ON u.id = creator_id",
    "SELECT 'board ' || b.name, is_public || ' ' || coalesce(u.email, ''), b.id FROM board AS b
        LEFT JOIN user_account AS u ON u.id = creator_id",
    "SELECT 'item ' || b.name || ' ' || position, coalesce(description, ''), '' FROM board_item
        LEFT JOIN board AS b ON b.id = board_id LEFT JOIN app ON app.id = app_id",
    "SELECT 'bookmark ' || b.name || ' ' || item_position || ' ' || position, description, '' FROM board_item_app
        LEFT JOIN board AS b ON b.id = board_id LEFT JOIN app ON app.id = app_id",
    "SELECT 'share ' || b.name || ' ' || u.email, '', '' FROM board_user
        LEFT JOIN board AS b ON b.id = board_id LEFT JOIN user_account AS u ON u.id = user_id",
    "SELECT 'share ' || b.name || ' ' || g.name, '', '' FROM board_group
        LEFT JOIN board AS b ON b.id = board_id LEFT JOIN user_group AS g ON g.id = group_id",
];

/// What must never be there, and how it is found.
const NEVER: [(&str, &str); 10] = [
    (
        "no administrator",
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM user_account JOIN group_member ON user_id = user_account.id
            JOIN group_permission USING (group_id) WHERE permission = 'admin')",
    ),
    (
        "a membership of a missing user or group",
        "SELECT 1 FROM group_member WHERE user_id NOT IN (SELECT id FROM user_account)
            OR group_id NOT IN (SELECT id FROM user_group)",
    ),
    (
        "a permission of a missing group",
        "SELECT 1 FROM group_permission WHERE group_id NOT IN (SELECT id FROM user_group)",
    ),
    (
        "a key of a missing user",
        "SELECT 1 FROM api_key WHERE user_id NOT IN (SELECT id FROM user_account)",
    ),
    (
        "a session of a missing user",
        "SELECT 1 FROM session WHERE user_id NOT IN (SELECT id FROM user_account)",
    ),
    (
        "an invite of a missing user",
        "SELECT 1 FROM invite WHERE creator_id NOT IN (SELECT id FROM user_account)",
    ),
    (
        "a board of a missing user",
        "SELECT 1 FROM board WHERE creator_id NOT IN (SELECT id FROM user_account)",
    ),
    (
        "an item of a missing board or app",
        "SELECT 1 FROM board_item WHERE board_id NOT IN (SELECT id FROM board)
            OR app_id NOT IN (SELECT id FROM app)",
    ),
    (
        "a bookmark of a missing item or app",
        "SELECT 1 FROM board_item_app AS b WHERE app_id NOT IN (SELECT id FROM app) OR NOT EXISTS
            (SELECT 1 FROM board_item AS i WHERE i.board_id = b.board_id AND i.position = item_position)",
    ),
    (
        "a share of a missing board, user or group",
        "SELECT 1 FROM board_user WHERE board_id NOT IN (SELECT id FROM board)
            OR user_id NOT IN (SELECT id FROM user_account)
         UNION ALL SELECT 1 FROM board_group WHERE board_id NOT IN (SELECT id FROM board)
            OR group_id NOT IN (SELECT id FROM user_group)",
    ),
];

/// A look into the database of a service.
pub struct Observer {
    place: DatabaseLocation,
    sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
}

/// Where the database is.
enum DatabaseLocation {
    File(PathBuf),
    Url(String),
}

impl Observer {
    /// Of the database that a service works on.
    pub fn of(database: &Database, server: &Portico) -> Self {
        let place = match database {
            Database::Sqlite => DatabaseLocation::File(server.data().join("portico.db")),
            Database::Postgresql { url, .. } => DatabaseLocation::Url(url.clone()),
        };
        Self {
            place,
            sandbox: TestSandbox::over(Arc::new(MemoryStorage::new())).build(),
            runtime: tokio::runtime::Runtime::new().expect("a runtime"),
        }
    }

    /// Every fact, and the ids of records by their facts' keys. Checks on the way that the
    /// database is whole, and what must never be there is not.
    pub fn look(&self) -> (Facts, BTreeMap<String, String>) {
        match &self.place {
            DatabaseLocation::File(file) => self.look_into(file),
            DatabaseLocation::Url(url) => {
                let folder = tempfile::tempdir().expect("a folder");
                let file = folder.path().join("portico.db");
                self.runtime.block_on(copy_to(url, &file));
                self.look_into(&file)
            }
        }
    }

    fn look_into(&self, file: &Path) -> (Facts, BTreeMap<String, String>) {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let db = Connection::open_with_flags(file, flags).expect("the database");
        assert_eq!(texts(&db, "PRAGMA integrity_check"), ["ok"]);
        let broken = texts(
            &db,
            "SELECT \"table\" || ' -> ' || parent FROM pragma_foreign_key_check",
        );
        assert!(broken.is_empty(), "references to nothing: {broken:?}");
        for (what, sql) in NEVER {
            assert!(texts(&db, sql).is_empty(), "{what}");
        }
        self.check_name_keys(&db);

        let (mut facts, mut ids) = (Facts::new(), BTreeMap::new());
        for sql in FACTS {
            let mut statement = db.prepare(sql).expect("the schema");
            let mut rows = statement.query([]).expect("a query");
            while let Some(row) = rows.next().expect("a row") {
                let text = |column| row.get::<_, Option<String>>(column).expect("a text");
                let key = text(0).unwrap_or_else(|| panic!("no step made this: {sql}"));
                let id = text(2).unwrap_or_default();
                let twice = facts.insert(key.clone(), text(1).unwrap_or_default());
                assert_eq!(twice, None, "{key} is there twice");
                if !id.is_empty() {
                    ids.insert(key, id);
                }
            }
        }
        (facts, ids)
    }

    /// The component's rule says what the name-key of each name is.
    fn check_name_keys(&self, db: &Connection) {
        let tables = ["app", "user_account", "user_group", "board", "search_engine"];
        let both =
            tables.map(|table| texts(db, &format!("SELECT name || char(10) || name_key FROM {table}")));
        let both = both
            .iter()
            .flatten()
            .map(|both| both.split_once('\n').expect("two lines"));
        let (names, kept): (Vec<_>, Vec<_>) =
            both.map(|(name, key)| (name.to_owned(), key.to_owned())).unzip();
        let context = Identity::operator().context("test");
        let right = self.runtime.block_on(self.sandbox.name_keys(context, &names));
        assert_eq!(kept, right.expect("the name-keys"), "the name-keys of {names:?}");
    }
}

/// Copies a database of PostgreSQL into a file: so the same statements look at both. Copying fails if a record
/// refers to one that is not there.
async fn copy_to(url: &str, file: &Path) {
    let mut from = portico_postgres::copying::DatabaseReader::open(url)
        .await
        .expect("the database");
    let mut to = Box::new(portico_sqlite::copying::DatabaseWriter::create(file).expect("a file"));
    copy(&mut from, &mut *to, &mut |_| {}).await.expect("a copy");
    to.commit().await.expect("a file");
}

fn texts(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(sql).expect("the schema");
    let rows = statement.query_map([], |row| {
        row.get_ref(0).map(|value| match value.as_str() {
            Ok(text) => text.to_owned(),
            Err(_) => format!("{value:?}"),
        })
    });
    rows.expect("a query").map(|row| row.expect("a row")).collect()
}
