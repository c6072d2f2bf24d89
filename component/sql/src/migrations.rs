//! Makes the tables, and brings them to the version that this component knows.
//!
//! `~schema_version` has the version. A released migration never changes: a later change is a new one at the end. One
//! component at a time migrates, under the writers' lock, in one transaction: all of the missing versions or none.

use portico_model::error::{Code, Error as Refusal};
use portico_sql::{Dialect, Lock};
use portico_storage::Error;

use crate::bindings::database::{self, Cell, Row, Transaction, Value};
use crate::bindings::types;
use crate::configuration;
use crate::database::refusal;
use crate::transaction::{Failure, answered, retrying};

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_key_limits.sql"),
];

/// The tables of the first version, without the prefix. Where one of them is there without a version, another program has
/// made it.
const TABLES: [&str; 9] = [
    "app",
    "user_account",
    "identity",
    "user_group",
    "group_permission",
    "group_member",
    "api_key",
    "session",
    "invite",
];

/// Runs statements of a transaction: the database of the dashboard, or one of a test.
trait Run {
    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, database::Error>;
    fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, database::Error>;
}

impl Run for Transaction {
    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, database::Error> {
        Transaction::query(self, sql, values)
    }

    fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, database::Error> {
        Transaction::execute(self, sql, values)
    }
}

/// Runs the missing migrations.
pub fn run() -> Result<(), types::Error> {
    answered(retrying(|| {
        let configuration = configuration::get().map_err(|refusal| Error::Unavailable(refusal.into()))?;
        let storage = |error| Failure::Storage(refusal(error, configuration.prefix));
        let opening = configuration.begin_writing(Lock::Alone);
        let transaction = database::begin(database::Access::Write, &opening).map_err(storage)?;
        let schema = Schema {
            dialect: configuration.dialect,
            prefix: configuration.prefix,
        };
        if schema.migrate(&transaction, MIGRATIONS)? {
            Transaction::commit(transaction).map_err(storage)?;
        }
        Ok(())
    }))
}

/// The tables with a prefix.
struct Schema<'a> {
    dialect: Dialect,
    prefix: &'a str,
}

impl Schema<'_> {
    /// Runs those of these migrations that the database lacks. Returns whether it lacked any.
    fn migrate(&self, transaction: &impl Run, migrations: &[&str]) -> Result<bool, Failure> {
        let prefix = self.prefix;
        let newest = migrations.len();
        let done = self.version(transaction)?;
        if done.is_some_and(|done| done > newest) {
            return Err(conflict(format!(
                "the tables {prefix}… have version {}, and this component knows versions up to {newest}: use the one that \
                 made them, or a later one",
                done.unwrap_or_default()
            )));
        }
        if done == Some(newest) {
            return Ok(false);
        }
        if done.is_none() {
            for table in TABLES {
                if self.has_table(transaction, table)? {
                    return Err(conflict(format!(
                        "there is a table {prefix}{table} that is not Portico's: choose another prefix"
                    )));
                }
            }
            self.execute(
                transaction,
                "CREATE TABLE ~schema_version (version [number] NOT NULL)[strict]",
            )?;
            self.execute(transaction, "INSERT INTO ~schema_version (version) VALUES (0)")?;
        }
        for migration in &migrations[done.unwrap_or_default()..] {
            for statement in statements(migration) {
                self.execute(transaction, &statement)?;
            }
        }
        self.execute(
            transaction,
            &format!("UPDATE ~schema_version SET version = {newest}"),
        )?;
        Ok(true)
    }

    /// The version of the tables; `None` if there are none.
    fn version(&self, transaction: &impl Run) -> Result<Option<usize>, Failure> {
        if !self.has_table(transaction, "schema_version")? {
            return Ok(None);
        }
        let rows = self.query(transaction, "SELECT version FROM ~schema_version", &[])?;
        let version = match rows.first().and_then(|row| row.first()) {
            Some(Cell::Number(version)) => usize::try_from(*version).ok(),
            Some(Cell::Text(digits)) => digits.parse().ok(),
            _ => None,
        };
        let prefix = self.prefix;
        let unread = || {
            conflict(format!(
                "the table {prefix}schema_version is not Portico's: choose another prefix"
            ))
        };
        version.map(Some).ok_or_else(unread)
    }

    fn has_table(&self, transaction: &impl Run, table: &str) -> Result<bool, Failure> {
        let sql = match self.dialect.is_sqlite() {
            true => "SELECT 1 FROM sqlite_master WHERE name = $1",
            // Where its schema is not in the search path, it is not in the way.
            false => "SELECT 1 WHERE to_regclass(CAST($1 AS text)) IS NOT NULL",
        };
        let name = Value::Text(Some(format!("{}{table}", self.prefix)));
        Ok(!self.query(transaction, sql, &[name])?.is_empty())
    }

    fn query(&self, transaction: &impl Run, sql: &str, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let rows = transaction.query(&self.dialect.render(sql, self.prefix, true), values);
        Ok(rows.map_err(|error| refusal(error, self.prefix))?)
    }

    fn execute(&self, transaction: &impl Run, sql: &str) -> Result<(), Failure> {
        let done = transaction.execute(&self.render(sql), &[]);
        Ok(done.map(drop).map_err(|error| refusal(error, self.prefix))?)
    }

    /// Writes a definition for this database.
    fn render(&self, sql: &str) -> String {
        let marks = match self.dialect.is_sqlite() {
            true => [
                ("[text]", "TEXT"),
                ("[number]", "INTEGER"),
                ("[truth]", "INTEGER"),
                ("[false]", "0"),
                ("[bytes]", "BLOB"),
                ("[strict]", " STRICT"),
            ],
            // By bytes, as name-keys and ids are compared.
            false => [
                ("[text]", "text COLLATE \"C\""),
                ("[number]", "bigint"),
                ("[truth]", "boolean"),
                ("[false]", "false"),
                ("[bytes]", "bytea"),
                ("[strict]", ""),
            ],
        };
        let mut rendered = sql.replace('~', self.prefix);
        for (mark, written) in marks {
            rendered = rendered.replace(mark, written);
        }
        rendered
    }
}

/// The statements of a migration, without comments.
fn statements(migration: &str) -> impl Iterator<Item = String> {
    let lines = migration.lines().filter(|line| !line.starts_with("--"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let statements: Vec<String> = text
        .split(";\n")
        .map(|statement| statement.trim().to_owned())
        .collect();
    statements.into_iter().filter(|statement| !statement.is_empty())
}

fn conflict(message: String) -> Failure {
    Refusal::new(Code::Conflict, message).into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::Connection;
    use rusqlite::types::Value as Stored;

    use super::*;

    const SCHEMA: Schema<'static> = Schema {
        dialect: Dialect::SqliteOfDashboard,
        prefix: "p_",
    };

    /// What could be the next version.
    const NEXT: &str = "
-- A comment; with a semicolon;
ALTER TABLE ~app ADD COLUMN colour [text];

CREATE TABLE ~tag (name [text] NOT NULL PRIMARY KEY)[strict];";

    impl Run for Connection {
        fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, database::Error> {
            let mut statement = self.prepare(sql).map_err(unavailable)?;
            let columns = statement.column_count();
            let values = values.iter().map(|value| match value {
                Value::Text(text) => text.clone(),
                other => unreachable!("{other:?}"),
            });
            let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
                (0..columns)
                    .map(|column| {
                        Ok(match row.get(column)? {
                            Stored::Integer(number) => Cell::Number(number),
                            Stored::Text(text) => Cell::Text(text),
                            other => unreachable!("{other:?}"),
                        })
                    })
                    .collect()
            });
            rows.map_err(unavailable)?
                .collect::<Result<_, _>>()
                .map_err(unavailable)
        }

        fn execute(&self, sql: &str, _: &[Value]) -> Result<u64, database::Error> {
            let changed = Connection::execute(self, sql, []);
            changed.map(|changed| changed as u64).map_err(unavailable)
        }
    }

    fn unavailable(error: rusqlite::Error) -> database::Error {
        database::Error::Unavailable(error.to_string())
    }

    /// As `run` does it, with these migrations.
    fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<bool, String> {
        let transaction = connection.transaction().unwrap();
        let migrated = SCHEMA.migrate(&*transaction, migrations);
        let migrated = migrated.map_err(|failure| match failure {
            Failure::Storage(error) => format!("{error:?}"),
            Failure::Refused(error) => error.message,
        })?;
        transaction.commit().unwrap();
        Ok(migrated)
    }

    fn names(connection: &Connection) -> BTreeSet<String> {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let mut statement = connection.prepare(sql).unwrap();
        statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    fn version(connection: &Connection) -> i64 {
        let sql = "SELECT version FROM p_schema_version";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    const APP: &str =
        "INSERT INTO p_app (id, name, name_key, icon_url) VALUES ('a', 'Jellyfin', 'jellyfin', '/i')";

    #[test]
    fn the_tables_are_made_once_with_the_prefix() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE app (id)").unwrap();
        assert_eq!(migrate(&mut connection, MIGRATIONS), Ok(true));
        let expected = TABLES.map(|table| format!("p_{table}"));
        let others = ["p_schema_version".to_owned(), "app".to_owned()];
        assert_eq!(names(&connection), expected.into_iter().chain(others).collect());
        assert_eq!(migrate(&mut connection, MIGRATIONS), Ok(false));
    }

    /// Our migrations, and another one.
    fn with(next: &str) -> Vec<&str> {
        MIGRATIONS.iter().copied().chain([next]).collect()
    }

    #[test]
    fn a_key_of_the_first_version_may_do_what_its_user_may() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &MIGRATIONS[..1]).unwrap();
        let records = "
            INSERT INTO p_user_account (id, provider, name, name_key, color_scheme, first_day_of_week,
                ping_icons_enabled, open_search_in_new_tab) VALUES ('u', 'credentials', 'ada', 'ada', 'dark', 1, 0, 1);
            INSERT INTO p_api_key (id, secret_hash, user_id, created_at) VALUES ('k', x'07', 'u', 1)";
        connection.execute_batch(records).unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let kept = "SELECT count(*) FROM p_api_key WHERE id = 'k' AND permissions IS NULL AND read_only = 0";
        let kept: i64 = connection.query_row(kept, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 1);
    }

    #[test]
    fn the_next_version_keeps_every_record_and_is_refused_by_this_one() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        connection.execute_batch(APP).unwrap();
        assert_eq!(migrate(&mut connection, &with(NEXT)), Ok(true));
        assert_eq!(version(&connection), 3);
        let name = "SELECT name FROM p_app WHERE colour IS NULL";
        let name: String = connection.query_row(name, [], |row| row.get(0)).unwrap();
        assert_eq!(name, "Jellyfin");
        assert!(names(&connection).contains("p_tag"));
        let refusal = migrate(&mut connection, MIGRATIONS).unwrap_err();
        assert!(
            refusal.contains("have version 3") && refusal.contains("up to 2"),
            "{refusal}"
        );
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        connection.execute_batch(APP).unwrap();
        let next = format!("{NEXT}\nDELETE FROM ~app;\nCREATE TABLE ~app (id [text])");
        migrate(&mut connection, &with(&next)).unwrap_err();
        assert_eq!(version(&connection), 2);
        assert!(!names(&connection).contains("p_tag"));
        let count: i64 = connection
            .query_row("SELECT count(*) FROM p_app", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn tables_of_another_program_are_left_alone() {
        for table in [
            "p_session (id)",
            "p_schema_version (number)",
            "p_schema_version (version)",
        ] {
            let mut connection = Connection::open_in_memory().unwrap();
            connection
                .execute_batch(&format!("CREATE TABLE {table}"))
                .unwrap();
            let before = names(&connection);
            migrate(&mut connection, MIGRATIONS).unwrap_err();
            assert_eq!(names(&connection), before);
        }
    }
}
